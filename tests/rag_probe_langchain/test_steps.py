"""Documents are followed through plain functions: what a step did to them is seen from what went in and came out."""

from __future__ import annotations

from dataclasses import dataclass, field
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough

from rag_probe import attributes as a
from rag_probe_langchain import steps

from .apps import ANSWER, TEXTS, Nested, Scripted, Search, as_text, passages, rag
from .recorded import Recorder, assert_well_formed

QUESTION = "How long do I have?"


def run(*steps, found=None, **options):
    """The stages between retrieval and the prompt, as lines."""
    recorder = Recorder(**options)
    chain = Search(found=found or passages())
    for step in steps:
        chain = chain | step
    rag(search=chain, steps=RunnablePassthrough()).invoke(QUESTION, recorder.config)
    assert_well_formed(recorder.spans)
    lines = recorder.lines("rag.filter", "rag.rerank", "rag.permission", "rag.context.dropped")
    return [line.strip() for line in lines if line.strip().startswith(("rag.filter", "rag.rerank", "rag.permission"))]


def first_two(found):
    return found[:2]


def turned(found):
    return list(reversed(found))


FIRST_TWO = 'rag.filter first_two | rag.filter.dropped=["gift", "staff", "old"] rag.filter.kept=["returns", "sale"]'


def test_a_subset_is_filtering():
    assert run(first_two) == [FIRST_TWO]


def picking(places):
    def pick(found):
        return [found[place % len(found)] for place in places if found]

    return pick


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 4), max_size=6), min_size=1, max_size=3))
def test_the_usual_filter_is_seen_at_a_glance_as_it_would_be_by_a_look(picks):
    """Issue B, speed."""
    functions = [picking(places) for places in picks]
    at_a_glance = run(*functions)
    with patch.object(steps, "_thinned", lambda *_: False):
        assert run(*functions) == at_a_glance


def test_the_same_list_is_plumbing():
    assert run(lambda found: found, RunnablePassthrough(), list, tuple) == []


def test_another_order_is_a_rerank():
    assert run(turned) == [
        'rag.rerank turned | rag.rerank.ids=["old", "staff", "gift", "sale", "returns"]'
        " rag.rerank.scores=[0.6, 0.7, 0.8, 0.9, 1.0]"
    ]


def test_other_scores_are_a_rerank():
    def rescored(found):
        return [
            Document(id=each.id, page_content=each.page_content, metadata={**each.metadata, "relevance_score": place})
            for place, each in enumerate(found)
        ]

    (line,) = run(rescored)
    assert line.startswith("rag.rerank rescored")
    assert line.endswith("rag.rerank.scores=[0.0, 1.0, 2.0, 3.0, 4.0]")


@pytest.mark.parametrize("pairs", [False, True])
def test_a_passage_that_stands_in_a_list_twice_with_two_scores_was_not_rescored(pairs):
    """As where all chunks of a document go by its id: which of them has which score is not known."""
    found = [
        Document(id=name, page_content=f"{name} {place}", metadata={} if pairs else {"score": 1 - place / 10})
        for place, name in enumerate("aab")
    ]

    def scored(found):
        return [(each, 1 - place / 10) for place, each in enumerate(found)]

    def bare(found):
        return [each[0] if pairs else each for each in found]

    kept = (scored, list, tuple) if pairs else (list, tuple)
    assert run(*kept, bare, found=found) == []
    (line,) = run(*kept, turned, bare, found=found)
    assert line == (
        'rag.rerank turned | rag.rerank.ids=["b", "a", "a"] rag.rerank.scores=[0.8] rag.rerank.scores_at=[0]'
    )


def test_the_best_of_another_order_is_a_rerank_and_a_filter():
    def best(found):
        return sorted(found, key=lambda each: each.id)[:3]

    lines = run(best)
    assert [line.split(" |")[0] for line in lines] == ["rag.rerank best", "rag.filter best"]
    assert 'rag.filter.dropped=["sale", "staff"]' in lines[1]


def test_copies_of_passages_are_the_same_passages():
    def copied(found):
        return [each.model_copy() for each in found if each.id != "old"]

    (line,) = run(copied)
    assert 'dropped=["old"]' in line


def test_a_list_changed_in_place_is_seen():
    def cut(found):
        del found[2:]
        return found

    (line,) = run(cut)
    assert line == FIRST_TWO.replace("first_two", "cut")


def test_a_sort_in_place_is_seen():
    def sort(found):
        found.sort(key=lambda each: each.id)
        return found

    (line,) = run(sort)
    assert line.startswith('rag.rerank sort | rag.rerank.ids=["gift", "old"')


