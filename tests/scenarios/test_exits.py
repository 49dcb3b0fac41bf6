"""Every way out of every stage: each span ends once, and what it says is true (issue B, must-handle 5 and 16)."""

from __future__ import annotations

import asyncio
import gc
import re
from collections import Counter
from contextlib import nullcontext, suppress
from functools import cache
from itertools import combinations, product

import pytest

from rag_probe import attributes as a
from rag_probe import faults
from rag_probe.policy import CapturePolicy
from rag_probe_langchain import runs
from tests.rag_probe_langchain.instrumenting.instrumented import instrumented, nothing_current
from tests.rag_probe_langchain.recorded import assert_well_formed
from tests.scenarios.exits import SHAPES, Point
from tests.scenarios.gist import told
from tests.scenarios.modes import MODES
from tests.scenarios.pairwise import pairs_of, pairwise
from tests.scenarios.recording import Recording, paths_of, tree

CANCELLED = "asyncio.exceptions.CancelledError"
ERRORS = {"failed": ConnectionError, "interrupted": KeyboardInterrupt, "exited": SystemExit, "cancelled": None}
POINTS = [(shape, stage) for shape, (_, _, stages) in SHAPES.items() for stage in stages]
FACTORS = (POINTS, list(MODES), list(ERRORS), ["native", "threads"], ["content off", "content on"], ["hand", "bodies"])
"""Where, how it is called, what happens, where asynchronous bodies run, what may leave, and who records."""


def is_possible(row):
    _, mode, how, bodies, _, _ = row
    return mode.startswith("a") or (how != "cancelled" and bodies == "native")


ROWS = pairwise(FACTORS, is_possible)
IDS = ["-".join((*row[0], *row[1:])).replace(" ", "_") for row in ROWS]


@pytest.fixture(autouse=True)
def _nothing_is_said(caplog, monkeypatch):
    monkeypatch.setattr(faults, "_said", {})
    yield
    assert not [each for each in caplog.records if each.name.startswith(("rag_probe", "opentelemetry"))]


def test_the_rows_hold_every_pair():
    wanted = {pair for row in product(*FACTORS) if is_possible(row) for pair in pairs_of(row)}
    assert {pair for row in ROWS for pair in pairs_of(row)} == wanted
    assert all(map(is_possible, ROWS))
    assert len(ROWS) < len(list(filter(is_possible, product(*FACTORS)))) / 10
    two = pairwise(["ab", "cd", "ef"], lambda row: row != ("a", "c", "e"))
    assert set(combinations("ace", 2)) <= {pair for row in two for pair in combinations(row, 2)}


def cancel(app, asked, config, mode, point):
    """Cancels the call as soon as it stands still."""

    async def ask():
        match mode:
            case "ainvoke":
                await app.ainvoke(asked, config)
            case "abatch":
                await app.abatch([asked], config)
            case "astream":
                [each async for each in app.astream(asked, config)]
            case "astream_events":
                [each async for each in app.astream_events(asked, config, version="v2")]

    async def leave():
        task = asyncio.create_task(ask())
        assert await asyncio.to_thread(point.reached.wait, 100)
        task.cancel()
        await asyncio.wait([task], timeout=100)
        point.let_go()
        assert task.cancelled()

    asyncio.run(leave())


def spans_of(shape, stage, mode="invoke", how="failed", bodies="native", content="content off", by="hand"):
    """What a call that ends in a stage leaves behind."""
    make, asked, _ = SHAPES[shape]
    error = ERRORS[how]
    point = Point(stage, error and error("the canary"), native=bodies == "native")
    policy = CapturePolicy(content=content == "content on")
    with instrumented(policy=policy) if by == "bodies" else nullcontext(Recording(policy=policy)) as recording:
        config = {"callbacks": [recording.handler]} if by == "hand" else {}
        with nothing_current():
            if error is None:
                cancel(make(point), asked, config, mode, point)
            elif stage is None:
                MODES[mode](make(point), asked, config)
            else:
                with pytest.raises(error, match="the canary" if how == "failed" else None):
                    MODES[mode](make(point), asked, config)
    return recording.spans


def is_left(span):
    """Whether it did not come to its end."""
    return a.ERROR_TYPE in span.attributes or a.PARTIAL in span.attributes


def ended(spans):
    """Every span that came to its end with all that it says, every other one by its name; the tree's order left out."""
    shown = [re.sub(r"uuid-\d+", "uuid", line) for line in tree(spans, parallel=True)]
    marks = (f" {a.ERROR_TYPE}=", f" {a.PARTIAL}=")
    return Counter(line.split(" | ")[0] + " … left" if any(mark in line for mark in marks) else line for line in shown)


@cache
def reference(shape, stage, content="content off", by="hand"):
    """What an exception leaves behind."""
    spans = spans_of(shape, stage, content=content, by=by)
    assert not [span for span in spans if a.PARTIAL in span.attributes]
    return ended(spans)


