"""Where a question begins and ends in its trace (contracts 1)."""

from __future__ import annotations

from rag_probe.stages import CaseTags, Chunks, Content, Generation, Retrieval, Root
from tests.rag_probe_collector.spans import (
    LOCAL,
    REMOTE,
    S,
    foreign,
    path_of,
    paths_of,
    span_id,
    stage,
    trace_id,
    workflow,
)

FOUND = Retrieval(documents=Chunks(ids=("a", "b")))
ASKED = Root(question=Content(length=3, text="why"))


def test_a_path_belongs_to_the_outermost_workflow():
    path = path_of(workflow(1, ASKED), workflow(2, parent=1, at=1), stage(3, FOUND, parent=2, at=2))
    assert path.path_id == f"{trace_id(1)}:{span_id(1)}"
    assert path.retrieved == Chunks(ids=("a", "b"))
    assert path.question == Content(length=3, text="why")


def test_a_batch_of_three_in_one_trace_under_one_request_is_three_paths():
    spans = [foreign(9, took=500)]
    for number in (1, 2, 3):
        spans += [workflow(number, ASKED, parent=9, at=number), stage(10 + number, FOUND, parent=number, at=number + 1)]
    assert [path.path_id for path in paths_of(*spans)] == [f"{trace_id(1)}:{span_id(number)}" for number in (1, 2, 3)]


def test_a_batch_of_three_in_three_traces_is_three_paths():
    spans = [workflow(1, ASKED, trace=number, at=number) for number in (3, 1, 2)]
    assert [path.trace_id for path in paths_of(*spans)] == [trace_id(number) for number in (1, 2, 3)]


def test_an_http_span_is_no_path_and_hides_none():
    assert paths_of(foreign(1), foreign(2, parent=1)) == []
    path = path_of(foreign(1), workflow(2, ASKED, parent=1), foreign(3, parent=2), stage(4, FOUND, parent=3))
    assert path.path_id.endswith(span_id(2))
    assert path.retrieved == Chunks(ids=("a", "b"))


def test_a_stage_without_a_workflow_above_it_is_a_path_of_its_own():
    first, second = paths_of(foreign(1), stage(2, FOUND, parent=1, at=1), stage(3, Generation(), parent=1, at=2))
    assert first.retrieved == Chunks(ids=("a", "b"))
    assert len(second.generations) == 1


def test_a_span_with_a_case_of_its_own_inside_a_workflow_starts_a_path_of_its_own():
    mine = Root(tags=CaseTags(case_id="c1", case_run="r1"))
    outer, inner = paths_of(
        workflow(1, ASKED, took=500),
        workflow(2, mine, parent=1, at=1),
        stage(3, FOUND, parent=2, at=2),
        stage(4, Generation(), parent=1, at=3),
    )
    assert inner.tags == mine.tags
    assert inner.retrieved == Chunks(ids=("a", "b"))
    assert outer.retrieved == Chunks()
    assert len(outer.generations) == 1


def test_the_case_of_the_workflow_itself_is_no_case_of_ones_own():
    mine = Root(tags=CaseTags(case_id="c1", case_run="r1"))
    path = path_of(workflow(1, mine), workflow(2, mine, parent=1, at=1), stage(3, FOUND, parent=2, at=2))
    assert path.tags == mine.tags


class TestMissingRoot:
    """must-handle 30: the topmost orphan stands in, with a warning."""

    def test_orphans_make_one_partial_path(self):
        path = path_of(stage(2, FOUND, parent=1, at=1, name="retrieval"), stage(3, Generation(), parent=1, at=2))
        assert path.partial
        assert path.path_id.endswith(span_id(2))
        assert path.retrieved == Chunks(ids=("a", "b"))
        assert len(path.generations) == 1
        assert any("root span never arrived" in warning and "retrieval" in warning for warning in path.warnings)

    def test_several_missing_parents_are_still_one_question(self):
        path = path_of(stage(2, FOUND, parent=1, at=1), stage(3, Generation(), parent=99, at=2))
        assert (path.retrieved, len(path.generations)) == (Chunks(ids=("a", "b")), 1)

    def test_what_was_not_seen_is_not_taken_to_have_not_happened(self):
        path = path_of(stage(2, FOUND, parent=1, at=1))
        assert path.generations is None
        assert path.context is None
        assert path.answer is None
        assert {"generations", "context", "answer.outcome", "citations"} <= set(path.not_captured)

    def test_orphans_join_the_one_root_of_their_trace_and_make_it_partial(self):
        path = path_of(workflow(1, ASKED), stage(3, FOUND, parent=99, at=2))
        assert path.partial
        assert path.retrieved == Chunks(ids=("a", "b"))
        assert "spans of this trace never arrived" in path.warnings

    def test_with_several_roots_nobody_can_tell_so_all_are_partial(self):
        paths = paths_of(workflow(1, ASKED), workflow(2, ASKED, at=1), stage(3, FOUND, parent=99, at=2))
        assert len(paths) == 3
        assert all(path.partial for path in paths)

    def test_a_root_whose_parent_is_another_services_span_is_whole(self):
        for whole in (
            workflow(1, ASKED, parent=99),
            workflow(1, parent=99),
            workflow(1, parent=99, flags=REMOTE),
            stage(1, FOUND, parent=99, flags=REMOTE),
            workflow(1, ASKED, parent=99, flags=LOCAL),
        ):
            assert not path_of(whole).partial

    def test_a_workflow_whose_parent_was_local_and_that_says_nothing_of_a_question_has_lost_it(self):
        assert path_of(workflow(1, parent=99, flags=LOCAL)).partial


def test_a_cycle_is_broken_with_a_warning():
    path = path_of(workflow(1, ASKED, parent=2), stage(2, FOUND, parent=1, at=1))
    assert path.retrieved == Chunks(ids=("a", "b"))
    assert any("its own ancestor" in warning for warning in path.warnings)


def test_times_are_shown_as_recorded_with_a_warning():
    """must-handle 32."""
    path = path_of(workflow(1, ASKED, at=10, took=-4), stage(2, FOUND, parent=1, at=2))
    assert path.latency_ms == -4
    assert [warning for warning in path.warnings if "ends before it starts" in warning]
    assert [warning for warning in path.warnings if "starts before its parent" in warning]


def test_warnings_are_bounded():
    spans = [workflow(1, ASKED, at=10)] + [stage(number, FOUND, parent=1, at=0) for number in range(2, 90)]
    assert len(path_of(*spans).warnings) < 30


def test_plumbing_of_ours_means_nothing():
    assert paths_of(S(1, attributes={"rag.step.name": "x"}), S(2, parent=1)) == []
