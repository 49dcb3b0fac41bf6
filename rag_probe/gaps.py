"""What a path does not hold, by the names of its fields (contracts 2): the rule for every source of paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rag_probe.path import EvidencePath, Step
from rag_probe.stages import Content, Generation, Retrieval

_STAGES: Final = (
    "retrievals",
    "retrieved",
    "reranked",
    "filtered",
    "permissions",
    "context",
    "budget",
    "answer",
    "citations",
    "generations",
    "tools",
    "nodes",
    "latency_ms",
    "cost_usd",
)
"""Fields that are absent only when nobody recorded them."""


def gaps(path: EvidencePath) -> Iterator[str]:
    """Names in the order of the path's fields; a name comes again for every step that lacks it.

    A list that was cut at the writer's cap keeps what came through, and is named all the same: no verdict that needs
    all of it can be reached.
    """
    if text_of(path.question) is None:
        yield "question"
    yield from (name for name in _STAGES if getattr(path, name) is None)
    if path.filtered is not None and path.filtered.kept is None:
        yield "filtered.kept"
    if path.answer is None or path.answer.outcome is None:
        yield "answer.outcome"
    if path.answer is not None and text_of(path.answer.content) is None:
        yield "answer.text"
    for step in path.retrievals or ():
        yield from _in_retrieval(step)
    for step in path.generations or ():
        yield from _in_generation(step)
    if path.context is not None:
        yield from cut(path.context.count, path.context.ids, "context")
        yield from cut(path.context.dropped_count, path.context.dropped, "context_dropped")
    if path.citations is not None:
        yield from cut(path.citations.count, path.citations.ids, "citations")


def cut(count: int | None, listed: Sequence[object], *fields: str) -> Sequence[str]:
    """What a list fills that is shorter than it was."""
    return fields if count is not None and count > len(listed) else ()


def text_of(content: Content | None) -> str | None:
    """The text, unless it is unknown or held back."""
    return None if content is None else content.text


def _in_retrieval(step: Step[Retrieval]) -> Iterator[str]:
    stage = step.stage
    if text_of(stage.query) is None:
        yield "retrievals.query"
    if stage.documents is not None:
        yield from cut(stage.documents.count, stage.documents.ids, "retrieved", "retrievals.documents")
    elif step.error is None:
        yield from ("retrieved", "retrievals.documents")
    if stage.candidates is not None:
        yield from cut(stage.candidates.count, stage.candidates.ids, "retrievals.candidates")


def _in_generation(step: Step[Generation]) -> Iterator[str]:
    stage = step.stage
    if stage.input_tokens is None:
        yield "generations.input_tokens"
    if stage.output_tokens is None:
        yield "generations.output_tokens"
    if stage.context is None:
        yield "generations.context"
    else:
        yield from cut(stage.context.count, stage.context.ids, "generations.context")
    if step.cost_usd is None:
        yield "generations.cost_usd"
