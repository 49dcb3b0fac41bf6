"""What a path says of each stage (contracts 1, 2, 7)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe import attributes as a
from rag_probe.path import Drop, Filtered, Permission, Ranked
from rag_probe.stages import (
    Answer,
    Budget,
    Chunks,
    Citations,
    Content,
    ContextAssembly,
    Filtering,
    Generation,
    Node,
    PermissionCheck,
    Rerank,
    Retrieval,
    Root,
    ToolCall,
)
from rag_probe.wire import encode
from tests.rag_probe_collector.spans import S, node, path_of, stage, workflow


def found(*ids: str, **more) -> Retrieval:
    return Retrieval(documents=Chunks(ids=ids, **more))


def drafted(*ids: str, **more) -> Generation:
    return Generation(context=ContextAssembly(ids=ids), **more)


class TestRetrieved:
    """Contracts 1, must-handle 19, 21, 29."""

    def test_it_is_the_union_in_first_seen_order_and_every_retrieval_is_kept_apart(self):
        path = path_of(
            workflow(1),
            stage(2, found("a", "b", scores=(0.9, 0.8)), 1, 1),
            stage(3, found("b", "c", scores=(0.7, None), tenants=("t", None)), 1, 2),
        )
        assert path.retrieved == Chunks(ids=("a", "b", "c"), scores=(0.9, 0.8, None))
        assert [step.stage.documents.ids for step in path.retrievals] == [("a", "b"), ("b", "c")]

    def test_a_repeated_chunk_counts_once_and_its_raw_occurrences_stay(self):
        path = path_of(workflow(1), stage(2, found("a", "a", "b"), 1))
        assert path.retrieved.ids == ("a", "b")
        assert path.retrievals[0].stage.documents.ids == ("a", "a", "b")

    def test_nested_retrievals_are_candidates(self):
        path = path_of(
            workflow(1),
            stage(2, found("a"), 1, took=50),
            stage(3, found("a", "b"), 2, 1),
            stage(4, found("c"), 3, 2),
        )
        (step,) = path.retrievals
        assert step.stage.candidates == Chunks(ids=("a", "b", "c"))
        assert path.retrieved == Chunks(ids=("a",))
        assert dict(path.stage_latency_ms)["retrieval"] == 50

    def test_told_candidates_come_first(self):
        told = Retrieval(documents=Chunks(ids=("a",)), candidates=Chunks(ids=("z",)))
        path = path_of(workflow(1), stage(2, told, 1), stage(3, found("y"), 2, 1))
        assert path.retrievals[0].stage.candidates == Chunks(ids=("z", "y"))

    def test_without_documents_it_is_not_captured(self):
        path = path_of(workflow(1), stage(2, Retrieval(name="kb"), 1))
        assert path.retrieved is None
        assert {"retrieved", "retrievals.documents"} <= set(path.not_captured)

    def test_one_of_two_without_documents_leaves_the_union_not_captured(self):
        path = path_of(workflow(1), stage(2, Retrieval(), 1), stage(3, found("a"), 1, 1))
        assert path.retrieved == Chunks(ids=("a",))
        assert "retrieved" in path.not_captured

    def test_one_that_failed_gave_nothing_to_an_app_that_went_on(self):
        path = path_of(workflow(1), stage(2, Retrieval(), 1, error="TimeoutError"))
        assert path.retrieved == Chunks()
        assert path.retrievals[0].error == "TimeoutError"
        assert "retrieved" not in path.not_captured

    def test_of_a_run_that_failed_nothing_is_said_that_was_not_seen(self):
        """Contracts 1: `[]` is a fact only without an error."""
        for spans in ([stage(2, Retrieval(), 1, error="TimeoutError")], []):
            path = path_of(workflow(1, error="TimeoutError"), *spans)
            assert path.retrieved is path.context is None
            assert {"retrieved", "context"} <= set(path.not_captured)

    def test_a_candidate_is_described_by_the_search_that_found_it(self):
        told = Retrieval(documents=Chunks(ids=("a",)), candidates=Chunks(ids=("a", "b")))
        inner = Chunks(ids=("b", "a"), scores=(0.9, 0.8), tenants=("x", "y"))
        path = path_of(workflow(1), stage(2, told, 1, took=9), stage(3, Retrieval(documents=inner), 2, 1))
        assert path.retrievals[0].stage.candidates == Chunks(ids=("a", "b"), scores=(0.8, 0.9), tenants=("y", "x"))

    def test_a_rerank_inside_a_retrieval_is_that_retrievals(self):
        path = path_of(
            workflow(1),
            stage(2, found("b", "a"), 1, took=9),
            stage(3, Rerank(step="r", ids=("b", "a"), scores=(0.9, 0.8)), 2, 1),
            stage(4, found("c"), 1, 20),
        )
        assert [step.stage.reranked for step in path.retrievals] == [Rerank(ids=("b", "a"), scores=(0.9, 0.8)), None]
        assert [each.id for each in path.reranked] == ["b", "a"]

    def test_a_filter_inside_a_retrieval_kept_nothing_from_what_others_returned(self):
        inside = [
            stage(2, found("a"), 1, took=9),
            stage(3, Filtering(step="f", kept=("a",), dropped=("b",)), 2, 1),
            stage(4, found("c"), 1, 20),
        ]
        path = path_of(workflow(1), *inside)
        assert path.filtered == Filtered(kept=("a", "c"), dropped=(Drop("b", None, "f"),))
        path = path_of(workflow(1), *inside, stage(5, Filtering(step="g", kept=("c",), dropped=("a",)), 1, 30))
        assert path.filtered.kept == ("c",)
        assert [each.id for each in path.filtered.dropped] == ["b", "a"]

    def test_one_that_failed_before_it_could_say_what_it_is_is_a_retrieval(self):
        path = path_of(workflow(1), S(2, 1, attributes={a.OPERATION: "retrieval"}, error="TimeoutError"))
        assert path.retrievals[0].error == "TimeoutError"

    def test_passages_of_a_prompt_that_no_retrieval_returned_were_not_captured(self):
        """A node's cache, a thread's state, a part that is not in the source."""
        path = path_of(workflow(1), stage(2, drafted("a"), 1))
        assert path.retrieved is None
        assert "retrieved" in path.not_captured
        assert path_of(workflow(1), stage(2, drafted(), 1)).retrieved == Chunks()

    def test_a_list_that_was_cut_is_named(self):
        path = path_of(workflow(1), S(2, 1, attributes=encode(found("a", "b", "c"), cap=2)))
        assert path.retrieved == Chunks(ids=("a", "b"), count=3)
        assert {"retrieved", "retrievals.documents"} <= set(path.not_captured)

    def test_a_cut_list_stays_cut_in_the_union(self):
        path = path_of(workflow(1), S(2, 1, attributes=encode(found("a", "b", "c"), cap=2)), stage(3, found("b"), 1, 1))
        assert path.retrieved == Chunks(ids=("a", "b"), count=3)


@st.composite
def rows_of_filters(draw):
    """A branch: each filter is given what the one before kept, or some of that."""
    names = draw(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1))
    row = []
    for _ in range(draw(st.integers(1, 3))):
        kept = [name for name in names if draw(st.booleans())]
        row.append(Filtering(kept=tuple(kept), dropped=tuple(name for name in names if name not in kept)))
        if not kept:
            break
        names = draw(st.lists(st.sampled_from(kept), unique=True, min_size=1))
    return row


ROW_OF_FILTERS = rows_of_filters()


def named(step: Filtering, prefix: str) -> Filtering:
    return Filtering(kept=tuple(prefix + name for name in step.kept), dropped=tuple(prefix + n for n in step.dropped))


class TestDecisions:
    def test_several_filters_in_a_row(self):
        path = path_of(
            workflow(1),
            stage(2, Filtering(step="fresh", kept=("a", "b"), dropped=("c",), reasons=("stale",)), 1, 1),
            stage(3, Filtering(step="score", kept=("a",), dropped=("b",)), 1, 2),
        )
        assert path.filtered == Filtered(kept=("a",), dropped=(Drop("c", "stale", "fresh"), Drop("b", None, "score")))

    @given(st.data())
    def test_branches_on_sets_of_their_own_keep_their_union_however_they_interleave(self, data):
        """Contracts 1, read for branches: in each of them the last one's."""
        branches = data.draw(st.lists(ROW_OF_FILTERS, min_size=1, max_size=3))
        rows = [[named(step, f"{place}-") for step in row] for place, row in enumerate(branches)]
        waiting, spans = [list(row) for row in rows], [workflow(1)]
        while any(waiting):
            row = data.draw(st.sampled_from([row for row in waiting if row]))
            spans.append(stage(len(spans) + 1, row.pop(0), 1, len(spans)))
        kept = path_of(*spans).filtered.kept
        assert sorted(kept) == sorted(name for row in rows for name in row[-1].kept)

    def test_one_behind_others_decides_about_what_they_let_through(self):
        apart = [
            stage(2, Filtering(kept=("a", "b"), dropped=("c",)), 1, 1),
            stage(3, Filtering(kept=("x", "y"), dropped=("z",)), 1, 2),
        ]
        behind = {
            ("a", "b", "x", "y"): Filtering(kept=("a", "x"), dropped=("b", "y")),
            ("a", "x"): Filtering(kept=("a",), dropped=("x",)),  # b and y fell in between
            ("a",): Filtering(kept=("a",)),
            (): Filtering(kept=()),
        }
        left = [path_of(workflow(1), *apart, stage(4, last, 1, 3)).filtered.kept for last in behind.values()]
        assert left == [("a", "x"), ("a",), ("x", "y", "a"), ()]

    def test_a_second_search_that_found_some_again_leaves_the_others(self):
        first = stage(2, Filtering(kept=("a", "b"), dropped=("c",)), 1, 1)
        second = stage(3, Filtering(kept=("d",), dropped=("b",)), 1, 2)
        assert path_of(workflow(1), first, second).filtered.kept == ("a", "d")

    def test_what_was_made_of_passages_stands_for_them(self):
        split = Retrieval(documents=Chunks(ids=("a1", "a2"), parents=("a", "a")))
        path = path_of(
            workflow(1),
            stage(2, found("a", "b"), 1, 1),
            stage(3, Filtering(kept=("a",), dropped=("b",)), 1, 2),
            stage(4, split, 1, 3),
            stage(5, Filtering(kept=("a2",), dropped=("a1",)), 1, 4),
        )
        assert path.filtered.kept == ("a2",)

    def test_nothing_kept_is_a_fact(self):
        path = path_of(workflow(1), stage(2, Filtering(kept=(), dropped=("a",)), 1))
        assert path.filtered.kept == ()
        assert "filtered" not in path.not_captured

    def test_a_search_beside_the_filtered_one_does_not_look_filtered_out(self):
        """Decided by a prompt that its passages stood in, or by its having come later."""
        dense, fresh = stage(2, found("a", "b"), 1, 1), stage(3, Filtering(kept=("a",), dropped=("b",)), 1, 5)
        seen = path_of(workflow(1), dense, stage(4, found("c", "d"), 1, 1), fresh, stage(5, drafted("a", "c"), 1, 9))
        later = path_of(workflow(1), dense, fresh, stage(4, found("c", "d"), 1, 8))
        for path in (seen, later):
            assert path.filtered.kept == ("a", "c", "d")
            assert "filtered.kept" in path.inferred
            assert "filtered.kept" not in path.not_captured

    def test_where_it_cannot_be_decided_what_passed_was_not_captured(self):
        spans = [workflow(1), stage(2, found("a", "b"), 1, 1), stage(4, found("c"), 1, 1), stage(5, drafted("a"), 1, 9)]
        path = path_of(*spans, stage(3, Filtering(kept=("a",), dropped=("b",)), 1, 5))
        assert path.filtered.kept == ("a",)
        assert "filtered.kept" in path.not_captured
        whole = path_of(*spans, stage(3, Filtering(kept=("a",), dropped=("b", "c")), 1, 5))
        assert "filtered.kept" not in (*whole.not_captured, *whole.inferred)
        kept_alone = path_of(*spans, stage(3, Filtering(kept=("a",)), 1, 5))
        assert "filtered.kept" not in (*kept_alone.not_captured, *kept_alone.inferred)

    def test_of_one_that_told_only_its_drops_the_rest_was_kept_inferred(self):
        """Nothing was said of what passed: that is not, that nothing did."""
        check = PermissionCheck(ids=("d",), decisions=("deny",))
        spans = [workflow(1), stage(2, found("a", "b", "c", "d"), 1), stage(3, check, 1, 1)]
        path = path_of(*spans, stage(4, Filtering(kept=None, dropped=("b",), reasons=("stale",)), 1, 2))
        assert path.filtered == Filtered(kept=("a", "c"), dropped=(Drop("b", "stale", None),))
        assert "filtered.kept" in path.inferred

    def test_behind_another_filter_it_leaves_of_what_that_one_kept(self):
        spans = [workflow(1), stage(2, found("a", "b", "c"), 1), stage(3, Filtering(kept=("a", "b")), 1, 1)]
        path = path_of(*spans, stage(4, Filtering(kept=None, dropped=("b",)), 1, 2))
        assert path.filtered.kept == ("a",)
        assert "filtered.kept" in path.inferred

    def test_where_no_set_is_known_what_it_kept_was_not_captured(self):
        path = path_of(workflow(1), stage(2, Filtering(kept=None, dropped=("b",)), 1), stage(3, drafted("a"), 1, 1))
        assert path.filtered == Filtered(kept=None, dropped=(Drop("b", None, None),))
        assert "filtered.kept" in path.not_captured
        assert "filtered.kept" not in path.inferred

    def test_a_filter_whose_list_was_not_captured_is_named(self):
        path = path_of(workflow(1), S(2, 1, attributes={a.STAGE: "filter"}))
        assert path.filtered is None
        assert "filtered" in path.not_captured

    def test_permissions_name_id_decision_reason_and_policy(self):
        check = PermissionCheck(ids=("a", "b"), decisions=("allow", "deny"), reasons=(None, "foreign"), policy="v7")
        path = path_of(workflow(1), stage(2, check, 1), stage(3, check, 1, 1))
        assert path.permissions == (Permission("a", "allow", None, "v7"), Permission("b", "deny", "foreign", "v7"))

    def test_the_last_reranker_counts(self):
        path = path_of(
            workflow(1),
            stage(2, Rerank(ids=("b", "a")), 1, 1),
            stage(3, Rerank(ids=("a", "b"), scores=(0.5, None)), 1, 2),
        )
        assert path.reranked == (Ranked("a", 1, 0.5), Ranked("b", 2, None))

    def test_cut_lists_are_named(self):
        check = PermissionCheck(ids=("a", "b"), decisions=("allow", "deny"))
        path = path_of(
            workflow(1),
            S(2, 1, attributes=encode(Filtering(kept=("a", "b"), dropped=("c", "d")), cap=1)),
            S(3, 1, attributes=encode(check, cap=1)),
            S(4, 1, attributes=encode(Rerank(ids=("a", "b")), cap=1)),
            S(5, 1, 9, attributes=encode(drafted("a", "b"), cap=1)),
        )
        names = {"filtered.kept", "filtered.dropped", "permissions", "reranked", "context", "generations.context"}
        assert names <= set(path.not_captured)


