"""A step that makes the text of a prompt's context from documents, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.prompts import BasePromptTemplate, format_document
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.base import RunnableSerializable
from pydantic import ConfigDict, Field

from rag_probe import stage
from rag_probe.policy import CapturePolicy
from rag_probe_langchain.components.naming import names_of
from rag_probe_langchain.components.ordering import Order, arranged, by_priority
from rag_probe_langchain.components.packing import Entry, Overflow, Packed, pack
from rag_probe_langchain.identity import scores_of
from rag_probe_langchain.tokens import Tokenizer, tokenizer_of


class ContextBuilder(RunnableSerializable[Sequence[Document], str]):
    """Documents in, text out: `retriever | ContextBuilder(token_limit=2000, numbered=True)`.

    Duplicates fall, then what has no room; each is recorded with its reason (`duplicate`, `empty`, `budget`), and what
    is recorded is exactly what was built. Tokens are those of a passage as it is printed, number, template and
    separator included: their sum keeps to the limit.
    """

    token_limit: int | None = Field(default=None, ge=0)
    """None: everything goes in."""
    tokenizer: Tokenizer | Callable[[str], int] | None = None
    """Counts the tokens of a text, as `llm.get_num_tokens` does; by default an estimate that says so."""
    document_prompt: BasePromptTemplate[str] | Callable[[Document], str] | None = None
    """How a passage is printed: a template over `page_content` and metadata, or a function; by default its text."""
    numbered: bool = False
    """Whether `[1] `, `[2] `, … stand before the passages, for answers that cite by number."""
    document_separator: str = "\n\n"
    order: Order = "given"
    """`given`; `best_first`, by score; `lost_in_the_middle`, by score with the best at both ends.

    A passage without a score follows those that have one, as given. What has no room is what comes last, as given or
    by score."""
    overflow: Overflow = "drop"
    """What becomes of a passage that does not fit: `drop`, or a cut at the end of a `sentence` or `character`."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def invoke(self, input: Sequence[Document], config: RunnableConfig | None = None, **kwargs: Any) -> str:  # noqa: A002, ANN401
        """The text."""
        return self._call_with_config(self._build, input, config, **kwargs)

    def _build(self, documents: Sequence[Document]) -> str:
        tokenizer = tokenizer_of(self.tokenizer)
        with stage("context", self.get_name(), limit=self.token_limit, tokenizer=tokenizer.name) as told:
            told.noted = True  # also that nothing is there
            packed = self._packed(documents, tokenizer)
            pieces = self._pieces(packed.entries)
            names = names_of(documents)
            for entry, piece in zip(packed.entries, pieces, strict=True):
                kept = [(0, len(entry.document.page_content))] if entry.cut else None
                told.add(names[entry.place], tokenizer.count(piece), entry.cut, kept)
            for place, reason in _lost(packed, names):
                told.drop(names[place], reason)
        return "".join(pieces)

    def _packed(self, documents: Sequence[Document], tokenizer: Tokenizer) -> Packed:
        """The entries in the order of the prompt; those that the last look finds too long are taken out again."""

        def cost(document: Document, number: int) -> int:
            return tokenizer.count(self._piece(document, number))

        scores = scores_of(documents, CapturePolicy())
        packed = pack(documents, by_priority(scores, self.order), self.token_limit, cost, self.overflow)
        entries = packed.entries
        while entries and self._is_too_long(arranged(entries, self.order), tokenizer):
            packed.dropped[entries.pop().place] = "budget"
        return Packed(arranged(entries, self.order), packed.dropped)

    def _is_too_long(self, entries: Sequence[Entry], tokenizer: Tokenizer) -> bool:
        return self.token_limit is not None and sum(map(tokenizer.count, self._pieces(entries))) > self.token_limit

    def _pieces(self, entries: Sequence[Entry]) -> list[str]:
        """The texts which, one behind the other, are the context."""
        return [self._piece(entry.document, number) for number, entry in enumerate(entries, 1)]

    def _piece(self, document: Document, number: int) -> str:
        numbered = f"[{number}] " if self.numbered else ""
        return (self.document_separator if number > 1 else "") + numbered + self._printed(document)

    def _printed(self, document: Document) -> str:
        match self.document_prompt:
            case None:
                return document.page_content
            case BasePromptTemplate() as prompt:
                return format_document(document, prompt)
            case printed:
                return printed(document)


def _lost(packed: Packed, names: Sequence[str]) -> list[tuple[int, str]]:
    """What fell and is not there under the same id."""
    there = {names[entry.place] for entry in packed.entries}
    return [(place, reason) for place, reason in packed.dropped.items() if names[place] not in there]
