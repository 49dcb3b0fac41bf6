"""Citations: which passages an answer points to (checklist 30, 109-111; must-handle 27)."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel

from rag_probe_langchain.citing.citations import find_citations

CONTEXT = ("doc-7", "doc-12", "leave-eligibility")
KNOWN = frozenset({"doc-7", "doc-12", "leave-eligibility", "doc-99", "hr:parking"})


def cites(answer, context=CONTEXT, known=KNOWN):
    return [(cited.id, cited.valid) for cited in find_citations(answer, context, known)]


class TestNumbers:
    """must-handle 27."""

    @pytest.mark.parametrize(
        ("text", "ids"),
        [
            ("Twelve weeks [1].", [("doc-7", True)]),
            ("Twelve weeks[1].", [("doc-7", True)]),
            ("Twelve weeks [1][2].", [("doc-7", True), ("doc-12", True)]),
            ("Twelve weeks [1, 3].", [("doc-7", True), ("leave-eligibility", True)]),
            ("Twelve weeks [1; 2 and 3]", [("doc-7", True), ("doc-12", True), ("leave-eligibility", True)]),
            ("Twelve weeks [1-3].", [("doc-7", True), ("doc-12", True), ("leave-eligibility", True)]),
            ("Twelve weeks [0].", [("0", False)]),
            ("Twelve weeks [4].", [("4", False)]),
            ("Twelve weeks [1, 4].", [("doc-7", True), ("4", False)]),
            ("Twelve weeks [Source 2].", [("doc-12", True)]),
            ("Twelve weeks [Document 1, Document 9].", [("doc-7", True), ("9", False)]),
            ("Twelve weeks [doc: 2].", [("doc-12", True)]),
            ("Twelve weeks [Source 3: The Handbook].", [("leave-eligibility", True)]),
            ("Twelve weeks [[1]].", [("doc-7", True)]),
            ("Twelve weeks [1](https://example.com/leave).", [("doc-7", True)]),
            ("Twelve weeks 【1†source】.", [("doc-7", True)]),
            ("Twelve weeks 【2】.", [("doc-12", True)]),
            ("<co: 1>Twelve weeks</co: 1>.", [("doc-7", True)]),
            ("<co: 1,2>Twelve weeks</co: 1,2>.", [("doc-7", True), ("doc-12", True)]),
            ("<co: 9>Twelve weeks</co: 9>.", [("9", False)]),
        ],
    )
    def test_count_from_one(self, text, ids):
        assert cites(text) == ids

    def test_without_context_they_point_nowhere(self):
        assert cites("Twelve weeks [1].", (), ()) == [("1", False)]

    def test_ids_that_are_numbers(self):
        assert cites("See [4711].", ("4711", "12"), ()) == [("4711", True)]
        assert cites("See [12].", ("4711", "12"), ()) == [("12", True)]
        assert cites("See [1].", ("4711", "12"), ()) == [("4711", True)]


class TestIds:
    @pytest.mark.parametrize(
        ("text", "ids"),
        [
            ("Twelve weeks [doc-12].", [("doc-12", True)]),
            ("Twelve weeks [DOC-12].", [("doc-12", True)]),
            ("Twelve weeks [Source: leave-eligibility].", [("leave-eligibility", True)]),
            ("Twelve weeks [doc-7, doc-12].", [("doc-7", True), ("doc-12", True)]),
            ("Twelve weeks [doc-7 and 2].", [("doc-7", True), ("doc-12", True)]),
            ("Twelve weeks 【doc-7】.", [("doc-7", True)]),
            ("Twelve weeks 【4:0†doc-7】.", [("doc-7", True)]),
            ("<co: doc-7>Twelve weeks</co: doc-7>.", [("doc-7", True)]),
            ("Twelve weeks (doc-7).", [("doc-7", True)]),
            ("Twelve weeks (see doc-7, section 4).", [("doc-7", True)]),
            ("Twelve weeks [Leave rules](doc-7).", [("doc-7", True)]),
            ("Twelve weeks `[doc-7]`.", [("doc-7", True)]),
        ],
    )
    def test_in_context(self, text, ids):
        assert cites(text) == ids

    def test_known_but_not_in_context_is_invalid(self):
        assert cites("Park there [doc-99] (hr:parking).") == [("doc-99", False), ("hr:parking", False)]

    @pytest.mark.parametrize(
        ("text", "written"),
        [
            ("Twelve weeks [doc-13].", "doc-13"),
            ("Twelve weeks [doc-x].", "doc-x"),
            ("Twelve weeks [leave-extension].", "leave-extension"),
            ("Twelve weeks [policy:2024/7].", "policy:2024/7"),
            ("Twelve weeks [3f2b8c1e-1111-4222-8333-444455556666].", "3f2b8c1e-1111-4222-8333-444455556666"),
            ("Twelve weeks 【7:3†handbook】.", "7:3†handbook"),
            ("<co: handbook>Twelve weeks</co: handbook>.", "handbook"),
        ],
    )
    def test_fabricated(self, text, written):
        """An unresolved citation keeps what stands in the marker (contracts 2)."""
        assert cites(text) == [(written, False)]

    def test_a_list_of_seen_and_fabricated(self):
        assert cites("Weeks (doc-7, doc-13).") == [("doc-7", True), ("doc-13", False)]
        assert cites("Weeks [doc-7, doc-13].") == [("doc-7", True), ("doc-13", False)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plain text.",
        "He said it [sic] twice.",
        "- [x] done\n- [ ] open\n- [X] done",
        "[TODO] and [citation needed] and [...] and […]",
        "The [handbook](https://example.com/doc-7) and ![an image](doc.png) and ![1](a.png)",
        "A note[^1].\n\n[^1]: The note.",
        "[1]: https://example.com",
        "Use a[0] or rows_left[1] or x[2] = 3, or `items[1]`.",
        "```python\nids = [1, 2, 3]\nprint(ids[0])\n```",
        "~~~\n[1]\n~~~",
        "```\n[2] left open",
        "(1) first, (2) second (see below), (a-b), (doc-13)",
        "As [Smith, 2020] and [Smith, 2] say, in [2024] and [about 12 weeks] [10:30] [12.5] [2024-05-01]",
        "Math: [a, b] and \\[1\\] and f(x)",
        "Empty [] and [ ] and [,] and [;;]",
        "重要【注意】です",
        "a < b, <b>bold</b>, <co>",
        "[note to self] [the follow up] [well, yes]",
    ],
)
def test_ordinary_text_is_no_citation(text):
    assert find_citations(text, ("doc-7", "doc-12"), ("doc-99",)) == ()


class TestPlaces:
    def test_offsets_are_code_points_of_the_answer(self):
        text = "🙂 Weeks [1, doc-12] and é [9]"
        found = find_citations(text, CONTEXT)
        assert [(cited.start, cited.end) for cited in found] == [(8, 19), (8, 19), (26, 29)]
        assert [cited.marker for cited in found] == ["[1, doc-12]", "[1, doc-12]", "[9]"]
        assert all(text[cited.start : cited.end] == cited.marker for cited in found)


def cited_by(block=None, **kwargs):
    content = [block] if block else "Twelve weeks."
    return AIMessage(content, **kwargs)


class TestProviders:
    @pytest.mark.parametrize(
        "record",
        [
            {"type": "search_result_location", "cited_text": "…", "source": "doc-12", "search_result_index": 0},
            {"type": "search_result_location", "cited_text": "…", "source": "s3://x", "search_result_index": 1},
            {
                "type": "char_location",
                "cited_text": "…",
                "document_index": 1,
                "document_title": "Leave",
                "file_id": None,
            },
            {"type": "char_location", "cited_text": "…", "document_index": 7, "document_title": "doc-12"},
            {"title": "Leave", "location": {"document_char": {"document_index": 1, "start": 0, "end": 9}}},
            {"title": "Leave", "location": {"searchResultLocation": {"searchResultIndex": 1}}},
            {"type": "file_citation", "file_id": "doc-12", "filename": "a.pdf", "index": 3},
            {"type": "url_citation", "url": "doc-12", "start_index": 0, "end_index": 6},
        ],
    )
    @pytest.mark.parametrize("key", ["citations", "annotations"])
    def test_raw_and_standard_records(self, record, key):
        text = "Twelve weeks."
        raw = cited_by({"type": "text", "text": text, key: [record]})
        assert cites(raw) == [("doc-12", True)]
        extras = {name: value for name, value in record.items() if name not in {"type", "title", "url", "cited_text"}}
        kept = {name: value for name, value in record.items() if name in {"title", "url", "cited_text"}}
        standard = {"type": "citation", **kept, "extras": extras}
        assert cites(cited_by({"type": "text", "text": text, "annotations": [standard]})) == [("doc-12", True)]
        other = {"type": "non_standard_annotation", "value": record}
        assert cites(cited_by({"type": "text", "text": text, "annotations": [other]})) == [("doc-12", True)]

    def test_what_langchain_makes_of_anthropics_records(self):
        record = {"type": "search_result_location", "cited_text": "…", "source": "doc-12", "search_result_index": 0}
        message = cited_by(
            {"type": "text", "text": "Twelve weeks.", "citations": [record]},
            response_metadata={"model_provider": "anthropic"},
        )
        standard = AIMessage(content=message.content_blocks, response_metadata={"output_version": "v1"})
        assert cites(message) == cites(standard) == [("doc-12", True)]

    def test_places_are_those_of_the_text_that_is_cited_for(self):
        message = AIMessage(
            [
                {"type": "text", "text": "So: "},
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "twelve weeks", "citations": [{"type": "char_location", "document_index": 0}]},
                {
                    "type": "text",
                    "text": ", they say.",
                    "annotations": [{"url": "u", "start_index": 2, "end_index": 6}],
                },
            ]
        )
        found = find_citations(message, CONTEXT)
        assert [(cited.id, cited.start, cited.end) for cited in found] == [("doc-7", 4, 16), ("u", 18, 22)]
        assert [message.text[cited.start : cited.end] for cited in found] == ["twelve weeks", "they"]

    def test_markers_hold_no_text_of_the_answer(self):
        message = cited_by(
            {"type": "text", "text": "Secret.", "annotations": [{"type": "Secret. Secret", "url": "doc-7"}]}
        )
        assert find_citations(message, CONTEXT)[0].marker == "citation"

    def test_an_index_beyond_the_passages(self):
        record = {"type": "char_location", "document_index": 9, "document_title": "Handbook"}
        assert cites(cited_by({"type": "text", "text": "x", "citations": [record]})) == [("Handbook", False)]
        assert cites(cited_by({"type": "text", "text": "x", "citations": [{"document_index": 9}]})) == [("9", False)]

    def test_a_record_that_names_nothing_is_left_out(self):
        record = {"type": "citation", "id": "lc_1234", "cited_text": "x", "extras": {"grounding_chunk_index": 0}}
        assert cites(cited_by({"type": "text", "text": "x", "annotations": [record]})) == []

    def test_google_counts_bytes(self):
        text = "Größe 🙂: zwölf Wochen."
        size = len("Größe 🙂: ".encode())
        record = {
            "type": "citation",
            "url": "doc-7",
            "start_index": size,
            "end_index": size + len("zwölf".encode()),
            "extras": {"google_ai_metadata": {"grounding_chunk_index": 0}},
        }
        (found,) = find_citations(cited_by({"type": "text", "text": text, "annotations": [record]}), CONTEXT)
        assert text[found.start : found.end] == "zwölf"

    def test_openai_placeholders_are_not_counted_twice(self):
        record = {"type": "file_citation", "file_id": "doc-7", "index": 12}
        message = cited_by({"type": "text", "text": "Twelve weeks 【4:0†a.pdf】.", "annotations": [record]})
        assert cites(message) == [("doc-7", True)]

    def test_cohere(self):
        class Citation(BaseModel):
            start: int
            end: int
            text: str
            document_ids: list[str]

        first = {"start": 0, "end": 6, "text": "Twelve", "document_ids": ["doc_1", "leave-eligibility"]}
        message = cited_by(
            additional_kwargs={"citations": [first, Citation(start=7, end=12, text="w", document_ids=["a"])]}
        )
        found = find_citations(message, CONTEXT)
        assert [(cited.id, cited.start, cited.end) for cited in found] == [
            ("doc-12", 0, 6),
            ("leave-eligibility", 0, 6),
            ("a", 7, 12),
        ]
        source = {"type": "document", "id": "doc:0", "document": {"id": "doc-99", "snippet": "x"}}
        message = cited_by(additional_kwargs={"citations": [{"start": 0, "end": 6, "sources": [source]}]})
        assert cites(message) == [("doc-7", True)]

    def test_perplexity_counts_its_own_pages(self):
        urls = ["https://a.example/1", "https://b.example/2"]
        message = AIMessage("Weeks [2]. More [9].", additional_kwargs={"citations": urls})
        assert cites(message) == [("https://b.example/2", False), ("9", False)]
        assert cites(message, (urls[1],)) == [(urls[1], True), ("9", False)]
        silent = AIMessage("Weeks.", additional_kwargs={"citations": urls})
        assert cites(silent) == [(url, False) for url in urls]


class TestStructured:
    @pytest.mark.parametrize(
        ("output", "ids"),
        [
            ({"answer": "x", "citations": ["doc-7", "doc-13"]}, [("doc-7", True), ("doc-13", False)]),
            ({"answer": "x", "citations": [1, 0, 9]}, [("doc-7", True), ("0", False), ("9", False)]),
            ({"answer": "x", "citations": [{"source_id": 2, "quote": "…"}]}, [("doc-12", True)]),
            ({"answer": "x", "sources": "doc-7, doc-99"}, [("doc-7", True), ("doc-99", False)]),
            ({"answer": "x", "sources": {"id": "doc-7"}}, [("doc-7", True)]),
            (
                {"claims": [{"text": "a", "citations": ["doc-7"]}, {"citations": ["doc-12"]}]},
                [("doc-7", True), ("doc-12", True)],
            ),
            ({"answer": "Weeks [1].", "citations": ["doc-7", "doc-12"]}, [("doc-7", True), ("doc-12", True)]),
            ({"answer": "x", "sources": [Document("text", id="doc-7")], "context": [Document("t")]}, []),
            ({"answer": "x", "sources": [{"page_content": "text", "id": "doc-7"}]}, []),
            ({"answer": "x", "citations": []}, []),
            ({"answer": "x", "citations": None}, []),
            ({"answer": "x", "citations": [None, "", " ", {}, [], True]}, []),
            ({"retrieved_ids": ["doc-7"], "documents": ["doc-12"]}, []),
        ],
    )
    def test_lists(self, output, ids):
        assert cites(output) == ids

    def test_models_and_json(self):
        class Answer(BaseModel):
            answer: str
            citations: list[str]

        assert cites(Answer(answer="x", citations=["doc-7"])) == [("doc-7", True)]
        text = json.dumps({"answer": "x", "citations": ["doc-7"]})
        assert cites(text) == cites(AIMessage(text)) == [("doc-7", True)]
        assert cites('{"not json [1]') == [("doc-7", True)]

    def test_they_have_no_place(self):
        (cited,) = find_citations({"citations": ["doc-7"]}, CONTEXT)
        assert (cited.start, cited.end, cited.marker) == (None, None, "citations")


class TestHostile:
    @pytest.mark.parametrize(
        "text",
        [
            "[" * 200_000,
            "(" * 200_000,
            "[1" * 100_000,
            "[1]" * 70_000,
            "`" * 200_000,
            "[" + "a," * 100_000,
            "{" * 100_000,
            "(doc-7, " * 30_000,
            "<co:" * 50_000,
            "[1-999]" * 20_000,
            "```[1]" * 30_000,
            "[a b c d e f g-1] " * 10_000,
        ],
    )
    def test_time_is_bounded(self, text):
        started = time.process_time()
        find_citations(text, CONTEXT, KNOWN)
        assert time.process_time() - started < 1

    def test_many_known_ids(self):
        known = {f"doc-{n}" for n in range(100_000)}
        assert cites("x [doc-5] [zzz-1] [doc-y]", CONTEXT, known) == [
            ("doc-5", False),
            ("zzz-1", False),
            ("doc-y", False),
        ]


ids = st.from_regex(r"[a-z]{2,5}[-_:][0-9]{1,3}", fullmatch=True)
prose = st.text(alphabet="abc .,\n🙂é", max_size=20)


@st.composite
def answered(draw):
    """An answer with markers, and what they are."""
    context = tuple(draw(st.lists(ids, min_size=1, max_size=6, unique=True)))
    text, expected = "", []
    for _ in range(draw(st.integers(0, 6))):
        name = draw(st.sampled_from(context))
        number = context.index(name) + 1
        form = draw(
            st.sampled_from(["[{id}]", "[{n}]", "【{id}】", "【{n}†source】", "<co: {n}>", "[Source {n}]", "({id})"])
        )
        marker = form.format(id=name, n=number)
        text += draw(prose) + " "
        expected.append((name, marker, len(text), len(text) + len(marker)))
        text += marker
    return text + draw(prose), context, expected


@given(answered())
def test_what_was_cited_is_found(case):
    text, context, expected = case
    found = find_citations(text, context)
    assert [(cited.id, cited.marker, cited.start, cited.end) for cited in found] == expected
    assert all(cited.valid for cited in found)


signs = st.text(alphabet="[](){}<>【】†^!`~\\,;:-_ \n0123abdoco/.🙂", max_size=80)
shapes = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | signs | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["citations", "sources", "annotations", "id", "text", "type", "extras", "start_index", "end_index"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(signs | st.text() | shapes, st.lists(signs, max_size=4), st.frozensets(signs, max_size=3))
def test_any_answer_is_read(answer, context, known):
    message = AIMessage("").model_copy(
        update={"content": [{"type": "text", "text": "a [1] b", "citations": answer}, answer, {"text": answer}]}
    )
    also = AIMessage("[1]").model_copy(update={"additional_kwargs": {"citations": answer}})
    for given_answer in (answer, message, also, HumanMessage("x")):
        for cited in find_citations(given_answer, context, known):
            assert not cited.valid or cited.id in context
            assert (cited.start is None) == (cited.end is None)
            if isinstance(given_answer, str) and cited.start is not None and not given_answer.lstrip().startswith("{"):
                assert given_answer[cited.start : cited.end] == cited.marker