@pytest.mark.parametrize(("point", "mode", "how", "bodies", "content", "by"), ROWS, ids=IDS)
def test_every_way_out_of_every_stage(point, mode, how, bodies, content, by):
    """What had ended says what it always says; what had not says so; and nothing else is there."""
    spans = spans_of(*point, mode, how, bodies, content, by)
    assert_well_formed(spans)
    assert ended(spans) == reference(*point, content, by)
    (root,) = [span for span in spans if span.parent is None]
    error = ERRORS[how] or asyncio.CancelledError
    possible = {CANCELLED} if how == "cancelled" else {error.__name__}
    if mode.startswith("a") and not issubclass(error, Exception):  # which asyncio makes a cancellation of
        possible.add(CANCELLED)
    assert root.attributes[a.ERROR_TYPE] in possible
    assert root.attributes[a.ANSWER_OUTCOME] == "error"
    for span in filter(is_left, spans):
        assert span.attributes.get(a.PARTIAL) or span.attributes[a.ERROR_TYPE] in possible
    (path,) = paths_of(spans)
    assert (path.error, path.answer.outcome) == (root.attributes[a.ERROR_TYPE], "error")
    assert path.partial == (a.PARTIAL in root.attributes)


@pytest.mark.parametrize("stage", [f"{shape}, {stage}" for shape, stage in POINTS])
def test_what_ended_before_a_failure_is_what_it_is_in_a_good_run(stage):
    shape, stage = stage.split(", ")
    found, whole = reference(shape, stage), good(shape)
    assert Counter({line: count for line, count in found.items() if "… left" not in line}) <= whole
    names = Counter(line.split(" | ")[0].removesuffix(" … left") for line in found.elements())
    assert names <= Counter(line.split(" | ")[0] for line in whole.elements())


TELLING = [
    ("chain", "retriever", "stream", "failed"),
    ("chain", "filter", "ainvoke", "failed"),
    ("chain", "model", "invoke", "failed"),
    ("chain", "model midway", "astream", "cancelled"),
    ("chain", "retriever", "ainvoke", "cancelled"),
    ("chain", "parser", "batch", "failed"),
    ("nested", "retriever", "invoke", "interrupted"),
    ("nested", "compressor", "invoke", "failed"),
    ("graph", "retriever", "invoke", "interrupted"),
    ("graph", "model", "ainvoke", "cancelled"),
    ("graph", "validator", "stream", "failed"),
    ("agent", "retriever", "invoke", "failed"),
    ("agent", "tool", "ainvoke", "cancelled"),
    ("agent", "model again", "invoke", "exited"),
]


@pytest.mark.parametrize("row", TELLING, ids=", ".join)
def test_whole_trees_and_paths(row, snapshot):
    recording = Recording()
    recording.exporter.export(spans_of(*row))
    assert told(recording) == snapshot


ITEMS = {"stream": range(1, 6), "astream": range(1, 6), "astream_events": range(2, 50, 5)}
"""After how many items whoever reads a stream has enough. After its first event LangChain itself forgets the run."""


def leave(mode, way, items, app, asked, config):
    """Reads some items and is gone; how many there were."""
    if mode != "stream":
        return asyncio.run(leave_later(mode, way, items, app, asked, config))
    stream = app.stream(asked, config)
    seen = sum(next(stream, None) is not None for _ in range(items))
    if way == "closed":
        stream.close()
    elif way == "thrown":
        with suppress(LookupError, StopIteration):
            stream.throw(LookupError("the reader's"))
    del stream
    gc.collect(1)
    return seen


async def leave_later(mode, way, items, app, asked, config):
    options = {"version": "v2"} if mode == "astream_events" else {}
    stream = getattr(app, mode)(asked, config, **options)
    seen = 0
    for _ in range(items):
        seen += await anext(stream, None) is not None
    if way == "closed":
        await stream.aclose()
    elif way == "thrown":
        with suppress(LookupError, StopAsyncIteration):
            await stream.athrow(LookupError("the reader's"))
    elif way == "collected":
        del stream
        async with asyncio.timeout(100):
            turn = 0
            while runs.OPEN:
                turn += 1
                gc.collect(1 if turn % 50 else 2)
                await asyncio.sleep(0)
    return seen


@cache
def good(shape):
    return ended(spans_of(shape, None))


FROM_OUTSIDE = {"astream_events": CANCELLED, "astream": CANCELLED}
"""How LangChain, LangGraph and the loop end what nobody reads any more, where they do not close it."""
LEAVING = {
    "stream": ("closed", "collected", "thrown"),
    "astream": ("closed", "collected", "thrown", "left to the loop"),
    "astream_events": ("closed", "collected", "thrown", "left to the loop"),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("mode", "way"), [(mode, way) for mode, ways in LEAVING.items() for way in ways])
def test_whoever_stops_reading_a_stream(shape, mode, way):
    """What had ended is whole, the rest says that it is not; closing is no failure of the app's, being cancelled is."""
    make, asked, _ = SHAPES[shape]
    for items in ITEMS[mode]:
        recording = Recording()
        with nothing_current():
            seen = leave(mode, way, items, make(Point()), asked, {"callbacks": [recording.handler]})
        assert_well_formed(recording.spans)
        found, whole = ended(recording.spans), good(shape)
        (root,) = [span for span in recording.spans if span.parent is None]
        error = root.attributes.get(a.ERROR_TYPE)
        if is_left(root):
            assert Counter({line: count for line, count in found.items() if "… left" not in line}) <= whole
            assert error in {None, "LookupError" if way == "thrown" else None, FROM_OUTSIDE.get(mode)}
            assert root.attributes.get(a.ANSWER_OUTCOME) == ("error" if error else None)
        else:  # the last item does not count as read: the answer is the model's
            assert {line.replace(', "answer.text"', "") for line in found} == set(whole)
        (path,) = paths_of(recording.spans)
        assert (path.error, path.partial) == (error, a.PARTIAL in root.attributes)
        if seen < items:
            break
