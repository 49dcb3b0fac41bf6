"""What the context builder builds keeps to its budget, and it records what it built (issue B, checklist 98, 99)."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda
from pydantic import ValidationError

from rag_probe import attributes as a
from rag_probe_langchain import ContextBuilder
from rag_probe_langchain.components.packing import SHORTEST
from rag_probe_langchain.tokens import Tokenizer
from tests.rag_probe_langchain.apps import TEXTS, Scripted, Search, passages
from tests.rag_probe_langchain.recorded import Recorder, assert_well_formed

QUESTION = "How long do I have?"
WORDS = Tokenizer("words", lambda text: len(text.split()))
LETTERS = Tokenizer("letters", len)


def recorded(builder, found=None, **options):
    """What was built, the attributes of its span, and those of the call whose prompt it became."""
    recorder = Recorder(**options)
    built = []
    chain = (
        Search(found=passages() if found is None else found)
        | builder
        | RunnableLambda(lambda text: built.append(text) or f"Answer from:\n{text}\n\n{QUESTION}")
        | Scripted(answers=["Thirty days."])
    )
    chain.invoke(QUESTION, recorder.config)
    assert_well_formed(recorder.spans)
    return built[0], recorder.one("rag.context"), recorder.one("chat")


def test_by_default_it_joins_the_texts():
    assert ContextBuilder().invoke(passages("returns", "sale")) == f"{TEXTS['returns']}\n\n{TEXTS['sale']}"
    assert ContextBuilder().invoke([]) == ""


def test_numbers_templates_and_separators():
    found = passages("returns", "sale")
    template = PromptTemplate.from_template("({document}) {page_content}")
    builder = ContextBuilder(numbered=True, document_prompt=template, document_separator="\n---\n")
    assert builder.invoke(found) == f"[1] (returns.md) {TEXTS['returns']}\n---\n[2] (sale.md) {TEXTS['sale']}"
    builder = ContextBuilder(document_prompt=lambda document: f"<doc id={document.id!r}/>", document_separator="")
    assert builder.invoke(found) == "<doc id='returns'/><doc id='sale'/>"


SCORED = [
    Document(id=name, page_content=f"passage {name}", metadata={} if score is None else {"score": score})
    for name, score in (("a", 0.1), ("b", None), ("c", 0.9), ("d", 0.5), ("e", 0.5))
]


@pytest.mark.parametrize(
    ("order", "ids"), [("given", "abcde"), ("best_first", "cdeab"), ("lost_in_the_middle", "cebad")]
)
def test_orders(order, ids):
    text = ContextBuilder(order=order, document_separator=" ").invoke(SCORED)
    assert text.replace("passage ", "") == " ".join(ids)


def test_lost_in_the_middle_is_langchains_own_order():
    community = [f"passage {name}" for name in "abcde"]
    plain = [Document(text) for text in community]
    assert ContextBuilder(order="lost_in_the_middle").invoke(plain).split("\n\n") == [
        f"passage {name}" for name in "acedb"
    ]


def test_what_has_no_room_falls_and_shorter_ones_may_still_fit():
    text, built, call = recorded(ContextBuilder(token_limit=42, tokenizer=WORDS))
    assert text == "\n\n".join(TEXTS[name] for name in ("returns", "sale", "gift"))
    assert built[a.CONTEXT_IDS] == ("returns", "sale", "gift")
    assert built[a.CONTEXT_DROPPED] == ("staff", "old")
    assert built[a.CONTEXT_DROPPED_REASONS] == ("budget", "budget")
    assert (built[a.BUDGET_LIMIT], built[a.BUDGET_USED], built[a.BUDGET_TOKENIZER]) == (42, 39, "words")
    assert built[a.CONTEXT_TOKENS] == (15, 13, 11)
    same = (
        a.CONTEXT_IDS,
        a.CONTEXT_TOKENS,
        a.CONTEXT_DROPPED,
        a.CONTEXT_DROPPED_REASONS,
        a.BUDGET_LIMIT,
        a.BUDGET_USED,
        a.BUDGET_TOKENIZER,
    )
    assert {name: call[name] for name in same} == {name: built[name] for name in same}
    assert a.CONTEXT_TOKENIZER not in call


def test_duplicates_fall_and_the_one_that_stays_is_named():
    twins = [*passages("returns"), Document(id="twin", page_content=TEXTS["returns"] + "\n"), *passages("returns")]
    text, built, call = recorded(ContextBuilder(), twins)
    assert text == TEXTS["returns"]
    assert built[a.CONTEXT_IDS] == call[a.CONTEXT_IDS] == ("returns",)
    assert built[a.CONTEXT_DROPPED] == call[a.CONTEXT_DROPPED] == ("twin",)
    assert built[a.CONTEXT_DROPPED_REASONS] == call[a.CONTEXT_DROPPED_REASONS] == ("duplicate",)
    best = [Document(id="low", page_content=TEXTS["sale"], metadata={"score": 0.1})]
    best += [Document(id="high", page_content=TEXTS["sale"], metadata={"score": 0.9}), *passages("gift")]
    _, built, call = recorded(ContextBuilder(order="best_first"), best)
    assert built[a.CONTEXT_IDS] == call[a.CONTEXT_IDS] == ("gift", "high")
    assert call[a.CONTEXT_DROPPED] == ("low",)


def test_blank_passages_are_no_context():
    _, built, _ = recorded(ContextBuilder(numbered=True), [Document(id="blank", page_content=" \n"), *passages()])
    assert built[a.CONTEXT_DROPPED] == ("blank",)
    assert built[a.CONTEXT_DROPPED_REASONS] == ("empty",)
    assert "blank" not in built[a.CONTEXT_IDS]


def test_nothing_found_is_a_recorded_fact():
    text, built, call = recorded(ContextBuilder(token_limit=100), [])
    assert text == ""
    assert built[a.CONTEXT_COUNT] == call[a.CONTEXT_COUNT] == 0
    assert (call[a.BUDGET_LIMIT], call[a.BUDGET_USED]) == (100, 0)


LONG = Document(
    id="long",
    page_content="The first rule is short and clear. The second rule is longer than the first one (but not by much). "
    "The third rule is the exception to both!  And so on and on",
)


@pytest.mark.parametrize(
    ("limit", "overflow", "kept"),
    [
        (120, "sentence", 98),
        (97, "sentence", None),
        (156, "sentence", 139),
        (90, "character", 90),
        (SHORTEST - 1, "character", None),
        (90, "drop", None),
        (1000, "sentence", len(LONG.page_content)),
    ],
)
def test_a_passage_too_long_is_cut_where_it_was_asked(limit, overflow, kept):
    builder = ContextBuilder(token_limit=limit, tokenizer=LETTERS, overflow=overflow)
    text, built, call = recorded(builder, [LONG])
    if kept is None:
        assert text == ""
        assert built[a.CONTEXT_DROPPED_REASONS] == ("budget",)
        return
    assert text == LONG.page_content[:kept]
    cut = kept < len(LONG.page_content)
    assert built[a.CONTEXT_TRUNCATED] == call[a.CONTEXT_TRUNCATED] == (cut,)
    if cut:
        assert built[a.CONTEXT_KEPT_END] == call[a.CONTEXT_KEPT_END] == (kept,)
    assert built[a.CONTEXT_TOKENS] == call[a.CONTEXT_TOKENS] == (kept,)


def test_what_follows_a_cut_passage_falls():
    found = [LONG, *passages("gift")]
    _, built, call = recorded(ContextBuilder(token_limit=100, tokenizer=LETTERS, overflow="sentence"), found)
    assert built[a.CONTEXT_IDS] == ("long",)
    assert call[a.CONTEXT_DROPPED] == ("gift",)


def test_the_estimate_says_so():
    _, built, call = recorded(ContextBuilder(numbered=True))
    assert built[a.BUDGET_TOKENIZER] == call[a.BUDGET_TOKENIZER] == "estimate:chars/4"
    assert call[a.BUDGET_USED] == sum(call[a.CONTEXT_TOKENS])


def test_a_counting_function_is_named_after_itself():
    def by_words(text):
        return len(text.split())

    _, built, _ = recorded(ContextBuilder(tokenizer=by_words, token_limit=20))
    assert built[a.BUDGET_TOKENIZER].endswith("by_words")


def test_one_span_says_what_was_built():
    recorder = Recorder()
    (Search(found=passages()) | ContextBuilder() | Scripted(answers=["x"])).invoke(QUESTION, recorder.config)
    assert [name.strip() for name in recorder.names()[1:]] == [
        "retrieval",
        "rag.context ContextBuilder",
        "chat scripted-1",
    ]


def test_async_stream_and_batch():
    builder = ContextBuilder(numbered=True)
    expected = f"[1] {TEXTS['gift']}"
    assert asyncio.run(builder.ainvoke(passages("gift"))) == expected
    assert list(builder.stream(passages("gift"))) == [expected]
    assert builder.batch([passages("gift")] * 2) == [expected] * 2


def test_without_a_handler_it_only_works(caplog):
    assert ContextBuilder().invoke([Document("no id, no source")]) == "no id, no source"
    assert not caplog.records


@pytest.mark.parametrize("wrong", [{"token_limit": -1}, {"order": "random"}, {"overflow": "wrap"}, {"tokenizer": 3}])
def test_a_wrong_option_is_refused_at_once(wrong):
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        ContextBuilder(**wrong)


def test_a_fault_of_the_apps_tokenizer_is_the_apps():
    def broken(text):
        raise RuntimeError("theirs")

    with pytest.raises(RuntimeError, match="theirs"):
        ContextBuilder(tokenizer=broken, token_limit=1).invoke(passages())


texts = st.text(alphabet="ab .!\n。é", max_size=120)
found = st.lists(
    st.builds(
        lambda text, name, score: Document(
            page_content=text, id=name, metadata={} if score is None else {"score": score}
        ),
        texts,
        st.none() | st.sampled_from("abcdefgh"),
        st.none() | st.floats(0, 1),
    ),
    max_size=8,
)
tokenizers = st.sampled_from(
    [None, WORDS, LETTERS, Tokenizer("constant", lambda text: 3), Tokenizer("odd", lambda text: len(text) % 7)]
)


@settings(deadline=None)
@example([Document("."), Document("a"), Document(".\n")], None, None, False, "given", "drop", "\n\n")
@given(
    found,
    st.none() | st.integers(0, 200),
    tokenizers,
    st.booleans(),
    st.sampled_from(["given", "best_first", "lost_in_the_middle"]),
    st.sampled_from(["drop", "sentence", "character"]),
    st.sampled_from(["\n\n", "", " | "]),
)
def test_it_keeps_to_its_budget_and_records_what_it_built(
    documents, limit, tokenizer, numbered, order, overflow, separator
):
    builder = ContextBuilder(
        token_limit=limit,
        tokenizer=tokenizer,
        numbered=numbered,
        order=order,
        overflow=overflow,
        document_separator=separator,
    )
    recorder = Recorder()
    text = builder.invoke(documents, recorder.config)
    told = recorder.one("rag.context")
    tokens = told.get(a.CONTEXT_TOKENS, ())
    assert limit is None or sum(tokens) <= limit
    assert told.get(a.BUDGET_USED, 0) == sum(tokens)
    ids = told.get(a.CONTEXT_IDS, ())
    assert len(ids) == len(tokens)
    assert set(ids).isdisjoint(told.get(a.CONTEXT_DROPPED, ()))
    assert len(told.get(a.CONTEXT_DROPPED, ())) == len(told.get(a.CONTEXT_DROPPED_REASONS, ()))
    kept = dict(zip(told.get(a.CONTEXT_KEPT_AT, ()), told.get(a.CONTEXT_KEPT_END, ()), strict=True))
    rests = {text}  # one passage may be the beginning of another, separator and all: every reading is tried
    for place in range(len(ids)):
        head = (separator if place else "") + (f"[{place + 1}] " if numbered else "")
        pieces = {head + each.page_content[: kept.get(place)] for each in documents if each.id in (None, ids[place])}
        rests = {rest.removeprefix(piece) for rest in rests for piece in pieces if rest.startswith(piece)}
    assert "" in rests
    if limit is None:
        assert set(told.get(a.CONTEXT_DROPPED_REASONS, ())) <= {"duplicate", "empty"}