def test_a_passage_that_two_searches_gave_two_scores_was_not_rescored_by_whoever_copies_both():
    first, second = passages("staff"), passages("gift", "staff")
    searches = RunnableParallel(one=Search(found=first), two=Search(found=second))

    def both(found):
        return found["one"] + found["two"]

    def copied(found):
        return [each.model_copy() for each in found]

    app = rag(steps=RunnableLambda(lambda found: QUESTION) | searches | both | copied)
    recorder = Recorder()
    app.invoke(QUESTION, {**recorder.config, "max_concurrency": 1})
    assert [line for line in recorder.names() if "rag.filter" in line or "rag.rerank" in line] == []


@pytest.mark.parametrize("names", [("few", "many"), ("many", "few")])
def test_searches_side_by_side_filter_nothing_where_one_finds_less(names):
    searches = {"few": Search(found=passages("staff")), "many": Search(found=passages("gift", "staff"))}
    both = RunnableParallel({name: searches[name] for name in names})
    app = rag(steps=RunnableLambda(lambda found: QUESTION) | both | RunnableLambda(lambda found: found["many"]))
    recorder = Recorder()
    app.invoke(QUESTION, {**recorder.config, "max_concurrency": 1})
    assert [line for line in recorder.names() if "rag.filter" in line or "rag.rerank" in line] == []


def test_nothing_kept_is_a_fact():
    recorder = Recorder()
    rag(steps=RunnableLambda(lambda found: []).with_config(run_name="none")).invoke(QUESTION, recorder.config)
    kept = recorder.one("rag.filter")
    assert kept[a.FILTER_KEPT_COUNT] == 0
    assert len(kept[a.FILTER_DROPPED]) == 5
    call = recorder.one("chat")
    assert call[a.CONTEXT_COUNT] == 0
    assert call[a.BUDGET_USED] == 0


def test_passages_with_scores_are_passages():
    def paired(found):
        return [(each, 0.5 - place / 10) for place, each in enumerate(found)]

    def better(pairs):
        return [pair for pair in pairs if pair[1] > 0.35]

    def alone(pairs):
        return [each for each, _ in pairs]

    lines = run(paired, better, alone)
    assert [line.split(" |")[0] for line in lines] == ["rag.rerank paired", "rag.filter better"]
    assert "rag.rerank.scores=[0.5, 0.4, 0.3, 0.2, 0.1]" in lines[0].replace("09999999999999998", "1").replace(
        "30000000000000004", "3"
    )


def test_duplicates_that_fall_are_no_loss():
    assert run(lambda found: [*found, found[0]], lambda found: list({each.id: each for each in found}.values())) == []


def test_a_dict_state_is_followed_by_its_keys():
    recorder = Recorder()
    chain = (
        RunnablePassthrough.assign(found=lambda state: Search(found=passages()).invoke(state["question"]))
        | RunnablePassthrough.assign(kept=lambda state: state["found"][:2])
        | RunnablePassthrough.assign(text=lambda state: as_text(state["kept"]))
        | RunnableLambda(lambda state: Scripted(answers=[ANSWER]).invoke(state["text"]))
    )
    chain.invoke({"question": QUESTION}, recorder.config)
    (only,) = recorder.named("rag.filter")
    assert only.attributes[a.FILTER_KEPT] == ("returns", "sale")
    call = recorder.one("chat")
    assert call[a.CONTEXT_IDS] == ("returns", "sale")
    assert a.CONTEXT_DROPPED not in call
    assert_well_formed(recorder.spans)


def test_a_state_changed_in_place_is_seen():
    def narrow(state):
        state["found"] = state["found"][:2]
        return state

    recorder = Recorder()
    (RunnablePassthrough.assign(found=lambda state: Search(found=passages()).invoke("q")) | narrow).invoke(
        {"question": QUESTION}, recorder.config
    )
    assert recorder.one("rag.filter")[a.FILTER_KEPT] == ("returns", "sale")


@dataclass
class State:
    question: str
    found: list[Document] = field(default_factory=list)


def test_a_state_may_be_a_dataclass():
    recorder = Recorder()
    chain = RunnableLambda(lambda state: State(state.question, Search(found=passages()).invoke("q"))) | RunnableLambda(
        lambda state: State(state.question, state.found[:2])
    ).with_config(run_name="narrow")
    chain.invoke(State(QUESTION), recorder.config)
    assert recorder.one("rag.filter narrow")[a.FILTER_KEPT] == ("returns", "sale")


@dataclass(slots=True)
class Slotted:
    question: str
    found: list[Document] = field(default_factory=list)


