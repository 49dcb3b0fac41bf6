"""Citations as the providers' integrations leave them in a message, raw and in LangChain's standard form (issue B)."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage

from rag_probe_langchain.citing.citations import find_citations

TEXTS = {
    "doc-7": "Employees may take up to twelve weeks of parental leave. It is paid.",
    "doc-12": "Requests go to the manager four weeks ahead, in writing.",
    "doc-99": "Parking permits are issued by the facilities desk.",
}
CONTEXT = ("doc-7", "doc-12")
QUOTE = "Requests go to the manager four weeks ahead"
ANSWER = "Ask four weeks ahead."


def text(key, *records):
    return [{"type": "text", "text": ANSWER, key: list(records)}]


def message(content, provider, **metadata):
    return AIMessage(content, response_metadata={"model_provider": provider, **metadata})


GROUNDING = {
    "web_search_queries": ["leave"],
    "grounding_chunks": [
        {"web": {"uri": "https://a.example/leave", "title": "a.example"}},
        {"retrieved_context": {"uri": "gs://x/leave.pdf", "title": "leave.pdf", "text": TEXTS["doc-12"]}},
    ],
    "grounding_supports": [
        {"segment": {"start_index": 0, "end_index": 21, "text": ANSWER}, "grounding_chunk_indices": [1]},
        {"segment": {"end_index": 3, "text": "Ask"}, "grounding_chunk_indices": [0, 7]},
    ],
}

MESSAGES = {
    "anthropic, a document": (
        message(
            text(
                "citations",
                {
                    "type": "char_location",
                    "cited_text": QUOTE,
                    "document_index": 1,
                    "document_title": "Leave rules",
                    "start_char_index": 0,
                    "end_char_index": 43,
                    "file_id": None,
                },
            ),
            "anthropic",
        ),
        [("doc-12", True)],
    ),
    "anthropic, a document behind another one": (
        message(
            text(
                "citations",
                {
                    "type": "page_location",
                    "cited_text": QUOTE,
                    "document_index": 2,
                    "document_title": "All rules",
                    "start_page_number": 1,
                    "end_page_number": 2,
                },
            ),
            "anthropic",
        ),
        [("doc-12", True)],
    ),
    "anthropic, a search result": (
        message(
            text(
                "citations",
                {
                    "type": "search_result_location",
                    "cited_text": QUOTE,
                    "source": "doc-12",
                    "title": "Leave rules",
                    "search_result_index": 0,
                    "start_block_index": 0,
                    "end_block_index": 1,
                },
            ),
            "anthropic",
        ),
        [("doc-12", True)],
    ),
    "anthropic, the web": (
        message(
            text(
                "citations",
                {
                    "type": "web_search_result_location",
                    "cited_text": "Something else that the web says.",
                    "url": "https://a.example",
                    "title": "A",
                    "encrypted_index": "x",
                },
            ),
            "anthropic",
        ),
        [("https://a.example", False)],
    ),
    "openai, a file": (
        message(
            text("annotations", {"type": "file_citation", "file_id": "doc-12", "filename": "leave.pdf", "index": 20}),
            "openai",
        ),
        [("doc-12", True)],
    ),
    "openai, a file that nobody retrieved": (
        message(
            text("annotations", {"type": "file_citation", "file_id": "file-1", "filename": "x.pdf", "index": 20}),
            "openai",
        ),
        [("file-1", False)],
    ),
    "openai, the web": (
        message(
            text(
                "annotations",
                {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 4, "end_index": 21},
            ),
            "openai",
        ),
        [("https://a.example", False)],
    ),
    "bedrock, a document": (
        message(
            text(
                "citations",
                {
                    "title": "Leave rules",
                    "source_content": [{"text": QUOTE}],
                    "location": {"document_char": {"document_index": 0, "start": 0, "end": 43}},
                },
            ),
            "bedrock_converse",
        ),
        [("doc-12", True)],
    ),
    "bedrock, by index": (
        message(
            text(
                "citations", {"title": "x", "location": {"document_page": {"document_index": 1, "start": 1, "end": 2}}}
            ),
            "bedrock_converse",
        ),
        [("doc-12", True)],
    ),
    "google": (
        message(ANSWER, "google_genai", grounding_metadata=GROUNDING),
        [("doc-12", True), ("https://a.example/leave", False)],
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_as_the_integration_leaves_it(name):
    found, expected = MESSAGES[name]
    assert [(cited.id, cited.valid) for cited in find_citations(found, CONTEXT, TEXTS)] == expected


@pytest.mark.parametrize("name", [name for name in MESSAGES if name != "google"])
def test_in_langchains_standard_form(name):
    """What `content_blocks` makes of it, and `output_version="v1"` stores."""
    found, expected = MESSAGES[name]
    standard = AIMessage(content=found.content_blocks, response_metadata={"output_version": "v1"})
    assert [(cited.id, cited.valid) for cited in find_citations(standard, CONTEXT, TEXTS)] == expected


def test_googles_standard_form_says_less():
    """LangChain leaves out what a chunk of a store says: neither url nor title nor text."""
    found, _ = MESSAGES["google"]
    standard = AIMessage(content=found.content_blocks)
    assert [(cited.id, cited.valid) for cited in find_citations(standard, CONTEXT, TEXTS)] == [
        ("https://a.example/leave", False)
    ]


def test_google_counts_bytes_and_the_places_are_characters():
    answer = "Größe: zwölf Wochen."
    support = {"segment": {"start_index": 9, "end_index": 22}, "grounding_chunk_indices": [0]}
    found = message(answer, "google_genai", grounding_metadata={**GROUNDING, "grounding_supports": [support]})
    (cited,) = find_citations(found, CONTEXT, TEXTS)
    assert answer[cited.start : cited.end] == "zwölf Wochen"


def test_a_quote_that_several_passages_hold_is_the_indexed_ones():
    texts = {"doc-7": f"One. {QUOTE}.", "doc-12": f"Two. {QUOTE}."}
    record = {"type": "char_location", "cited_text": QUOTE, "document_title": "x"}
    for index, name in ((0, "doc-7"), (1, "doc-12"), (9, "doc-7"), (None, "doc-7")):
        found = message(text("citations", {**record, "document_index": index}), "anthropic")
        assert [(each.id, each.valid) for each in find_citations(found, CONTEXT, texts)] == [(name, True)]


def test_a_short_quote_proves_nothing():
    record = {"type": "char_location", "cited_text": "It is paid.", "document_title": "x"}
    found = message(text("citations", record), "anthropic")
    assert [(each.id, each.valid) for each in find_citations(found, CONTEXT, TEXTS)] == [("x", False)]


@pytest.mark.parametrize(
    "odd", [None, 1, "x", [], {"grounding_supports": [None, {}, {"segment": 3}]}, {"grounding_chunks": {}}]
)
def test_odd_metadata_is_no_citation(odd):
    assert find_citations(message(ANSWER, "google_genai", grounding_metadata=odd), CONTEXT, TEXTS) == ()
