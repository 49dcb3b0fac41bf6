"""A checkpoint's path and what traces know of the same question → one path, every value with its origin.

What was retrieved, kept, answered and how nodes ended is the checkpoint's; times, tokens, models, cost and attempts are
the trace's. Either fills what the other has not; where both know and differ, the checkpoint's stays and a warning says
so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from rag_probe.path import LATER_BRANCH, EvidencePath, Filtered, Origin, Step
from rag_probe.stages import NO_TAGS, Answer, CaseTags, Citations, Node, Retrieval
from rag_probe_collector.sources.conflicts import conflicts, listed

_STATE: Final = (
    "identity",
    "question",
    "retrieved",
    "reranked",
    "filtered",
    "permissions",
    "context",
    "verdicts",
    "error",
)
"""The checkpoint's, else the trace's."""
_MEASURED: Final = ("service", "budget", "generations", "tools", "latency_ms", "stage_latency_ms", "cost_usd")
"""The trace's, else the checkpoint's."""
Origins = dict[str, Origin]


def join(stored: EvidencePath, traced: EvidencePath) -> EvidencePath:
    """One path under the checkpoint's id; `traced` is of the same question, all its runs together."""
    origins: Origins = {}
    chosen = {name: _first(name, (stored, "checkpoint"), (traced, "trace"), origins) for name in _STATE}
    chosen |= {name: _first(name, (traced, "trace"), (stored, "checkpoint"), origins) for name in _MEASURED}
    path = replace(stored, **chosen)
    answer = _answer(stored, traced, origins)
    path = replace(
        path,
        filtered=_filtered(path, origins),
        trace_id=traced.trace_id,
        trace_ids=tuple(dict.fromkeys((*traced.trace_ids, *stored.trace_ids))),
        tags=_tags(stored, traced, origins),
        retrievals=_retrievals(stored, traced, origins),
        answer=answer,
        answer_generation=(traced if origins.get("generations") == "trace" else stored).answer_generation,
        citations=_citations(stored, traced, origins),
        nodes=_nodes(stored, traced, origins),
        warnings=tuple(dict.fromkeys((*stored.warnings, *traced.warnings, *conflicts(stored, traced)))),
        partial=stored.partial or traced.partial,
        joined=tuple(origins.items()),
    )
    if answer is not None:
        path = replace(path, answer=replace(answer, citations=path.citations))
    return replace(
        path,
        inferred=_names(stored.inferred, traced.inferred, origins),
        not_captured=_names(stored.not_captured, traced.not_captured, origins),
    )


def _first(
    name: str, before: tuple[EvidencePath, Origin], after: tuple[EvidencePath, Origin], origins: Origins
) -> object:
    for path, origin in (before, after):
        value: object = getattr(path, name)
        if value is not None and (value or name != "stage_latency_ms"):
            origins[name] = origin
            return value
    return getattr(before[0], name)


def _filtered(path: EvidencePath, origins: Origins) -> Filtered | None:
    """Without what the other source, which knows more of that step, says was denied: one step is told once."""
    if path.filtered is None or path.permissions is None or origins["filtered"] == origins["permissions"]:
        return path.filtered
    denied = {each.id for each in path.permissions if each.decision == "deny"}
    left = tuple([drop for drop in path.filtered.dropped if drop.id not in denied])
    if left or not path.filtered.dropped:
        return replace(path.filtered, dropped=left)
    del origins["filtered"]
    return None


def _tags(stored: EvidencePath, traced: EvidencePath, origins: Origins) -> CaseTags:
    """Those of a `case()` block around the app are in its trace alone."""
    if stored.tags == NO_TAGS and traced.tags != NO_TAGS and LATER_BRANCH not in stored.warnings:
        origins["tags"] = "trace"
        return traced.tags
    return stored.tags


class _Pair(NamedTuple):
    stored: Step[Retrieval]
    traced: Step[Retrieval]