class TestAnswer:
    def test_the_roots_own_words_count(self):
        answer = Answer(outcome="partial", content=Content(length=3, text="yes"), citations=Citations(ids=("a",)))
        path = path_of(workflow(1, Root(answer=answer)), stage(2, drafted("a"), 1))
        assert path.answer == answer
        assert path.citations == Citations(ids=("a",))
        assert path.inferred == ()

    def test_without_generation_and_error_it_abstained_and_the_context_is_empty(self):
        path = path_of(workflow(1), stage(2, found("a"), 1))
        assert path.answer == Answer(outcome="abstained")
        assert path.context == ContextAssembly()
        assert path.citations == Citations()
        assert path.inferred == ("answer.outcome",)

    def test_a_run_that_failed_ended_in_error(self):
        path = path_of(workflow(1, error="builtins.ValueError"))
        assert (path.error, path.answer) == ("builtins.ValueError", Answer(outcome="error"))

    @pytest.mark.parametrize("calls", [[], [stage(2, drafted("half of it [a]"), 1, error="builtins.ValueError")]])
    def test_what_it_cited_by_then_nobody_knows(self, calls):
        """Contracts 1: `[]` only without an error; a stream that breaks off has been read up to there."""
        path = path_of(workflow(1, error="builtins.ValueError"), *calls)
        assert (path.retrieved, path.context, path.citations) == (None, None, None)
        assert {"retrieved", "context", "citations"} <= set(path.not_captured)

    def test_where_the_root_is_silent_the_last_calls_text_is_the_answer_and_inferred(self):
        path = path_of(workflow(1), stage(2, drafted("a", output=Content(length=2, text="ok")), 1))
        assert path.answer == Answer(outcome="answered", content=Content(length=2, text="ok"))
        assert set(path.inferred) == {"answer.outcome", "answer.text"}
        assert path.citations is None

    def test_of_one_that_was_broken_off_it_is_no_more_than_what_was_written(self):
        """Must-handle 16: LangChain ends the call of a stream that is collected, and never its fallback."""
        root = workflow(1, attributes={a.PARTIAL: True})
        path = path_of(root, stage(2, drafted("a", output=Content(length=2, text="ok")), 1))
        assert path.answer == Answer(content=Content(length=2, text="ok"))
        assert set(path.inferred) == {"answer.text"}

    def test_an_answer_on_a_span_of_its_own_is_read(self):
        path = path_of(workflow(1), stage(2, drafted("a"), 1), stage(3, Answer(outcome="clarification"), 1, 5))
        assert path.answer == Answer(outcome="clarification")


