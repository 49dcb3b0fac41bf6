"""What only the app knows, told from inside of steps, tools and functions (checklist 99, 126)."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph

from rag_probe import attributes as a
from rag_probe import stage, tell
from rag_probe.path import Verdict
from rag_probe.policy import CapturePolicy
from rag_probe.stages import Content
from rag_probe_langchain.tokens import Tokenizer
from tests.scenarios.recording import paths_of

from .apps import ANSWER, Scripted, Search, as_text, passages, rag
from .recorded import Recorder, assert_well_formed

QUESTION = "How long do I have?"


def check(found):
    with stage("permission", policy="v7") as decided:
        for each in found:
            if each.id == "staff":
                decided.deny(each.id, "role_not_granted")
            else:
                decided.allow(each.id)
    return [each for each in found if each.id != "staff"]


async def acheck(found):
    await asyncio.sleep(0)
    return check(found)


@pytest.mark.parametrize("how", ["sync", "async", "marked", "nested"])
def test_a_told_check_is_recorded_once_with_its_reasons(how):
    recorder = Recorder()
    step = RunnableLambda(acheck if how == "async" else check)
    if how == "marked":
        step = step.with_config(metadata={"rag.stage": "permission"})
    if how == "nested":
        step = RunnableLambda(lambda found: RunnableLambda(check).invoke(found))
    chain = rag(steps=step)
    if how == "async":
        asyncio.run(chain.ainvoke(QUESTION, recorder.config))
    else:
        chain.invoke(QUESTION, recorder.config)
    told = [span.attributes for span in recorder.named("rag.permission") if a.PERMISSION_IDS in span.attributes]
    assert len(told) == 1
    assert told[0][a.PERMISSION_POLICY] == "v7"
    assert told[0][a.PERMISSION_DECISIONS] == ("allow", "allow", "allow", "deny", "allow")
    assert told[0][a.PERMISSION_REASONS] == ("role_not_granted",)
    assert recorder.named("rag.filter") == []
    assert a.CONTEXT_DROPPED not in recorder.one("chat")
    assert_well_formed(recorder.spans)


def test_what_a_told_check_does_not_explain_is_still_inferred():
    def step(found):
        return check(found)[:2]

    recorder = Recorder()
    rag(steps=RunnableLambda(step)).invoke(QUESTION, recorder.config)
    kept = recorder.one("rag.filter step")
    assert kept[a.FILTER_DROPPED] == ("gift", "old")
    assert recorder.names()[2:4] == ["  rag.permission step", "  rag.filter step"]


def test_denials_alone_leave_the_rest():
    def step(found):
        with stage("permission") as decided:
            decided.deny("staff", "not_yours")
        return [each for each in found if each.id != "staff"]

    recorder = Recorder()
    rag(steps=RunnableLambda(step)).invoke(QUESTION, recorder.config)
    assert recorder.one("rag.permission")[a.PERMISSION_IDS] == ("staff",)
    assert recorder.named("rag.filter") == []


def test_drops_alone_leave_the_rest_inferred():
    """Nobody said what passed: that is not, that nothing did."""

    def step(found):
        with stage("filter", "fresh") as told:
            told.drop("old", "stale")
        return [each for each in found if each.id != "old"]

    recorder = Recorder()
    rag(steps=RunnableLambda(step)).invoke(QUESTION, recorder.config)
    (path,) = paths_of(recorder.spans)
    assert path.filtered.kept == tuple(name for name in path.retrieved.ids if name != "old") != ()
    assert [(each.id, each.reason, each.step) for each in path.filtered.dropped] == [("old", "stale", "fresh")]
    assert "filtered.kept" in path.inferred


def test_a_filter_that_says_that_nothing_passed_is_believed():
    def step(found):
        with stage("filter") as told:
            told.keep()
            told.drop("old")
        return []

    recorder = Recorder()
    rag(steps=RunnableLambda(step)).invoke(QUESTION, recorder.config)
    (path,) = paths_of(recorder.spans)
    assert (path.filtered.kept, path.context.ids) == ((), ())


def test_everything_denied_leaves_an_empty_context():
    def step(found):
        with stage("permission") as decided:
            for each in found:
                decided.deny(each.id, "foreign_tenant")
        return []

    recorder = Recorder()
    rag(steps=RunnableLambda(step)).invoke(QUESTION, recorder.config)
    assert recorder.one("chat")[a.CONTEXT_COUNT] == 0


def test_the_budget_stands_beside_the_context():
    def build(found):
        tell.budget(limit=620)
        return as_text(found[:2])

    recorder = Recorder()
    (Search(found=passages()) | build | Scripted(answers=[ANSWER])).invoke(QUESTION, recorder.config)
    call = recorder.one("chat")
    assert (call[a.BUDGET_LIMIT], call[a.BUDGET_USED], call[a.BUDGET_TOKENIZER]) == (620, 38, "estimate:chars/4")
    assert call[a.CONTEXT_DROPPED] == ("gift", "staff", "old")


def test_a_budget_in_other_tokens_is_not_mixed_with_ours():
    def build(found):
        tell.budget(limit=50, tokenizer="words")
        return as_text(found)

    recorder = Recorder()
    (Search(found=passages()) | build | Scripted(answers=[ANSWER])).invoke(QUESTION, recorder.config)
    call = recorder.one("chat")
    assert (call[a.BUDGET_LIMIT], call[a.BUDGET_TOKENIZER]) == (50, "words")
    assert a.BUDGET_USED not in call

    counted = Recorder(tokenizer=Tokenizer("words", lambda text: len(text.split())))
    (Search(found=passages()) | build | Scripted(answers=[ANSWER])).invoke(QUESTION, counted.config)
    assert counted.one("chat")[a.BUDGET_USED] == sum(counted.one("chat")[a.CONTEXT_TOKENS])


def test_reasons_told_of_a_context_reach_the_prompt_it_became():
    def build(found):
        with stage("context", limit=40) as told:
            told.add("returns", tokens=20)
            for each in found[1:]:
                told.drop(each.id, "budget")
        return as_text(found[:1])

    recorder = Recorder()
    (Search(found=passages("returns", "sale", "gift")) | build | Scripted(answers=[ANSWER])).invoke(
        QUESTION, recorder.config
    )
    call = recorder.one("chat")
    assert call[a.CONTEXT_DROPPED] == ("sale", "gift")
    assert call[a.CONTEXT_DROPPED_REASONS] == ("budget", "budget")


def test_outcome_and_confidence_are_not_inferred_then():
    def answer(text):
        tell.outcome("abstained")
        tell.confidence(0.25)
        return "Please ask the desk."

    recorder = Recorder()
    (rag() | answer).invoke(QUESTION, recorder.config)
    root = recorder.one("invoke_workflow")
    assert root[a.ANSWER_OUTCOME] == "abstained"
    assert root[a.ANSWER_CONFIDENCE] == 0.25
    assert a.INFERRED not in root


def test_an_outcome_may_come_from_a_callable():
    recorder = Recorder(outcome=lambda output: "clarification" if "?" in output else None)
    rag(model=Scripted(answers=["Which article?"])).invoke(QUESTION, recorder.config)
    assert recorder.one("invoke_workflow")[a.ANSWER_OUTCOME] == "clarification"
    assert a.INFERRED not in recorder.one("invoke_workflow")


@pytest.mark.parametrize(("text", "outcome"), [("Hello.", "answered"), ("", "abstained"), (" \n", "abstained")])
def test_else_the_outcome_is_inferred_from_the_text(text, outcome):
    recorder = Recorder()
    rag(model=Scripted(answers=[text])).invoke(QUESTION, recorder.config)
    root = recorder.one("invoke_workflow")
    assert (root[a.ANSWER_OUTCOME], root[a.INFERRED]) == (outcome, ("answer.outcome",))


def test_no_model_call_and_no_error_is_abstention():
    recorder = Recorder()
    (Search(found=[]) | RunnableLambda(lambda found: "I do not know.")).invoke(QUESTION, recorder.config)
    assert recorder.one("invoke_workflow")[a.ANSWER_OUTCOME] == "abstained"


def test_told_citations_are_checked_against_what_the_model_saw():
    def cite(text):
        tell.citations(["sale", "old"])
        return text

    recorder = Recorder()
    (rag() | cite).invoke(QUESTION, recorder.config)
    root = recorder.one("invoke_workflow")
    assert root[a.CITATION_IDS] == ("sale", "old")
    assert root[a.CITATION_VALID] == (True, False)


def test_an_identity_may_be_told_later():
    def who(found):
        tell.identity(tenant="acme", subject="kim")
        return found

    recorder = Recorder()
    rag(steps=RunnableLambda(who)).invoke(QUESTION, recorder.config)
    root = recorder.one("invoke_workflow")
    assert (root[a.IDENTITY_TENANT], root[a.USER_ID]) == ("acme", "kim")


def test_each_verdict_stands_on_the_root_with_the_step_that_told_it():
    """Issue C, validation: a plain step, a node with its graph's step, and a tool inside a node."""

    @tool
    def strict(text: str) -> str:
        """Look at it again."""
        tell.verdict(True, text)
        return text

    def validate(state):
        tell.verdict(False, state["answer"])
        return {"answer": strict.invoke({"text": "short"})}

    graph = StateGraph(dict)
    graph.add_node("validate", validate)
    graph.add_edge(START, "validate")

    def check(text):
        tell.verdict(True, text)
        return {"answer": text}

    recorder = Recorder()
    (RunnableLambda(check) | graph.compile()).invoke(QUESTION, recorder.config)
    root = recorder.one("invoke_workflow RunnableSequence")
    assert root[a.VERDICT_PASSED] == (True, False, True)
    assert root[a.VERDICT_NODES] == ("check", "validate", "validate")
    assert (root[a.VERDICT_STEPS], root[a.VERDICT_STEPS + "_at"]) == ((1, 1), (1, 2))
    assert root[a.VERDICT_LENGTHS] == (len(QUESTION), len(QUESTION), 5)
    assert a.VERDICT_DIGESTS not in root
    (path,) = paths_of(recorder.spans)
    assert path.verdicts == (
        Verdict(True, "check", None, Content(length=len(QUESTION))),
        Verdict(False, "validate", 1, Content(length=len(QUESTION))),
        Verdict(True, "validate", 1, Content(length=5)),
    )


