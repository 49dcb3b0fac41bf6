"""LCEL: whole span trees, the same however the app is called; one question, one path (issue B)."""

from __future__ import annotations

import asyncio
import gc

import pytest

from rag_probe_langchain import runs
from rag_probe_langchain.finish import give_up
from tests.rag_probe_langchain.apps import ANSWER, rag
from tests.rag_probe_langchain.recorded import assert_well_formed
from tests.scenarios.lcel import APPS, ASKED, QUESTION
from tests.scenarios.modes import MODES, RARE
from tests.scenarios.recording import Recording, paths_of, ticking

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")

WAYS = {**MODES, **RARE}
SHAPES = {"a rag chain": rag, **APPS}
NOT_RETRIED = {
    "retry": {"stream", "astream", "astream_events", "astream_log"},
    "retry of a chain": {
        "stream",
        "astream",
        "astream_events",
        "astream_log",
        "batch_as_completed",
        "abatch_as_completed",
    },
}
"""Where LangChain itself does not try again."""
WROTE = {"a rag chain": "returns sale gift", "assigned": "returns sale gift staff"}
SPEAKING = {
    "fallback of a retriever": "returns sale",
    "branch": "returns sale",
    "configurable": "gift",
    "parallel": "returns sale gift",
    "each": "returns sale",
    "fallback of a chain": "returns sale",
    "fallback inside a retriever": "returns sale",
    "tools by hand": "returns sale",
    "decorated": "returns sale gift staff",
    "bound": "returns sale gift staff",
    **WROTE,
}
"""What the answering model saw; all five where nothing is said."""


def ask(shape, mode="invoke"):
    recording = Recording()
    with ticking():
        WAYS[mode](SHAPES[shape](), ASKED.get(shape, QUESTION), {"callbacks": [recording.handler]})
    return recording


@pytest.mark.parametrize("shape", SHAPES)
def test_the_tree_is_the_same_however_it_is_asked(shape, snapshot):
    tree = ask(shape).tree(parallel=True)
    assert tree == snapshot
    for mode in set(WAYS) - {"invoke"} - NOT_RETRIED.get(shape, set()):
        assert ask(shape, mode).tree(parallel=True) == tree, mode


@pytest.mark.parametrize(
    ("shape", "mode"), [(shape, mode) for shape, modes in NOT_RETRIED.items() for mode in sorted(modes)]
)
def test_what_is_not_tried_again_has_failed_once(shape, mode):
    recording = Recording()
    with pytest.raises(TimeoutError):
        WAYS[mode](SHAPES[shape](), QUESTION, {"callbacks": [recording.handler]})
    assert_well_formed(recording.spans)
    (path,) = paths_of(recording.spans)
    assert (path.error, path.answer.outcome, len(path.generations)) == ("TimeoutError", "error", 1)


@pytest.mark.parametrize("shape", SHAPES)
def test_one_question_is_one_path(shape):
    (path,) = paths_of(ask(shape).spans)
    assert path.answer.outcome == "answered"
    assert path.context.ids == tuple(SPEAKING.get(shape, "returns sale gift staff old").split())
    assert path.answer_generation == len(path.generations) - 1
    assert path.error is None
    assert not path.partial
    assert path.warnings == ()


@pytest.mark.parametrize("mode", ["batch", "abatch", "batch_as_completed", "abatch_as_completed"])
def test_a_batch_of_three_is_three_paths(mode):
    recording, config = Recording(), {}
    config = {"callbacks": [recording.handler], "max_concurrency": 2}
    asked = [QUESTION, f"{QUESTION} Please.", "And gifts?"]

    async def consume(app):
        if mode == "abatch":
            return await app.abatch(asked, config)
        return [each async for each in app.abatch_as_completed(asked, config)]

    app = rag()
    if mode.startswith("a"):
        assert len(asyncio.run(consume(app))) == 3
    else:
        assert len(list(getattr(app, mode)(asked, config))) == 3
    assert_well_formed(recording.spans)
    paths = paths_of(recording.spans)
    assert sorted(path.question.length for path in paths) == sorted(map(len, asked))
    assert {path.context.ids for path in paths} == {("returns", "sale", "gift")}
    assert {path.answer.content.length for path in paths} == {len(ANSWER)}


def forget():
    """LangChain ends no fallback whose stream is left at its first part: it is given up as other forgotten ones are."""
    for root in list(runs._roots.values()):
        give_up(root)


def assert_broken_off(recording):
    """One tree; a question that nobody waited for was neither answered nor refused, and what did not run is unknown.

    Unless its first part was all of it.
    """
    assert_well_formed(recording.spans)
    assert len([span for span in recording.spans if span.parent is None]) == 1
    (path,) = paths_of(recording.spans)
    if not path.partial:
        assert path.answer.content.length == len(ANSWER)
        return
    assert path.answer is None or path.answer.outcome is None
    assert path.context is None or path.context.ids
    assert path.retrieved is None or path.retrieved.ids
    assert path.generations is None or path.generations
    assert path.generations or path.cost_usd is None


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("left", ["closed", "collected"])
def test_a_stream_that_is_abandoned_leaves_one_whole_tree(shape, left):
    """Must-handle 16: `for chunk in stream: break`."""
    if shape in NOT_RETRIED:
        pytest.skip("streams fail before their first part")
    recording = Recording()
    parts = SHAPES[shape]().stream(ASKED.get(shape, QUESTION), {"callbacks": [recording.handler]})
    next(parts)
    if left == "closed":
        parts.close()
    else:
        del parts
        gc.collect()
    if shape == "fallback of a chain":
        forget()
    assert_broken_off(recording)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("left", ["closed", "cancelled"])
async def test_an_asynchronous_stream_that_is_abandoned_leaves_one_whole_tree(shape, left):
    if shape in NOT_RETRIED:
        pytest.skip("streams fail before their first part")
    recording = Recording()
    parts = SHAPES[shape]().astream(ASKED.get(shape, QUESTION), {"callbacks": [recording.handler]})
    first = asyncio.Event()

    async def read():
        async for _ in parts:
            first.set()
            if left == "closed":
                break
            await asyncio.Event().wait()

    task = asyncio.create_task(read())
    await asyncio.wait_for(first.wait(), 100)
    if left == "cancelled":
        task.cancel()
    await asyncio.wait([task], timeout=100)
    await parts.aclose()
    async with asyncio.timeout(100):  # LangChain leaves its inner generators to the event loop
        turn = 0
        if shape == "fallback of a chain":
            forget()
        while runs.OPEN:
            turn += 1
            gc.collect(1 if turn % 50 else 2)
            await asyncio.sleep(0)
    assert_well_formed(recording.spans)
    assert len([span for span in recording.spans if span.parent is None]) == 1
