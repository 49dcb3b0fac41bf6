"""What the model saw, found in the real prompt: order, cuts, repeats, tokens, losses (checklist 14, 83, 98, 99)."""

from __future__ import annotations

import cProfile
import html
import json
import textwrap
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda

from rag_probe import attributes as a
from rag_probe import faults, tell
from rag_probe.policy import CapturePolicy
from rag_probe_langchain import context
from rag_probe_langchain.origin import unheard
from rag_probe_langchain.tokens import Tokenizer

from .apps import ANSWER, TEXTS, Scripted, Search, as_text, passages, rag
from .recorded import Recorder

QUESTION = "How long do I have?"


def call(build, found=None, **options):
    """The attributes of the model call whose prompt `build` makes of what was found."""
    recorder = Recorder(**options)
    (Search(found=found or passages("returns", "sale", "gift")) | build | Scripted(answers=[ANSWER])).invoke(
        QUESTION, recorder.config
    )
    return recorder.one("chat")


def test_the_order_is_the_prompts():
    assert call(lambda found: as_text(found[::-1]))[a.CONTEXT_IDS] == ("gift", "sale", "returns")


def test_a_cut_passage_keeps_the_range_that_is_left():
    seen = call(lambda found: as_text(found[:2]) + "\n\n" + found[2].page_content[:40])
    assert seen[a.CONTEXT_TRUNCATED] == (False, False, True)
    assert (seen[a.CONTEXT_KEPT_AT], seen[a.CONTEXT_KEPT_START]) == ((2,), (0,))
    assert 35 <= seen[a.CONTEXT_KEPT_END][0] <= 40
    assert seen[a.CONTEXT_TOKENS][2] == 10


def test_a_passage_that_comes_twice_is_a_duplicate():
    seen = call(lambda found: as_text([*found[:1], *found]))
    assert seen[a.CONTEXT_IDS] == ("returns", "returns", "sale", "gift")
    assert seen[a.CONTEXT_DUPLICATE_OF] == ("returns",)
    assert seen[a.CONTEXT_DUPLICATE_OF + "_at"] == (1,)


def test_of_two_passages_with_one_text_the_permitted_one_is_meant():
    twins = [Document(id=name, page_content=TEXTS["returns"]) for name in ("foreign", "own")]
    seen = call(RunnableLambda(lambda found: found[1:]) | as_text, found=twins)
    assert seen[a.CONTEXT_IDS] == ("own",)


def test_what_was_retrieved_and_is_not_in_the_prompt_was_dropped():
    seen = call(lambda found: as_text(found[:1]))
    assert seen[a.CONTEXT_DROPPED] == ("sale", "gift")


def test_what_a_filter_took_is_not_dropped_again():
    seen = call(RunnableLambda(lambda found: found[:2]) | as_text)
    assert a.CONTEXT_DROPPED not in seen


def test_a_filtered_passage_that_reappears_is_seen():
    recorder = Recorder()
    found = passages("returns", "sale")

    def leak(kept):
        return as_text(found)

    (Search(found=found) | RunnableLambda(lambda found: found[:1]) | leak | Scripted(answers=[ANSWER])).invoke(
        QUESTION, recorder.config
    )
    assert recorder.one("rag.filter")[a.FILTER_DROPPED] == ("sale",)
    assert recorder.one("chat")[a.CONTEXT_IDS] == ("returns", "sale")


def test_a_prompt_in_which_no_passage_is_recognised_is_not_captured():
    seen = call(lambda found: "Translate this into French: the weather is fine today.")
    assert a.CONTEXT_IDS not in seen
    assert a.CONTEXT_COUNT not in seen
    assert seen[a.NOT_CAPTURED] == ("context",)


def test_a_prompt_too_long_to_search_is_not_captured():
    seen = call(lambda found: as_text(found) + "x" * 500_000)
    assert a.CONTEXT_IDS not in seen
    assert seen[a.NOT_CAPTURED] == ("context",)


def test_a_model_call_before_any_retrieval_has_no_context():
    recorder = Recorder()
    (Scripted(answers=["rewritten"]) | RunnableLambda(lambda message: message.text) | Search(found=passages())).invoke(
        QUESTION, recorder.config
    )
    seen = recorder.one("chat")
    assert a.CONTEXT_IDS not in seen
    assert a.NOT_CAPTURED not in seen


def test_context_is_found_in_messages_and_in_blocks():
    def blocks(found):
        texts = [{"type": "text", "text": each.page_content} for each in found]
        return [SystemMessage("Answer."), HumanMessage([*texts, {"type": "text", "text": QUESTION}])]

    assert call(blocks)[a.CONTEXT_IDS] == ("returns", "sale", "gift")


