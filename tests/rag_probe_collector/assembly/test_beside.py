"""One path, whoever else heard the question (issue B: side by side; must-handle 11: usage is counted once)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe import attributes as a
from rag_probe.stages import Chunks, Content, ContextAssembly, Generation, Node, Retrieval, Root, ToolCall
from rag_probe.wire.beside import put_aside
from tests.rag_probe_collector.spans import (
    LOCAL,
    S,
    foreign,
    node,
    path_of,
    paths_of,
    span_id,
    stage,
    trace_id,
    workflow,
)

GENAI = "opentelemetry.instrumentation.genai.langchain"
ASKED = Root(question=Content(length=3, text="why"))
FOUND = Retrieval(name="Search", documents=Chunks(ids=("a", "b")))
INNER = Retrieval(name="Inner", documents=Chunks(ids=("a", "b", "c")))
WROTE = Generation(
    model="gpt-4o", provider="openai", input_tokens=70, output_tokens=9, context=ContextAssembly(ids=("a",))
)
ALONE = (
    workflow(1, ASKED, took=500),
    node(2, Node(name="search", task_id="t1"), parent=1, at=1, took=90),
    stage(3, FOUND, parent=2, at=2, took=50),
    stage(4, INNER, parent=3, at=3),
    stage(5, ToolCall(name="look", call_id="c1"), parent=1, at=100),
    stage(6, WROTE, parent=1, at=200, took=100),
)
THEIRS = (
    S(51, None, -1, 502, {a.OPERATION: "invoke_workflow"}, scope=GENAI),
    S(52, 51, 0, 100, {}, scope="openinference.instrumentation.langchain"),
    S(53, 52, 2, 51, {a.OPERATION: "retrieval"}, scope=GENAI),
    S(
        54,
        51,
        199,
        102,
        {a.OPERATION: "chat", a.REQUEST_MODEL: "gpt-4o", a.INPUT_TOKENS: 70, a.OUTPUT_TOKENS: 9},
        scope=GENAI,
    ),
    S(55, 51, 99, 3, {a.OPERATION: "execute_tool", a.TOOL_NAME: "look"}, scope=GENAI),
)


def beside(one: S, under: int) -> S:
    """As the handler writes it under another's span."""
    marks = {a.BESIDE: True} if one.parent is None else {a.BESIDE: True, a.PARENT: span_id(one.parent)}
    return replace(one, parent=under, flags=LOCAL, attributes={**put_aside(one.attributes), **marks})


places = st.lists(st.sampled_from([one.id for one in THEIRS]), min_size=len(ALONE) - 1, max_size=len(ALONE) - 1)
"""A span of theirs for each of ours but the outermost, which hangs under their outermost."""


def spread(under: list[int]) -> list[S]:
    return [beside(one, parent) for one, parent in zip(ALONE, (51, *under), strict=True)]


@given(
    places,
    st.permutations(range(len(ALONE) + len(THEIRS))),
)
def test_wherever_our_spans_hang_the_path_is_ours(under, order):
    spans = [*spread(under), *THEIRS]
    assert path_of(*[spans[place] for place in order]) == path_of(*ALONE)


@given(places)
def test_their_spans_may_be_elsewhere(under):
    """Sent to another backend, or not at all."""
    assert path_of(*spread(under)) == path_of(*ALONE)


def test_a_root_that_says_nothing_is_whole_though_its_parent_is_elsewhere():
    quiet = (workflow(1, took=500), *ALONE[1:])
    assert path_of(*[beside(one, 51) for one in quiet]) == path_of(*quiet)


def test_a_backend_that_lost_the_scope_loses_nothing():
    spans = [replace(beside(one, 51), scope="") for one in ALONE]
    assert path_of(*spans, *THEIRS) == path_of(*ALONE)


@pytest.mark.parametrize("theirs", [THEIRS, ()])
def test_a_span_of_ours_that_is_missing_is_missed(theirs):
    """Their tree does not stand in for ours."""
    spans = [beside(one, 51) for one in ALONE if one.id != 3]
    path = path_of(*spans, *theirs)
    assert path.partial
    assert "spans of this trace never arrived" in path.warnings


class TestBothInFull:
    """Nobody said that there is another: both wrote all of it."""

    def test_ours_inside_theirs(self):
        spans = (replace(ALONE[0], parent=51, flags=LOCAL), *ALONE[1:])
        assert path_of(*spans, *THEIRS) == path_of(*ALONE)

    def test_theirs_inside_ours(self):
        spans = (replace(THEIRS[0], parent=1), *THEIRS[1:])
        assert path_of(*ALONE, *spans) == path_of(*ALONE)

    def test_side_by_side_under_one_request(self):
        """Callbacks hear a run a hair apart: neither contains the other."""
        for shift in (-2, -1, 0, 1, 2):
            ours = (replace(ALONE[0], parent=90, at=shift), *ALONE[1:])
            (path,) = paths_of(foreign(90, at=-5, took=900), *ours, replace(THEIRS[0], parent=90), *THEIRS[1:])
            assert path.path_id == f"{trace_id(1)}:{span_id(1)}"
            assert len(path.generations) == 1

    def test_a_model_alone(self):
        assert len(paths_of(THEIRS[3], stage(6, WROTE, parent=54, at=200))) == 1

    def test_a_batch_is_as_many_paths_as_questions(self):
        spans = [foreign(900, at=-5, took=5_000)]
        for number in range(3):
            spans.append(S(200 + number, 900, number, 400, {a.OPERATION: "invoke_workflow"}, scope=GENAI))
            spans.append(workflow(100 + number, ASKED, parent=200 + number, at=number, took=400))
        assert [path.path_id[-3:] for path in paths_of(*spans)] == ["064", "065", "066"]


class TestNoEcho:
    """What another instrumentation recorded of questions of its own stays."""

    def test_at_another_time(self):
        theirs = replace(THEIRS[0], parent=90, at=600, took=10)
        assert len(paths_of(foreign(90, took=900), replace(ALONE[0], parent=90), *ALONE[1:], theirs)) == 2

    def test_elsewhere_in_the_trace(self):
        theirs = replace(THEIRS[0], parent=91)
        ours = (replace(ALONE[0], parent=90), *ALONE[1:])
        assert len(paths_of(foreign(90, took=900), foreign(91, parent=90, took=900), *ours, theirs)) == 2

    def test_a_call_that_is_no_workflow(self):
        theirs = replace(THEIRS[3], parent=90)
        assert len(paths_of(foreign(90, took=900), replace(ALONE[0], parent=90), *ALONE[1:], theirs)) == 2

    def test_in_another_trace(self):
        assert len(paths_of(*ALONE, replace(THEIRS[0], trace=2))) == 2