def test_more_verdicts_than_fit_are_counted_and_named_as_a_gap():
    def check(text):
        for _ in range(3):
            tell.verdict(True, text)

    recorder = Recorder(policy=CapturePolicy(max_items=2))
    RunnableLambda(check).invoke(QUESTION, recorder.config)
    root = recorder.one("invoke_workflow")
    assert (root[a.VERDICT_PASSED], root[a.VERDICT_COUNT]) == ((True, True), 3)
    (path,) = paths_of(recorder.spans)
    assert len(path.verdicts) == 2
    assert "verdicts" in path.not_captured


def test_a_stage_told_inside_a_tool_stands_under_it():
    @tool
    def look(query: str) -> str:
        """Look it up."""
        with stage("filter") as kept:
            kept.keep("gift")
        return "found"

    recorder = Recorder()
    (RunnablePassthrough() | RunnableLambda(lambda question: look.invoke({"query": question}))).invoke(
        QUESTION, recorder.config
    )
    assert recorder.names()[1:] == ["  execute_tool look", "    rag.filter look"]


def test_a_block_that_fails_says_so():
    def step(found):
        with stage("filter") as kept:
            kept.keep("gift")
            raise KeyError("secret")

    recorder = Recorder()
    with pytest.raises(KeyError):
        rag(steps=RunnableLambda(step)).invoke(QUESTION, recorder.config)
    assert recorder.one("rag.filter")[a.ERROR_TYPE] == "KeyError"


@pytest.mark.parametrize(("said", "kept"), [(["returns"], ("returns",)), ([], None)])
def test_a_wrong_call_inside_a_block_loses_nothing_that_was_said(said, kept):
    """Nothing said is not captured, and named so; that it failed is seen."""

    def step(found):
        with stage("permission", "acl") as check:
            for each in said:
                check.allow(each)
            check.allow()

    recorder = Recorder()
    with pytest.raises(TypeError):
        rag(steps=RunnableLambda(step)).invoke(QUESTION, recorder.config)
    check = recorder.one("rag.permission acl")
    assert (check.get(a.PERMISSION_IDS), check[a.ERROR_TYPE]) == (kept, "TypeError")
    (path,) = paths_of(recorder.spans)
    assert ("permissions" in path.not_captured) is (kept is None)


def test_outside_of_any_run_nothing_happens():
    tell.outcome("abstained")
    with stage("permission") as decided:
        decided.allow("gift")