class TestAnsweringGeneration:
    """Context belongs to a generation; the path's is that of the one that answered."""

    SAID = Root(answer=Answer(outcome="answered", content=Content(length=4, digest="d1")))

    def test_the_call_with_the_answers_role(self):
        path = path_of(
            workflow(1), stage(2, drafted("a", role="answer"), 1, 1), stage(3, drafted("b", role="validate"), 1, 2)
        )
        assert (path.answer_generation, path.context) == (0, ContextAssembly(ids=("a",)))
        assert [step.stage.context.ids for step in path.generations] == [("a",), ("b",)]

    def test_the_call_whose_output_is_the_answer(self):
        path = path_of(
            workflow(1, self.SAID),
            stage(2, drafted("a", output=Content(length=4, digest="d1")), 1, 1),
            stage(3, drafted("b", output=Content(length=4, digest="d2")), 1, 2),
        )
        assert (path.answer_generation, path.inferred) == (0, ())

    def test_of_several_of_that_length_it_is_the_last(self):
        """A map-reduce: the reducing call saw summaries, no passages."""
        path = path_of(
            workflow(1, self.SAID),
            stage(2, drafted("a", output=Content(length=4)), 1, 1),
            stage(3, drafted(output=Content(length=4)), 1, 2),
        )
        assert path.answer_generation == 1
        assert "answer.generation" in path.inferred

    def test_by_length_it_is_a_guess_and_so_is_the_context(self):
        path = path_of(
            workflow(1, self.SAID),
            stage(2, drafted("a", output=Content(length=4)), 1, 1),
            stage(3, drafted("b", output=Content(length=9)), 1, 2),
        )
        assert (path.answer_generation, path.inferred) == (0, ("answer.generation", "context"))

    def test_a_guess_that_changes_nothing_about_the_context_leaves_it_observed(self):
        path = path_of(workflow(1, self.SAID), stage(2, drafted("a"), 1, 1), stage(3, drafted("a"), 1, 2))
        assert (path.answer_generation, path.inferred) == (1, ("answer.generation",))

    def test_the_last_that_saw_passages_comes_before_the_last(self):
        path = path_of(workflow(1, self.SAID), stage(2, drafted("a"), 1, 1), stage(3, Generation(), 1, 2))
        assert path.answer_generation == 0

    def test_a_call_inside_a_retrieval_never_answers(self):
        path = path_of(
            workflow(1), stage(2, found("a"), 1, 1, took=9), stage(3, drafted(output=Content(length=1)), 2, 2)
        )
        assert path.answer_generation is None
        assert len(path.generations) == 1

    def test_a_call_that_failed_does_not_answer(self):
        path = path_of(workflow(1), stage(2, drafted("a"), 1, 1), stage(3, drafted("b"), 1, 2, error="TimeoutError"))
        assert path.answer_generation == 0

    @pytest.mark.parametrize("answer", [None, Answer(outcome="error"), Answer(outcome="partial", confidence=0.5)])
    def test_a_run_that_failed_has_no_answer_and_shows_the_last_prompt_as_a_guess(self, answer):
        calls = [stage(2, drafted("a"), 1, 1), stage(3, drafted("b", role="answer"), 1, 2)]
        path = path_of(workflow(1, Root(answer=answer), error="ValueError"), *calls)
        assert (path.answer_generation, path.inferred) == (None, ("context",))
        assert path.context == ContextAssembly(ids=("b",))
        assert path_of(workflow(1, error="ValueError")).inferred == ()

    def test_a_text_that_came_before_the_failure_is_an_answer(self):
        path = path_of(workflow(1, self.SAID, error="ValueError"), stage(2, drafted("a"), 1, 1))
        assert (path.answer_generation, path.inferred) == (0, ())

    def test_what_pauses_has_no_answer_yet(self):
        asked = node(3, Node(name="ask", task_id="t", outcome="interrupted"), 1, 3)
        path = path_of(workflow(1), stage(2, drafted("a"), 1, 1), asked)
        assert (path.answer, path.answer_generation, path.inferred) == (None, None, ("context",))

    def test_another_calls_missing_context_is_not_the_paths(self):
        missing = {a.NOT_CAPTURED: ("context",)}
        path = path_of(
            workflow(1), stage(2, Generation(role="rewrite"), 1, 1, attributes=missing), stage(3, drafted("a"), 1, 2)
        )
        assert "context" not in path.not_captured
        assert "generations.context" in path.not_captured

    def test_its_own_is(self):
        path = path_of(workflow(1), stage(2, Generation(), 1, 1, attributes={a.NOT_CAPTURED: ("context",)}))
        assert path.context is None
        assert "context" in path.not_captured