def test_tokens_come_from_the_tokenizer_that_is_named():
    seen = call(as_text, tokenizer=Tokenizer("words", lambda text: len(text.split())))
    assert seen[a.BUDGET_TOKENIZER] == "words"
    assert seen[a.CONTEXT_TOKENS] == tuple(len(TEXTS[name].split()) for name in ("returns", "sale", "gift"))
    assert seen[a.BUDGET_USED] == sum(seen[a.CONTEXT_TOKENS])


def test_a_compressed_passage_is_itself_with_the_range_it_kept():
    def compress(found):
        return [each.model_copy(update={"page_content": each.page_content[10:60]}) for each in found]

    seen = call(RunnableLambda(compress) | as_text)
    assert seen[a.CONTEXT_IDS] == ("returns", "sale", "gift")
    assert seen[a.CONTEXT_TRUNCATED] == (True, True, True)
    assert seen[a.CONTEXT_KEPT_START] == (10, 10, 10)
    assert seen[a.CONTEXT_KEPT_END] == (60, 60, 60)


def test_each_model_call_has_its_own_context():
    recorder = Recorder()

    def both(found):
        Scripted(answers=["first"]).invoke(as_text(found[:1]))
        return Scripted(answers=["second"]).invoke(as_text(found[1:]))

    (Search(found=passages("returns", "sale", "gift")) | both).invoke(QUESTION, recorder.config)
    first, second = (span.attributes for span in recorder.named("chat"))
    assert first[a.CONTEXT_IDS] == ("returns",)
    assert second[a.CONTEXT_IDS] == ("sale", "gift")


def test_the_step_that_built_the_text_gets_a_span_with_the_same_ids_and_nothing_that_the_call_says():
    recorder = Recorder()
    rag().invoke(QUESTION, recorder.config)
    built, seen = recorder.one("rag.context as_text"), recorder.one("chat")
    assert built == {a.STAGE: "context", a.STEP_NAME: "as_text", a.CONTEXT_IDS: seen[a.CONTEXT_IDS]}
    assert len(seen[a.CONTEXT_TOKENS]) == len(built[a.CONTEXT_IDS])


def test_a_text_that_does_not_reappear_is_plumbing():
    recorder = Recorder()

    def summary(found):
        return "There were three passages about returns."

    both = {"summary": summary, "text": as_text} | RunnableLambda(lambda both: both["text"])
    (Search(found=passages()) | both | Scripted(answers=[ANSWER])).invoke(QUESTION, recorder.config)
    assert [span.name for span in recorder.named("rag.context")] == ["rag.context as_text"]


def test_a_search_that_found_nothing_gives_an_empty_context():
    recorder = Recorder()
    rag(Search(found=[]), steps=RunnableLambda(lambda found: found)).invoke(QUESTION, recorder.config)
    seen = recorder.one("chat")
    assert seen[a.CONTEXT_COUNT] == 0
    assert seen[a.BUDGET_USED] == 0
    assert a.NOT_CAPTURED not in seen


def refuse(text):
    raise RuntimeError("no such encoding")


@pytest.mark.parametrize("count", [refuse, str.split, lambda text: str(len(text)), lambda text: None, lambda text: -1])
@pytest.mark.parametrize("cut", [None, 40])
def test_a_tokenizer_that_fails_costs_its_figures_and_nothing_else(count, cut, caplog, monkeypatch):
    monkeypatch.setattr(faults, "_said", {})
    seen = call(lambda found: as_text(found)[:cut], tokenizer=count)
    right = call(lambda found: as_text(found)[:cut])
    tokens = {a.CONTEXT_TOKENS, a.BUDGET_USED, a.BUDGET_TOKENIZER}
    assert seen == {name: value for name, value in right.items() if name not in tokens}
    assert all(said.startswith("tokenizer= failed with") for said in caplog.messages)
    assert len(caplog.messages) <= 1


def test_of_a_budget_that_was_told_the_limit_stays():
    def short(found):
        tell.budget(limit=100, tokenizer="o200k_base")
        return as_text(found)

    seen = call(short, tokenizer=refuse)
    assert (seen[a.BUDGET_LIMIT], seen[a.BUDGET_TOKENIZER]) == (100, "o200k_base")
    assert seen.keys().isdisjoint({a.BUDGET_USED, a.CONTEXT_TOKENS, a.CONTEXT_TOKENIZER})


def shared_out(count):
    """The names that `count` passages of one text get in a prompt of all of them, and how many calls that takes."""
    recorder = Recorder()
    same = [Document(id=f"row {number}", page_content="The status is unknown.") for number in range(count)]
    app = Search(found=same) | as_text | Scripted(answers=[ANSWER])
    with cProfile.Profile() as profile:
        app.invoke(QUESTION, recorder.config)
    return recorder.one("chat")[a.CONTEXT_IDS], sum(each.callcount for each in profile.getstats())