def _retrievals(stored: EvidencePath, traced: EvidencePath, origins: Origins) -> tuple[Step[Retrieval], ...] | None:
    """One by one where both saw the same passages; the trace's own where only the number of searches differs."""
    mine, theirs = stored.retrievals, traced.retrievals
    if not theirs or not mine:
        if mine or theirs:
            origins["retrievals"] = "checkpoint" if mine else "trace"
        return mine or theirs
    pairs = [_Pair(*pair) for pair in zip(mine, theirs, strict=False)]
    if len(mine) == len(theirs) and all(_ids(each.stored) == _ids(each.traced) for each in pairs):
        origins.update({"retrievals.documents": "checkpoint", "retrievals": "trace"})
        return tuple(
            replace(each.traced, stage=replace(each.traced.stage, documents=each.stored.stage.documents))
            for each in pairs
        )
    same = listed(stored.retrieved) == listed(traced.retrieved) is not None
    origins["retrievals"] = "trace" if same else "checkpoint"
    return theirs if same else mine


def _answer(stored: EvidencePath, traced: EvidencePath, origins: Origins) -> Answer | None:
    mine, theirs = stored.answer, traced.answer
    if mine is None or theirs is None:
        if mine is not None or theirs is not None:
            origins["answer"] = "trace" if mine is None else "checkpoint"
        return mine or theirs
    origins["answer"] = "checkpoint"
    inferred = "answer.outcome" in stored.inferred and "answer.outcome" not in traced.inferred
    if inferred and theirs.outcome is not None and theirs.outcome != "error":  # somebody told it
        origins["answer.outcome"] = "trace"
        mine = replace(mine, outcome=theirs.outcome)
    if mine.confidence is None and theirs.confidence is not None:
        origins["answer.confidence"] = "trace"
        mine = replace(mine, confidence=theirs.confidence)
    return mine


def _citations(stored: EvidencePath, traced: EvidencePath, origins: Origins) -> Citations | None:
    """They point into the prompt: where the checkpoint does not hold it, the trace knows better."""
    mine, theirs = stored.citations, traced.citations
    if theirs is not None and (mine is None or stored.context is None):
        origins["citations"] = "trace"
        return theirs
    if mine is not None:
        origins["citations"] = "checkpoint"
    return mine


def _nodes(stored: EvidencePath, traced: EvidencePath, origins: Origins) -> tuple[Step[Node], ...] | None:
    """By task: its own time and attempt instead of the bounds of its superstep; None where it left no span."""
    if not traced.nodes or not stored.nodes:
        if stored.nodes or traced.nodes:
            origins["nodes"] = "checkpoint" if stored.nodes else "trace"
        return stored.nodes or traced.nodes
    origins.update({"nodes.latency_ms": "trace", "nodes.attempt": "trace", "nodes": "checkpoint"})
    known = {step.stage.task_id: step for step in traced.nodes}
    return tuple([_node(step, known.get(step.stage.task_id)) for step in stored.nodes])


def _node(step: Step[Node], traced: Step[Node] | None) -> Step[Node]:
    if traced is None or step.stage.task_id is None:
        return replace(step, latency_ms=None)
    name = traced.stage.name if step.stage.name == "unknown" else step.stage.name
    return replace(
        step, latency_ms=traced.latency_ms, stage=replace(step.stage, name=name, attempt=traced.stage.attempt)
    )


def _ids(step: Step[Retrieval]) -> tuple[str, ...] | None:
    return None if step.stage.documents is None else step.stage.documents.ids


def _names(mine: Iterable[str], theirs: Iterable[str], origins: Mapping[str, Origin]) -> tuple[str, ...]:
    """Of the names that each source says of itself, those of fields that came from it or from neither."""
    named = [(name, "checkpoint") for name in mine] + [(name, "trace") for name in theirs]
    return tuple(dict.fromkeys(name for name, origin in named if _origin(name, origins) in (origin, None)))


def _origin(name: str, origins: Mapping[str, Origin]) -> Origin | None:
    return origins.get(name) or origins.get(name.partition(".")[0])