def test_a_context_step_fills_in_where_the_prompt_was_not_searched():
    told = ContextAssembly(step="pack", ids=("a",), budget=Budget(limit=620, used=300, tokenizer="chars/4"))
    path = path_of(workflow(1), stage(2, told, 1, 1), stage(3, Generation(), 1, 2))
    assert path.context == told
    assert path.budget == told.budget


def test_tools_and_their_retrievals():
    path = path_of(workflow(1), stage(2, ToolCall(name="search", call_id="c"), 1, took=9), stage(3, found("a"), 2, 1))
    assert path.tools[0].stage == ToolCall(name="search", call_id="c")
    assert path.retrieved == Chunks(ids=("a",))


class TestCost:
    """must-handle 11, 12, 35."""

    USED = Generation(model="gpt-4o-mini", provider="openai", input_tokens=1_000_000, output_tokens=0)

    def test_it_is_the_sum_over_model_calls(self):
        path = path_of(workflow(1), stage(2, self.USED, 1, 1), stage(3, self.USED, 1, 2))
        assert path.cost_usd == pytest.approx(0.3)

    def test_usage_on_a_wrapper_is_not_counted_again(self):
        total = {a.INPUT_TOKENS: 5_000_000, a.OUTPUT_TOKENS: 1, a.REQUEST_MODEL: "gpt-4o-mini", a.PROVIDER: "openai"}
        path = path_of(workflow(1, attributes=total), stage(2, self.USED, 1, 1))
        assert path.cost_usd == pytest.approx(0.15)

    def test_one_unknown_makes_the_whole_unknown(self):
        path = path_of(workflow(1), stage(2, self.USED, 1, 1), stage(3, Generation(model="gpt-4o-mini"), 1, 2))
        assert path.cost_usd is None
        assert {"cost_usd", "generations.cost_usd", "generations.input_tokens"} <= set(path.not_captured)

    def test_no_call_costs_nothing(self):
        assert path_of(workflow(1)).cost_usd == 0


