"""What joins parts to one question (contracts 1; must-handle 36)."""

from __future__ import annotations

import pytest

from rag_probe.stages import (
    Answer,
    CaseTags,
    Chunks,
    Content,
    ContextAssembly,
    Generation,
    Node,
    Retrieval,
    Root,
    Verdicts,
)
from tests.rag_probe_collector.spans import node, path_of, paths_of, span_id, stage, trace_id, workflow

FOUND = Retrieval(documents=Chunks(ids=("a",)))
LATER = Retrieval(documents=Chunks(ids=("b", "a")))


def tagged(run: str | None, case: str = "c1", **more) -> Root:
    return Root(tags=CaseTags(case_id=case, case_run=run), **more)


def asking(outcome: str | None, **more) -> Node:
    return Node(name="validate", task_id="t-7", outcome=outcome, **more)


PAUSED = [
    workflow(1, Root(thread_id="th", question=Content(text="why")), took=20),
    node(2, asking("interrupted"), 1, 5, took=10),
]
RESUMED = {"trace": 2, "at": 1000}


def resumed(thread: str | None = "th", task: str = "t-7", **more):
    root = Root(thread_id=thread, answer=Answer(outcome="answered", content=Content(text="because")))
    return [
        workflow(1, root, **RESUMED, took=30, **more),
        node(2, Node(name="validate", task_id=task, outcome="ok"), 1, 1001, trace=2, took=7),
    ]


def test_everything_inside_one_case_block_is_one_question():
    path = path_of(
        stage(1, FOUND, attributes={"rag.case.run": "r1", "rag.case.id": "c1"}),
        workflow(1, tagged("r1", question=Content(text="why")), trace=2, at=50),
        stage(2, LATER, 1, 60, trace=2),
    )
    assert path.trace_ids == (trace_id(1), trace_id(2))
    assert path.path_id == f"{trace_id(1)}:{span_id(1)}"
    assert path.retrieved == Chunks(ids=("a", "b"))
    assert path.question == Content(text="why")


def test_two_blocks_are_two_questions_even_of_one_case():
    assert len(paths_of(workflow(1, tagged("r1")), workflow(1, tagged("r2"), trace=2))) == 2
    assert len(paths_of(workflow(1, tagged(None)), workflow(1, tagged(None), trace=2))) == 2


def test_a_pause_and_its_resume_are_joined_by_their_link():
    path = path_of(*PAUSED, *resumed(thread=None, task="another", links=((1, 1),)))
    assert path.trace_ids == (trace_id(1), trace_id(2))
    assert path.answer == Answer(outcome="answered", content=Content(text="because"))


def test_without_a_link_by_thread_and_task():
    path = path_of(*PAUSED, *resumed())
    assert path.question == Content(text="why")
    assert path.thread_id == "th"


@pytest.mark.parametrize(
    "other",
    [resumed(task="t-8"), resumed(thread="other"), resumed(thread=None), resumed(thread="other", links=((1, 1),))],
)
def test_another_task_or_thread_is_another_question(other):
    assert len(paths_of(*PAUSED, *other)) == 2


def test_a_replay_of_a_task_that_never_paused_is_another_question():
    first = [workflow(1, Root(thread_id="th")), node(2, Node(name="validate", task_id="t-7", outcome="ok"), 1, 5)]
    assert len(paths_of(*first, *resumed())) == 2


FAILED = [
    workflow(1, Root(thread_id="th", question=Content(text="why")), took=20, error="TimeoutError"),
    node(2, asking("error"), 1, 5, took=10, error="TimeoutError"),
]


def test_a_failure_and_the_run_that_goes_on_from_it_are_one_question():
    """Issue C, 1: the store tells one turn of it, and so does the trace."""
    path = path_of(*FAILED, *resumed())
    (entry,) = path.nodes
    assert entry.stage == Node(name="validate", task_id="t-7", outcome="recovered")
    assert (path.question, path.error, path.answer.outcome) == (Content(text="why"), None, "answered")
    assert (path.latency_ms, path.partial) == (50, False)


@pytest.mark.parametrize("other", [resumed(task="t-8"), resumed(thread="other"), resumed(thread=None)])
def test_after_a_failure_another_task_or_thread_is_another_question(other):
    assert len(paths_of(*FAILED, *other)) == 2


def test_a_replay_of_a_task_that_has_recovered_is_another_question():
    replay = [
        workflow(1, Root(thread_id="th"), trace=3, at=2000),
        node(2, asking("ok"), 1, 2001, trace=3),
    ]
    assert [path.trace_ids for path in paths_of(*replay, *FAILED, *resumed())] == [
        (trace_id(1), trace_id(2)),
        (trace_id(3),),
    ]