def test_a_state_may_be_a_dataclass_with_slots():
    recorder = Recorder()
    search = RunnableLambda(lambda state: Slotted(state.question, Search(found=passages()).invoke("q")))
    narrow = RunnableLambda(lambda state: Slotted(state.question, state.found[:2]))
    (search | narrow.with_config(run_name="narrow")).invoke(Slotted(QUESTION), recorder.config)
    assert recorder.one("rag.filter narrow")[a.FILTER_KEPT] == ("returns", "sale")
    assert recorder.one("invoke_workflow")[a.QUESTION_LENGTH] == len(QUESTION)


def test_what_was_rejected_beside_what_was_kept_is_one_filter():
    def split(found):
        return {"found": found[:3], "rejected": found[3:]}

    recorder = Recorder()
    (Search(found=passages()) | split).invoke(QUESTION, recorder.config)
    (only,) = recorder.named("rag.filter")
    assert only.attributes[a.FILTER_DROPPED] == ("staff", "old")


def test_a_merge_is_no_filter():
    recorder = Recorder()
    one, other = Search(found=passages("gift", "sale")), Search(found=passages("sale", "staff"))

    def merged(both):
        return list({each.id: each for each in [*both["one"], *both["other"]]}.values())

    chain = rag(search={"one": one, "other": other} | RunnableLambda(merged), steps=RunnablePassthrough())
    chain.invoke(QUESTION, recorder.config)
    assert recorder.named("rag.filter") == recorder.named("rag.rerank") == []
    assert len(recorder.named("retrieval")) == 2
    call = recorder.one("chat")
    assert call[a.CONTEXT_IDS] == ("gift", "sale", "staff")
    assert a.CONTEXT_DROPPED not in call


def test_a_merge_that_leaves_something_out_is_a_filter():
    recorder = Recorder()
    one, other = Search(found=passages("gift", "sale")), Search(found=passages("sale", "staff"))
    ({"one": one, "other": other} | RunnableLambda(lambda both: [both["one"][0], both["other"][1]])).invoke(
        QUESTION, recorder.config
    )
    assert recorder.one("rag.filter")[a.FILTER_DROPPED] == ("sale",)


def test_a_step_is_recorded_once_whatever_is_wrapped_around_it():
    wrapped = RunnableLambda(lambda found: RunnableLambda(first_two).invoke(found)).with_config(run_name="outer")
    assert run(wrapped | RunnablePassthrough()) == [FIRST_TWO]


def test_a_step_around_others_answers_for_what_it_did_itself():
    def outer(found):
        return RunnableLambda(first_two).invoke(found)[:1]

    assert run(RunnableLambda(outer)) == [
        FIRST_TWO,
        'rag.filter outer | rag.filter.dropped=["sale"] rag.filter.kept=["returns"]',
    ]


def test_a_function_that_searches_by_itself_is_an_inferred_retrieval():
    recorder = Recorder()
    found = RunnableLambda(lambda question: passages("gift", "sale")).with_config(run_name="my search")
    rag(search=found, steps=RunnablePassthrough()).invoke(QUESTION, recorder.config)
    retrieval = recorder.one("retrieval")
    assert retrieval[a.RETRIEVAL_IDS] == ("gift", "sale")
    assert retrieval[a.STEP_NAME] == "my search"
    assert retrieval[a.RETRIEVAL_QUERY_LENGTH] == len(QUESTION)
    assert retrieval[a.INFERRED] == ("retrievals",)
    assert recorder.one("chat")[a.CONTEXT_IDS] == ("gift", "sale")


def test_a_retriever_inside_a_retriever_gives_candidates():
    recorder = Recorder()
    rag(search=Nested(inner=Search(found=passages())), steps=RunnablePassthrough()).invoke(QUESTION, recorder.config)
    assert recorder.names()[1:3] == ["  retrieval", "    retrieval"]
    outer, inner = sorted(recorder.named("retrieval"), key=lambda span: span.start_time)
    assert outer.attributes[a.RETRIEVAL_IDS] == ("returns", "sale")
    assert outer.attributes[a.RETRIEVAL_CANDIDATES] == inner.attributes[a.RETRIEVAL_IDS] == tuple(TEXTS)
    assert a.CONTEXT_DROPPED not in recorder.one("chat")


def test_top_k_is_recorded_when_it_is_among_the_retrievers_settings():
    recorder = Recorder()
    Search(found=passages("gift"), metadata={"top_k": 7}).invoke(QUESTION, recorder.config)
    assert recorder.one("retrieval")[a.RETRIEVAL_TOP_K] == 7


@pytest.mark.parametrize("mark", [{"metadata": {"rag.stage": "permission"}}, {"tags": ["rag.stage:permission"]}])
def test_a_marked_step_is_what_it_is_marked_as(mark):
    inner = RunnableLambda(first_two) | RunnableLambda(turned)
    lines = run(inner.with_config(run_name="check", **mark))
    assert lines == [
        'rag.permission check | rag.permission.decisions=["allow", "allow", "deny", "deny", "deny"]'
        ' rag.permission.ids=["returns", "sale", "gift", "staff", "old"]'
    ]