def test_passages_of_one_text_are_shared_out_in_linear_time():
    shared_out(2)
    (few, calls), (many, more_calls) = shared_out(50), shared_out(200)
    assert few == tuple(f"row {number}" for number in range(50))
    assert len(set(many)) == 200
    assert more_calls < 6 * calls


sentences = st.sampled_from(["Goods can be sent back. ", "In the sale\n", "thirty days ", "gift cards never "])
bodies = st.lists(sentences, min_size=3, max_size=6).map("".join).map(str.strip)
named = st.lists(st.tuples(st.sampled_from("abcdef"), bodies), min_size=1, max_size=5)


@settings(max_examples=200)
@given(named, st.data())
def test_what_is_seen_at_a_glance_is_what_the_search_sees(found, data):
    """Issue B, speed: the usual prompt is known without a search, and nothing else is taken for it."""
    request = unheard(CapturePolicy())
    ids = request.documents.add([Document(id=name, page_content=text) for name, text in found]).ids
    last = data.draw(st.just(ids) | st.lists(st.sampled_from(ids), unique=True).map(tuple))
    usual = [request.documents.whole[name] for name in last]
    shown = data.draw(st.just(usual) | st.lists(st.sampled_from([text for _, text in found]), max_size=4))
    prompt = "Answer:\n" + data.draw(st.sampled_from(["\n\n", "\n- ", "\nPassage of the handbook: "])).join(shown)
    prompt = prompt[: data.draw(st.just(len(prompt)) | st.integers(0, len(prompt)))]
    seen = context.assemble(prompt, last, request)
    with patch.object(context, "_at_a_glance", lambda *_: None):
        assert context.assemble(prompt, last, request) == seen


@given(st.lists(bodies | st.text(" a\n", max_size=30), max_size=4, unique=True), st.data())
def test_strays_are_looked_for_together_as_they_would_be_one_by_one(others, data):
    documents = unheard(CapturePolicy()).documents
    documents.add([Document(id=str(place), page_content=text) for place, text in enumerate(["known", *others])])
    pieces = [text[: data.draw(st.integers(0, 30))] for text in others] + [text[-20:] for text in others]
    rest = "Answer:\n" + "\n".join(data.draw(st.lists(st.sampled_from(pieces), max_size=3)) if pieces else [])
    bare = "".join(rest.split())
    one_by_one = [text for text in others if text != "known" and context._may_stand(text, bare, ())]
    assert context._strays(rest, ["known"], documents) == one_by_one


LANGUAGES = {
    "umlauts": (
        "Größere Pakete dürfen nicht zurückgegeben werden, außer wenn sie beschädigt sind.",
        "Übermäßig große Sendungen für Geschäftskunden müssen vorher angemeldet werden, sagt der Büroälteste.",
    ),
    "no latin": (
        "Товары можно вернуть в течение тридцати дней после доставки, если они не использованы.",
        "Подарочные карты никогда не принимаются обратно, какова бы ни была причина этого возврата.",
    ),
    "quotes": (
        'Goods can be sent back within thirty days of delivery, unused and in their box, "always".',
        '"Gift" cards are never taken back, whatever the "reason" may be, and "however" kindly "asked".',
    ),
    "blanks": (
        "Goods can be sent back within thirty days of delivery, unused and in their  box",
        "Gift  cards  are never taken back, whatever the reason may be, and however  kindly  asked",
    ),
}
WRITTEN = {
    "plain": "\n\n".join,
    "json": json.dumps,
    "json in json": lambda texts: json.dumps(json.dumps(texts)),
    "json, readable": lambda texts: json.dumps(texts, ensure_ascii=False),
    "repr": lambda texts: repr([Document(text) for text in texts]),
    "html": lambda texts: html.escape("\n".join(texts)),
    "one line": lambda texts: " ".join(" ".join(texts).split()),
    "wrapped": lambda texts: textwrap.fill(" ".join(texts), 20),
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_denied_passage_is_seen_in_a_prompt_however_it_is_written_there(language, written):
    """Contracts 1: leaks are looked for everywhere, not only where the permitted ones stand as they are."""
    kept, denied = LANGUAGES[language]
    request = unheard(CapturePolicy())
    request.documents.add([Document(id="kept", page_content=kept), Document(id="denied", page_content=denied)])
    leaking = context.assemble("Answer from: " + WRITTEN[written]([kept, denied]), ("kept",), request)
    beside = context.assemble(f"Answer from: {kept}\nAnd: {WRITTEN[written]([denied])}", ("kept",), request)
    clean = context.assemble("Answer from: " + WRITTEN[written]([kept]), ("kept",), request)
    assert [None if seen is None else seen.stage.ids for seen in (leaking, beside, clean)] == [
        ("kept", "denied"),
        ("kept", "denied"),
        ("kept",),
    ]