class TestTime:
    def test_what_runs_side_by_side_counts_once(self):
        path = path_of(
            workflow(1, took=40),
            stage(2, found("a"), 1, 0, took=10),
            stage(3, found("b"), 1, 5, took=10),
            stage(4, found("c"), 1, 30, took=2),
        )
        assert dict(path.stage_latency_ms) == {"retrieval": 17}
        assert path.latency_ms == 40

    def test_kinds_come_in_the_order_of_their_first_start(self):
        path = path_of(workflow(1), stage(2, Filtering(kept=("a",)), 1, 9), stage(3, found("a"), 1, 1))
        assert [kind for kind, _ in path.stage_latency_ms] == ["retrieval", "filter"]

    def test_an_instant_that_is_missing_is_not_captured(self):
        path = path_of(replace(workflow(1), end=0))
        assert path.latency_ms is None
        assert "latency_ms" in path.not_captured


def test_content_that_was_held_back_is_named():
    path = path_of(workflow(1, Root(question=Content(length=9))), stage(2, Retrieval(query=Content(length=9)), 1))
    assert {"question", "retrievals.query"} <= set(path.not_captured)


def test_notes_of_the_spans_are_kept():
    marks = {a.INFERRED: ("retrievals",), a.NOT_CAPTURED: ("identity",)}
    path = path_of(workflow(1, attributes={a.PARTIAL: True}), stage(2, found("a"), 1, attributes=marks))
    assert "retrievals" in path.inferred
    assert "identity" in path.not_captured
    assert path.partial


def test_a_step_that_was_broken_off_does_not_make_the_question_partial():
    assert not path_of(workflow(1), stage(2, found("a"), 1, attributes={a.PARTIAL: True})).partial