def test_a_marked_step_holds_what_runs_in_it():
    recorder = Recorder()

    def judge(found):
        Scripted(answers=["yes"]).invoke("?")
        return found[:1]

    rag(steps=RunnableLambda(judge).with_config(metadata={"rag.stage": "filter"})).invoke(QUESTION, recorder.config)
    assert recorder.names()[2:4] == ["  rag.filter judge", "    chat scripted-1"]


def test_a_marked_function_is_a_retrieval():
    recorder = Recorder()
    found = RunnableLambda(lambda question: passages("gift")).with_config(metadata={"rag.stage": "retrieval"})
    rag(search=found, steps=RunnablePassthrough()).invoke(QUESTION, recorder.config)
    retrieval = recorder.one("retrieval")
    assert retrieval[a.RETRIEVAL_IDS] == ("gift",)
    assert a.INFERRED not in retrieval


def test_a_marked_context_says_what_stands_in_its_text():
    recorder = Recorder()
    (
        Search(found=passages("gift", "sale", "old"))
        | RunnableLambda(lambda found: as_text(found[:2])).with_config(
            run_name="build", metadata={"rag.stage": "context"}
        )
    ).invoke(QUESTION, recorder.config)
    assert recorder.one("rag.context build")[a.CONTEXT_IDS] == ("gift", "sale")
    assert recorder.one("rag.context build")[a.CONTEXT_DROPPED] == ("old",)


def test_a_step_marked_as_a_check_that_shows_no_passages_is_not_captured():
    recorder = Recorder()
    RunnableLambda(lambda question: True).with_config(metadata={"rag.stage": "permission"}).pipe(str).invoke(
        QUESTION, recorder.config
    )
    assert recorder.lines("rag.permission", "rag.stage")[1:] == [
        '  rag.permission RunnableLambda | rag.stage="permission"'
    ]


def test_what_a_step_adds_to_what_it_was_given_nobody_retrieved():
    """Checklist 29: else an inferred retrieval would hide `prompt_outside_retrieval`."""
    pinned = passages("staff")[0]
    recorder = Recorder()
    chain = Search(found=passages("returns")) | RunnableLambda(lambda found: [pinned, *found])
    chain.invoke("How long?", recorder.config)
    assert len(recorder.named("retrieval")) == 1


def test_what_a_step_found_with_what_it_was_given_is_a_retrieval():
    recorder = Recorder()
    chain = Search(found=passages("returns")) | RunnableLambda(lambda found: passages("staff"))
    chain.invoke("How long?", recorder.config)
    assert [tuple(each.attributes["rag.retrieval.ids"]) for each in recorder.named("retrieval")] == [
        ("returns",),
        ("staff",),
    ]


def test_of_more_passages_than_are_remembered_none_is_taken_for_found_anew():
    many = [
        Document(id=str(place), page_content=f"Passage {place} of very many, all alike.") for place in range(10_001)
    ]
    recorder = Recorder()
    (Search(found=many) | RunnableLambda(lambda found: found[-2:])).invoke("?", recorder.config)
    (search,) = recorder.named("retrieval")
    assert search.attributes[a.RETRIEVAL_COUNT] == len(many)
    assert recorder.one("rag.filter")[a.FILTER_KEPT] == ("9999", "10000")


@pytest.mark.parametrize("found", [["words"], [None], [1, 2], [passages("gift")], [{"page_content": "words"}]])
def test_a_retriever_that_returns_no_passages_has_not_returned_none(found):
    """What it gave is not captured; that is not nothing (contracts 2)."""

    class Odd(Search):
        def _get_relevant_documents(self, query, *, run_manager):
            return found

    recorder = Recorder()
    (Odd(found=[]) | RunnableLambda(lambda found: "?") | Scripted(answers=[ANSWER])).invoke("?", recorder.config)
    assert a.RETRIEVAL_COUNT not in recorder.one("retrieval")
    assert a.CONTEXT_COUNT not in recorder.one("chat")
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("kept", [2, 3])
def test_texts_that_a_step_changed_in_place_stand_in_the_prompt(kept):
    def summarize(found):
        for document in found[1:]:
            document.page_content = f"In short, the words of {document.metadata['document']} come down to this."
        return found[:kept]

    recorder = Recorder()
    search = Search(found=passages("returns", "sale", "gift"))
    (search | RunnableLambda(summarize) | as_text | Scripted(answers=[ANSWER])).invoke("?", recorder.config)
    call = recorder.one("chat")
    assert call[a.CONTEXT_IDS] == ("returns", "sale", "gift")[:kept]
    assert a.CONTEXT_DROPPED not in call
    assert_well_formed(recorder.spans)