def test_an_interrupted_and_resumed_node_is_one_entry_and_the_wait_does_not_count():
    path = path_of(*PAUSED, *resumed())
    (entry,) = path.nodes
    assert entry.stage == Node(name="validate", task_id="t-7", outcome="answered")
    assert entry.latency_ms == 17
    assert path.latency_ms == 50
    assert dict(path.stage_latency_ms)["node:validate"] == 17
    assert not path.partial


def test_a_question_that_still_waits_is_partial_and_has_no_outcome():
    path = path_of(*PAUSED)
    assert path.partial
    assert path.answer is None
    assert "answer.outcome" in path.not_captured
    assert any("paused at 'validate'" in warning for warning in path.warnings)


def test_a_retried_node_is_one_entry():
    failed, passed = asking("error", attempt=1), asking("ok", attempt=2)
    path = path_of(workflow(1), node(2, failed, 1, 1, error="ValueError"), node(3, passed, 1, 5))
    (entry,) = path.nodes
    assert entry.stage == asking("recovered", attempt=2)
    assert entry.error is None


def test_nodes_without_a_task_id_are_entries_of_their_own_and_start_is_none():
    path = path_of(
        workflow(1), node(2, Node(name="__start__"), 1), node(3, Node(name="x"), 1, 1), node(4, Node(name="x"), 1, 2)
    )
    assert [step.stage.name for step in path.nodes] == ["x", "x"]
    assert path.source == "langgraph"


def test_generations_of_all_parts_are_kept():
    path = path_of(*PAUSED, stage(3, Generation(), 1, 2), *resumed(), stage(3, Generation(), 1, 1002, trace=2))
    assert len(path.generations) == 2
    assert path.answer_generation == 1


def stopped(trace: int, **root):
    return workflow(1, Root(thread_id="th", **root), trace=trace, at=1000 * trace)


def test_a_graph_goes_on_from_the_checkpoint_at_which_it_stopped():
    (path,) = paths_of(
        stopped(1, paused_at="c1"), stopped(2, resumed_at="c1", paused_at="c2"), stopped(3, resumed_at="c2")
    )
    assert path.trace_ids == (trace_id(1), trace_id(2), trace_id(3))


def test_who_goes_on_from_there_once_more_asks_anew():
    first, fork = paths_of(stopped(1, paused_at="c1"), stopped(2, resumed_at="c1"), stopped(3, resumed_at="c1"))
    assert (first.trace_ids, fork.trace_ids) == ((trace_id(1), trace_id(2)), (trace_id(3),))


def test_a_checkpoint_of_another_thread_is_not_this_one():
    assert (
        len(paths_of(stopped(1, paused_at="c1"), workflow(1, Root(thread_id="u", resumed_at="c1"), trace=2, at=2000)))
        == 2
    )


@pytest.mark.parametrize(
    "top",
    [
        workflow(1, Root(thread_id="th", resumed_at="c1")),
        workflow(1, Root(thread_id="th", resumed=True)),
        workflow(1, Root(thread_id="th"), links=((9, 9),)),
    ],
    ids=["checkpoint", "told", "link"],
)
def test_of_what_goes_on_with_a_run_that_is_not_here_nothing_unseen_is_known(top):
    """Null is not zero: what the first part retrieved and asked its models was not captured."""
    path = path_of(top, node(2, asking("ok"), 1, 5))
    fields = ("retrievals", "retrieved", "context", "generations", "tools")
    assert [getattr(path, field) for field in fields] == [None] * 5
    assert set(fields) <= set(path.not_captured)
    assert path.partial
    assert path.warnings == ("goes on with an earlier run: what that one did is not in this source",)


def test_nor_of_a_fork_whose_first_part_is_another_question_s():
    _, fork = paths_of(stopped(1, paused_at="c1"), stopped(2, resumed_at="c1"), stopped(3, resumed_at="c1"))
    assert (fork.retrieved, fork.context, fork.generations) == (None, None, None)


def test_what_is_whole_after_it_was_joined_says_so():
    path = path_of(stopped(1, paused_at="c1"), stopped(2, resumed_at="c1"))
    assert (path.retrieved, path.context, path.generations, path.partial) == (Chunks(), ContextAssembly(), (), False)


@pytest.mark.parametrize("count", range(1, 8))
def test_verdicts_of_all_parts_follow_each_other(count):
    """Also where only some of them say of which step."""
    told = [
        Verdicts(passed=(part % 2 == 0, True), nodes=("check",) * 2, steps=(part, part) if part % 3 else ())
        for part in range(count)
    ]
    tags = CaseTags(case_id="a", case_run="r", experiment="e")
    path = path_of(
        *[workflow(1, Root(tags=tags, verdicts=one), at=part, trace=part + 1) for part, one in enumerate(told)]
    )
    rows = [(passed, step) for one in told for passed, step in zip(one.passed, one.steps or (None, None), strict=True)]
    assert [(each.passed, each.step) for each in path.verdicts] == rows
