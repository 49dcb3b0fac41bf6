"""Children: nothing lost, nothing doubled, no lock left held (issue B; contracts 4: gunicorn --preload, Celery)."""

from __future__ import annotations

from pathlib import Path

import pytest

from .arrived import Arrived
from .programs import ran

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_children_of_a_process_that_has_sent_already(arrived: Arrived, protocol: str) -> None:
    """The connection that the parent keeps open is not shared, and what waits in it is sent once."""
    program = """
        import os
        from rag_probe import configure
        from tests.running.desk import ask
        telemetry = configure()
        ask("sent before")
        assert telemetry.flush(100)
        ask("waits")
        children = []
        for name in ("one", "two", "three"):
            child = os.fork()
            if child == 0:
                delivered = True
                for number in range(4):
                    ask(f"{name} {number}")
                    delivered &= telemetry.flush(100)
                os._exit(0 if delivered else 1)
            children.append(child)
        for number in range(4):
            ask(f"parent {number}")
            assert telemetry.flush(100)
        for child in children:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """
    ran(program, arrived.environment(protocol))
    names = ("parent", "one", "two", "three")
    arrived.assert_answered(["sent before", "waits", *(f"{name} {number}" for name in names for number in range(4))])


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_children_of_multiprocessing_send_at_their_end(arrived: Arrived, method: str, tmp_path: Path) -> None:
    """They leave by `os._exit`, without `atexit`; those that do not fork from the app set themselves up."""
    (tmp_path / "answering.py").write_text(
        "import rag_probe\n"
        "from tests.running.desk import ask\n"
        "def answer(question):\n"
        f"    if {method!r} != 'fork': rag_probe.configure()\n"
        "    return ask(question)\n"
    )
    program = f"""
        import multiprocessing, sys
        sys.path.insert(0, {str(tmp_path)!r})
        from concurrent.futures import ProcessPoolExecutor
        from rag_probe import configure
        from answering import answer
        if __name__ == "__main__":
            telemetry = configure()
            answer("here")
            telemetry.flush(100)
            context = multiprocessing.get_context({method!r})
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                list(pool.map(answer, ["one", "two", "three"]))
            answer("here again")
    """
    ran(program, arrived.environment())
    arrived.assert_answered(["here", "one", "two", "three", "here again"])


def test_a_fork_in_the_midst_of_a_question(arrived: Arrived) -> None:
    """The parent's question is the parent's alone, though the child runs on through it to the end of the program."""
    program = """
        import os
        from langchain_core.runnables import RunnableLambda
        from rag_probe import configure
        from rag_probe_langchain import runs
        from tests.rag_probe_langchain.apps import Search, passages
        from tests.running.desk import CONFIG, ask
        configure()

        def forking(found):
            child = os.fork()
            if child == 0:
                assert not runs.OPEN
                ask("in the child")
                assert not runs.OPEN
                return found
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            return found[1:]

        outer = Search(found=passages()) | RunnableLambda(forking)
        outer.with_config(run_name="outer").invoke("outer", CONFIG)
        ask("after")
        assert not runs.OPEN
    """
    ran(program, arrived.environment())
    assert arrived.questions() == ["after", "after", "in the child", "outer"]
    (outer,) = [path for path in arrived.paths() if path.question is not None and path.question.text == "outer"]
    assert outer.filtered is not None
    assert outer.filtered.dropped
    assert len({span.trace_id for span in arrived.spans() if not span.parent_span_id}) == 4


def test_no_lock_stays_held_in_a_child(arrived: Arrived) -> None:
    """Whatever other threads do at the moment of a fork: configure, flush, answer."""
    program = """
        import os, threading
        from rag_probe import configure
        from tests.running.desk import ask
        telemetry = configure()
        ask("thread")  # LangChain imports with its first question: a module being imported at a fork stays locked
        stop = threading.Event()

        def busy(work):
            while not stop.is_set():
                work()

        work = [configure, telemetry.flush, lambda: ask("thread")]
        threads = [threading.Thread(target=busy, args=[each]) for each in work]
        for each in threads:
            each.start()
        codes = []
        for number in range(20):
            child = os.fork()
            if child == 0:
                configure()
                ask(f"child {number}")
                os._exit(0 if telemetry.flush(100) else 1)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        stop.set()
        assert codes == [0] * 20, codes
    """
    ran(program, arrived.environment())
    asked = [question for question in arrived.questions() if question != "thread"]
    assert asked == sorted(f"child {number}" for number in range(20))


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_the_first_export_imports_nothing(arrived: Arrived, protocol: str) -> None:
    """A thread that exports for the first time while the app forks leaves no module locked in the child."""
    program = """
        import sys
        from rag_probe import configure
        from tests.running.desk import ask
        telemetry = configure()
        ask("first")
        before = {*sys.modules}
        assert telemetry.flush(100)
        assert {*sys.modules} == before, {*sys.modules} - before
    """
    ran(program, {**arrived.environment(protocol), "OTEL_METRICS_EXPORTER": "otlp"})
