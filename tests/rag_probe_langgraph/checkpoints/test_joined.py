"""Checkpoints with their traces: one path, every value with its origin (issue C, Join; contracts 6)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from rag_probe import case
from rag_probe.path import EvidencePath, Permission
from rag_probe.path_json import from_json
from rag_probe.policy import CapturePolicy
from rag_probe.protocols import Selection
from rag_probe.stages import Chunks
from rag_probe_collector.cli.main import main
from rag_probe_collector.sources.joined import JoinedSource
from rag_probe_collector.sources.traced import TracedPaths
from rag_probe_langchain import pauses
from rag_probe_langgraph import RagProbeGraphHandler
from tests.rag_probe_langchain.recorded import Recorder
from tests.rag_probe_langgraph.graphs import checked
from tests.scenarios.recording import paths_of

from . import test_turns
from .stores import Kept, read
from .test_same_everywhere import ASKED, desk


@dataclass
class Here:
    """A source of what is in hand."""

    found: list[EvidencePath]
    asked: list[Selection] = field(default_factory=list)

    def paths(self, selection: Selection) -> Iterator[EvidencePath]:
        self.asked.append(selection)
        return iter(self.found)


@dataclass
class Desk:
    """A file of checkpoints, and the spans of what ran on it."""

    saver: Any
    file: Path
    recorder: Recorder

    def run(self, app: Any, given: Any, thread: str = "t", **config: Any) -> None:
        app.invoke(given, {"configurable": {"thread_id": thread}, **self.recorder.config, **config})

    def stored(self) -> list[EvidencePath]:
        return read(Kept(self.saver, f"sqlite:///{self.file}"))

    def joined(self, **selection: Any) -> list[EvidencePath]:
        source = JoinedSource(Here(self.stored()), Here(paths_of(self.recorder.spans)))
        return list(source.paths(Selection(**selection)))


@pytest.fixture
def place(tmp_path) -> Iterator[Desk]:
    file = tmp_path / "checkpoints.db"
    recorder = Recorder(RagProbeGraphHandler, policy=CapturePolicy(content=True))
    with closing(sqlite3.connect(file, check_same_thread=False)) as connection:
        yield Desk(SqliteSaver(connection), file, recorder)


def test_content_is_the_checkpoints_and_time_and_tokens_are_the_traces(place):
    app = desk(place.saver)
    place.run(app, ASKED)
    place.run(app, Command(resume=True))
    (stored,), (traced,), (path,) = place.stored(), paths_of(place.recorder.spans), place.joined()
    for name in ("path_id", "question", "retrieved", "filtered", "context", "citations", "started_at", "source"):
        assert getattr(path, name) == getattr(stored, name), name
    for name in ("latency_ms", "stage_latency_ms", "generations", "answer_generation", "trace_id", "budget"):
        assert getattr(path, name) == getattr(traced, name), name
    assert path.answer.content == stored.answer.content
    assert [step.stage.answered for step in path.nodes] == [step.stage.answered for step in stored.nodes]
    took = {step.stage.task_id: step.latency_ms for step in traced.nodes}
    assert [step.latency_ms for step in path.nodes] == [took[step.stage.task_id] for step in path.nodes]
    origins = dict(path.joined)
    assert (origins["retrieved"], origins["answer"], origins["nodes"]) == ("checkpoint",) * 3
    assert (origins["latency_ms"], origins["generations"], origins["nodes.latency_ms"]) == ("trace",) * 3
    assert {"latency_ms", "nodes.latency_ms"}.isdisjoint(path.inferred)
    assert {"stage_latency_ms", "generations", "latency_ms"}.isdisjoint(path.not_captured)
    assert not [warning for warning in path.warnings if "differ" in warning]


def test_what_the_state_does_not_hold_comes_from_the_trace(place):
    place.run(checked(checkpointer=place.saver), ASKED)
    (stored,), (path,) = place.stored(), place.joined()
    assert stored.context is None
    assert path.context.ids == ("returns", "sale", "gift")
    assert dict(path.joined)["context"] == "trace"
    assert "context" not in path.not_captured
    assert set(path.citations.valid) == {True}


def test_a_case_block_around_the_app_is_known_from_its_trace(place):
    with case("c-1", experiment="e"):
        place.run(checked(checkpointer=place.saver), ASKED)
    (path,) = place.joined()
    assert (path.tags.case_id, path.tags.experiment, dict(path.joined)["tags"]) == ("c-1", "e", "trace")


def test_turns_and_threads_keep_to_their_own_traces(place):
    app = checked(checkpointer=place.saver)
    for thread, question in (("a", "One?"), ("b", "Two?"), ("a", "Three?")):
        place.run(app, {"question": question}, thread)
    traces = {path.question.text: path.trace_id for path in paths_of(place.recorder.spans)}
    assert [(path.question.text, path.trace_id) for path in place.joined()] == [*traces.items()]


def test_a_failure_and_its_recovery_are_both_counted(place):
    tries = iter([TimeoutError(), None])

    def draft(state: Any) -> Any:
        if (error := next(tries)) is not None:
            raise error
        return {"answer": "done"}

    app = test_turns.graph(place.saver, draft)
    with pytest.raises(TimeoutError):
        place.run(app, {"question": "q"})
    place.run(app, None)
    (traced,), (path,) = paths_of(place.recorder.spans), place.joined()
    assert len(path.trace_ids) == 2
    assert (path.trace_ids, path.latency_ms) == (traced.trace_ids, traced.latency_ms)
    assert (path.error, path.answer.content.text) == (None, "done")


def test_a_stop_before_a_node_and_what_another_process_made_of_it_are_one_question(place):
    """It leaves no mark on any task: both roots say the checkpoint."""
    app = test_turns.graph(place.saver, interrupt_before=["draft"])
    place.run(app, {"question": "q"})
    pauses.clear()
    place.run(app, None)
    (traced,), (path,) = paths_of(place.recorder.spans), place.joined()
    assert len(path.trace_ids) == 2
    assert (path.trace_ids, path.latency_ms) == (traced.trace_ids, traced.latency_ms)
    assert path.answer.content.text == "To q"


def test_runs_that_only_the_store_knows_to_be_one_question_are_counted_together(place):
    """The first stopped before a node, and its process died before it could say so: its outermost span is lost."""
    app = test_turns.graph(place.saver, interrupt_before=["draft"])
    place.run(app, {"question": "q"})
    pauses.clear()
    place.run(app, None)
    lost = next(span for span in place.recorder.spans if span.parent is None)
    first, second = paths_of([span for span in place.recorder.spans if span is not lost])
    (path,) = JoinedSource(Here(place.stored()), Here([first, second])).paths(Selection())
    assert path.trace_ids == (first.trace_id, second.trace_id)
    assert path.latency_ms == first.latency_ms + second.latency_ms
    assert path.answer.content.text == "To q"


def test_each_branch_of_a_fork_has_the_trace_of_its_end(place):
    app = test_turns.graph(place.saver)
    with case("c-1", experiment="e"):
        place.run(app, {"question": "one"})
    after = next(
        each for each in app.get_state_history({"configurable": {"thread_id": "t"}}) if each.next == ("draft",)
    )
    edited = app.update_state(after.config, {"documents": test_turns.passages("gift")})
    app.invoke(None, {**edited, **place.recorder.config})
    first, second = paths_of(place.recorder.spans)
    old, new = place.joined()
    assert (old.trace_id, new.trace_id) == (first.trace_id, second.trace_id)
    assert old.tags.case_id is None


def test_a_conflict_is_a_warning_and_never_merged(place):
    place.run(checked(checkpointer=place.saver), ASKED)
    (stored,), (traced,) = place.stored(), paths_of(place.recorder.spans)
    other = replace(traced, retrieved=Chunks(ids=("foreign",)), error="KeyError")
    (path,) = JoinedSource(Here([stored]), Here([other])).paths(Selection())
    assert path.retrieved == stored.retrieved
    assert [warning for warning in path.warnings if "differ" in warning] == [
        "checkpoint and trace differ in retrieved (5 ids, 1 ids): the checkpoint's is kept",
        "checkpoint and trace differ in error (none, KeyError): the checkpoint's is kept",
    ]
    cut = replace(traced, retrieved=Chunks(ids=("returns",), count=5))
    (path,) = JoinedSource(Here([stored]), Here([cut])).paths(Selection())
    assert not [warning for warning in path.warnings if "differ" in warning]


def test_a_step_that_one_source_calls_a_permission_check_is_no_filter_beside_it(place):
    """The mapping of channels says what the trace could only take for a filter; or the other way round, a mark does."""
    place.run(checked(checkpointer=place.saver), ASKED)
    (stored,), (traced,) = place.stored(), paths_of(place.recorder.spans)
    assert stored.filtered == traced.filtered
    checks = tuple([Permission(drop.id, "deny") for drop in stored.filtered.dropped])
    for mine, theirs in ((stored, traced), (traced, stored)):
        told = replace(mine, filtered=None, permissions=checks, not_captured=(*mine.not_captured, "filtered"))
        sources = (told, theirs) if mine is stored else (theirs, told)
        (path,) = JoinedSource(*[Here([each]) for each in sources]).paths(Selection())
        assert (path.permissions, path.filtered, "filtered" in dict(path.joined)) == (checks, None, False)
        assert "filtered" in path.not_captured
    some = replace(stored, filtered=None, permissions=checks[:1])
    (path,) = JoinedSource(Here([some]), Here([traced])).paths(Selection())
    assert [drop.id for drop in path.filtered.dropped] == [checks[1].id]


def test_a_traceparent_in_the_metadata_joins_what_has_no_tasks_in_common():
    trace = "ab" * 16
    stored = EvidencePath(path_id="t:1", trace_id=trace, trace_ids=(trace,), thread_id="t", source="checkpoint")
    traced = EvidencePath(path_id="x", trace_id=trace, trace_ids=(trace,), latency_ms=5.0, service="desk")

    def joined(*traces: EvidencePath, **selection: Any) -> list[EvidencePath]:
        return list(JoinedSource(Here([stored]), Here(list(traces))).paths(Selection(**selection)))

    (path,) = joined(traced)
    assert (path.latency_ms, path.service, dict(path.joined)["latency_ms"]) == (5.0, "desk", "trace")
    assert joined(traced, service="desk") == joined(traced, traces=(trace,)) == [path]
    assert joined(traced, service="other") == []
    assert joined(replace(traced, thread_id="another")) == [stored]
    assert joined(traced, traced) == [stored], "two questions of one trace: nobody knows which"


def test_what_has_no_counterpart_stays_as_it_is_and_is_counted(place, caplog):
    app = checked(checkpointer=place.saver)
    place.run(app, ASKED, "a")
    app.invoke(ASKED, {"configurable": {"thread_id": "b"}})
    checked().invoke(ASKED, place.recorder.config)
    caplog.clear()
    one, two = place.joined()
    assert (bool(one.joined), two) == (True, place.stored()[1])
    assert "1 questions are joined with their traces, 1 have no trace; 1 of the traces" in caplog.text


def test_paths_and_score_on_the_command_line(place, tmp_path, capsys):
    """The option, the origins in both views, and the JSON read back."""
    with case("c-1", experiment="e"):
        place.run(checked(checkpointer=place.saver), ASKED)
    traces = tmp_path / "traces.pb"
    traces.write_bytes(encode_spans(list(place.recorder.spans)).SerializeToString())
    arguments = [f"checkpoints:sqlite:///{place.file}", "--traces", f"otlp:{traces}"]
    assert run(["paths", *arguments, "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["joined"]["latency_ms"] == "trace"
    assert dict(from_json(json.loads(line)).joined)["retrieved"] == "checkpoint"
    assert run(["paths", *arguments]) == 0
    assert "from the trace: " in capsys.readouterr().out
    cases = tmp_path / "cases.yaml"
    cases.write_text(
        "- {id: c-1, segment: s, tenant: store, question: q, answerable: true, gold_ids: [sale],"
        " allowed_ids: [returns, sale, gift, staff, old]}\n"
    )
    assert run(["score", *arguments, "--cases", str(cases), "--json"]) == 4
    (row,) = json.loads(capsys.readouterr().out)["cases"]
    assert row["latency_ms"] is not None
    assert row["evidence"]["context"] == ["returns", "sale", "gift"]


@pytest.mark.parametrize("option", ["--traces", "--map"])
def test_other_sources_take_no_such_option(place, tmp_path, capsys, option):
    place.run(checked(checkpointer=place.saver), ASKED)
    traces = tmp_path / "traces.pb"
    traces.write_bytes(encode_spans(list(place.recorder.spans)).SerializeToString())
    assert run(["paths", f"otlp:{traces}", option, str(traces)]) == 2
    assert f"{option}: only for checkpoints" in capsys.readouterr().err


def test_checkpoints_are_no_traces(place, capsys):
    place.run(checked(checkpointer=place.saver), ASKED)
    assert run(["paths", f"checkpoints:sqlite:///{place.file}", "--traces", f"checkpoints:sqlite:///{place.file}"]) == 2
    assert "--traces: expected traces to join" in capsys.readouterr().err


def run(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code


@pytest.mark.parametrize("left", ["root", "all but the root", "half", "half again"])
def test_spans_that_never_came_cost_no_evidence_and_none_counts_twice(place, left):
    """The app was killed, or its last batch is still on its way; a batch that was sent again is there twice."""
    app = desk(place.saver)
    place.run(app, ASKED)
    place.run(app, Command(resume=True))
    (stored,), whole = place.stored(), list(place.recorder.spans)
    ended = sorted(whole, key=lambda span: span.end_time)
    some = {
        "root": [span for span in whole if span.parent is None],
        "all but the root": [span for span in whole if span.parent is not None],
        "half": ended[: len(ended) // 2],
        "half again": ended[len(ended) // 2 :],
    }[left]
    once = list(JoinedSource(Here([stored]), Here(paths_of(some))).paths(Selection()))
    (path,) = list(JoinedSource(Here([stored]), Here(paths_of([*some, *some]))).paths(Selection()))
    assert [path] == once
    for name in ("path_id", "question", "retrieved", "filtered", "context", "verdicts"):
        assert getattr(path, name) == getattr(stored, name), name
    assert path.answer.content == stored.answer.content
    assert [step.stage.outcome for step in path.nodes] == [step.stage.outcome for step in stored.nodes]
    assert not [warning for warning in path.warnings if "differ" in warning]


def test_a_pause_that_is_newer_than_what_resumed_it(place):
    """Another process went on, whose clock is an hour behind: its link says that it came later."""
    app = desk(place.saver)
    place.run(app, ASKED)
    place.run(app, Command(resume=True))
    (before,), (joined,) = paths_of(place.recorder.spans), place.joined()
    last = max(place.recorder.spans, key=lambda span: span.start_time).context.trace_id
    for span in place.recorder.spans:
        if span.context.trace_id == last:
            span._start_time -= 3600 * 10**9
            span._end_time -= 3600 * 10**9
    (after,), (again,) = paths_of(place.recorder.spans), place.joined()
    assert len(after.trace_ids) == 2
    untimed = {"latency_ms": None, "stage_latency_ms": ()}
    assert replace(after, **untimed) == replace(before, **untimed)
    assert replace(again, **untimed) == replace(joined, **untimed)


def test_parts_that_nothing_links_come_in_the_order_of_their_tasks(place):
    """Their clocks disagree, and the source may give them in any order."""
    app = desk(place.saver)
    place.run(app, ASKED)
    first = {span.context.trace_id for span in place.recorder.spans}
    place.run(app, Command(resume=True))
    for span in place.recorder.spans:
        span._links = ()
        if span.context.trace_id not in first:
            span._start_time -= 3600 * 10**9
            span._end_time -= 3600 * 10**9
    (stored,), parts = place.stored(), paths_of(place.recorder.spans)
    assert len(parts) == 2
    for given in (parts, parts[::-1]):
        with closing(TracedPaths(given)) as traced:
            found = [int(part.trace_id, 16) in first for part in traced.of(stored)]
        assert found == [True, False]


def test_what_is_joined_is_selected_by_what_either_of_the_two_says(place):
    place.run(desk(place.saver), ASKED)
    (stored,), parts = place.stored(), paths_of(place.recorder.spans)
    thread, joined = stored.thread_id, JoinedSource(Here([stored]), Here([replace(parts[0], service="desk")]))
    for selection, count in [({"service": "desk"}, 1), ({"service": "other"}, 0), ({}, 1)]:
        for name, more in [(thread, count), ("another", 0)]:
            chosen = Selection(attributes={"gen_ai.conversation.id": name}, **selection)
            assert len(list(joined.paths(chosen))) == more
