"""Question → evidence path: the rules of contracts 1, whatever dialect the spans were written in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import fsum
from typing import NamedTuple, TypeVar

from rag_probe.path import EvidencePath, Step
from rag_probe.stages import (
    Answer,
    Budget,
    Chunks,
    Citations,
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
from rag_probe_collector.assembly.answering import Origin, answer_from, context_of, origin_of
from rag_probe_collector.assembly.around import Around, around
from rag_probe_collector.assembly.decisions import filtered, only_drops, permitted, reranked
from rag_probe_collector.assembly.gaps import not_captured
from rag_probe_collector.assembly.noted import noted
from rag_probe_collector.assembly.parts import Part
from rag_probe_collector.assembly.questions import Question, goes_on
from rag_probe_collector.assembly.record import Ran, Record
from rag_probe_collector.assembly.retrieved import outermost, returned
from rag_probe_collector.assembly.roots import first, merged_root
from rag_probe_collector.assembly.tasks import nodes
from rag_probe_collector.assembly.timing import covered_ms, stage_latencies
from rag_probe_collector.assembly.verdicts import verdicts
from rag_probe_collector.pricing import cost_usd

T = TypeVar("T")


class _Known(NamedTuple):
    """What has to be found out before a path can be written down."""

    parts: tuple[Part, ...]
    root: Root
    record: Record
    tasks: tuple[Step[Node], ...]
    whole: bool
    """Whether what was not seen did not happen: nothing is missing, was broken off, or is still paused."""
    told: Answer | None
    origin: Origin
    error: str | None

    def none_of(self, field: str) -> bool:
        """Whether an empty list of stages means that there were none."""
        return self.whole and field in self.parts[0].dialect.records


def evidence_path(question: Question) -> EvidencePath:
    """The path of one question. Nothing in its spans makes this raise."""
    known = _know(question)
    parts, root = known.parts, known.root
    answer, guesses = _answer(known)
    path = _stages(known, answer)
    if not _is_answered(known, answer):  # what stood in the prompt of a call that nobody got the answer of
        guesses = ("context",) if path.context is not None and known.origin.generation is not None else ()
    path, beside = _with_others(path, known.record)
    if path.filtered is not None and path.filtered.kept is not None:
        guesses = (*guesses, *(["filtered.kept"] if beside.ids or only_drops(known.record.of(Filtering)) else []))
    marks = noted(parts, _answering(known))
    return replace(
        path,
        trace_ids=tuple(dict.fromkeys([part.trace_id for part in parts])),
        thread_id=root.thread_id,
        service=first([part.top.resource.service for part in parts]),
        source=parts[0].dialect.source(graph=bool(known.tasks)),
        started_at=parts[0].top.start or None,
        tags=root.tags,
        identity=root.identity,
        error=known.error,
        inferred=tuple(dict.fromkeys((*marks.inferred, *guesses))),
        not_captured=not_captured(path, known.record, (*_cut_verdicts(root), *_unsure(beside), *marks.not_captured)),
        warnings=tuple(_warnings(known)),
        partial=marks.partial or not known.whole,
    )


def _cut_verdicts(root: Root) -> tuple[str, ...]:
    return () if root.verdicts is None or root.verdicts.count is None else ("verdicts",)


def _with_others(path: EvidencePath, found: Record) -> tuple[EvidencePath, Around]:
    """With the passages that went around the filters among those that passed."""
    contexts = [ran.stage.context for ran in found.of(Generation)]
    prompts = frozenset([name for context in (*contexts, path.context) if context is not None for name in context.ids])
    beside = around(found.of(Filtering), found.of(Retrieval), prompts)
    filtered = path.filtered
    if filtered is None or filtered.kept is None or not beside.ids:
        return path, beside
    return replace(path, filtered=replace(filtered, kept=tuple(dict.fromkeys((*filtered.kept, *beside.ids))))), beside


def _unsure(beside: Around) -> tuple[str, ...]:
    return () if beside.decided else ("filtered.kept",)


def _record(parts: Sequence[Part]) -> Record:
    """Parts may have run side by side; where they follow one another against their clocks, each is sorted alone."""
    if all(before.top.start <= after.top.start for before, after in pairwise(parts)):
        return Record([one for part in parts for one in part.seen])
    return Record(*[part.seen for part in parts])


def _know(question: Question) -> _Known:
    parts = question.parts
    root = merged_root(parts)
    found = _record(parts)
    tasks = nodes(found.of(Node))
    told = root.answer or first(ran.stage for ran in reversed(found.of(Answer)))
    lost = [part for part in parts if part.rootless or part.incomplete or part.dialect.notes(part.top).partial]
    return _Known(
        parts=parts,
        root=root,
        record=found,
        tasks=tasks,
        whole=not lost and not _paused(tasks) and not goes_on(parts),
        told=told,
        origin=origin_of(told, found.of(Generation)),
        error=None if parts[-1].rootless else parts[-1].top.error,
    )


def _stages(known: _Known, answer: Answer | None) -> EvidencePath:
    found, top = known.record, known.parts[0].top
    retrievals = outermost(found.of(Retrieval), found.of(Rerank))
    generations = tuple([_generation(ran) for ran in found.of(Generation)])
    silent = not generations and known.error is None and known.none_of("generations")
    returned = _retrieved(known, retrievals)
    context = ContextAssembly() if silent else context_of(found, known.origin)
    return EvidencePath(
        path_id=f"{top.trace_id}:{top.span_id}",
        trace_id=top.trace_id,
        question=known.root.question,
        retrievals=_seen(known, "retrievals", retrievals),
        retrieved=returned,
        reranked=reranked(found.of(Rerank)),
        filtered=filtered(found.of(Filtering), returned, _denied(found)),
        permissions=permitted(found.of(PermissionCheck)),
        context=context,
        budget=_budget(context, found),
        answer=answer,
        answer_generation=known.origin.generation if _is_answered(known, answer) else None,
        citations=_citations(answer),
        generations=_seen(known, "generations", generations),
        tools=_seen(known, "tools", _tools(found)),
        nodes=_seen(known, "nodes", known.tasks),
        verdicts=verdicts(known.root.verdicts),
        latency_ms=_latency(known.parts),
        stage_latency_ms=stage_latencies(found),
        cost_usd=_total(generations) if generations or known.none_of("generations") else None,
    )


def _denied(found: Record) -> frozenset[str]:
    judged = [each for each in permitted(found.of(PermissionCheck)) or () if each.decision == "deny"]
    return frozenset([each.id for each in judged])


def _retrieved(known: _Known, retrievals: Sequence[Step[Retrieval]]) -> Chunks | None:
    """None, not captured, where passages stood in a prompt: they came with a state, from a cache or an earlier part."""
    if retrievals:
        return returned(retrievals, known.error)
    contexts = [ran.stage.context for ran in known.record.of(Generation)]
    from_elsewhere = any(context is not None and context.ids for context in contexts)
    return Chunks() if known.error is None and known.none_of("retrievals") and not from_elsewhere else None


def _seen(known: _Known, field: str, rows: tuple[T, ...]) -> tuple[T, ...] | None:
    return rows if rows or known.none_of(field) else None


def _answer(known: _Known) -> tuple[Answer | None, tuple[str, ...]]:
    """What the root says; else what follows from the rest, with the names of what was inferred."""
    guesses = _guessed(known)
    if known.told is not None:
        return known.told, guesses
    if known.error is not None:
        return Answer(outcome="error"), guesses
    generation = _answering(known)
    if generation is not None and not _paused(known.tasks):
        answer = answer_from(generation)
        if not _broken_off(known):
            return answer, (*guesses, "answer.outcome", "answer.text")
        return replace(answer, outcome=None), (*guesses, "answer.text")
    if not known.record.of(Generation) and known.none_of("generations"):
        return Answer(outcome="abstained"), ("answer.outcome",)
    return None, guesses


def _broken_off(known: _Known) -> bool:
    """Whether the question says that it did not come to its end: what a call had written by then answered nobody."""
    return known.parts[-1].dialect.notes(known.parts[-1].top).partial


def _is_answered(known: _Known, answer: Answer | None) -> bool:
    """Whether a call may have produced it: a run that failed or pauses has no answer, unless there is a text."""
    return answer is not None and (answer.content is not None or known.error is None)


def _guessed(known: _Known) -> tuple[str, ...]:
    if not known.origin.guessed:
        return ()
    contexts = {ran.stage.context.ids for ran in known.record.of(Generation) if ran.stage.context is not None}
    return ("answer.generation", "context") if len(contexts) > 1 else ("answer.generation",)


def _answering(known: _Known) -> Generation | None:
    return None if known.origin.generation is None else known.record.of(Generation)[known.origin.generation].stage


def _citations(answer: Answer | None) -> Citations | None:
    """Who is silent on purpose cites nothing; what a run that failed had said by then, nobody knows."""
    if answer is None or answer.citations is not None:
        return answer.citations if answer is not None else None
    blank = answer.content is None or answer.content.length == 0
    return Citations() if blank and answer.outcome == "abstained" else None


def _generation(ran: Ran[Generation]) -> Step[Generation]:
    span = ran.span
    return Step(ran.stage, span.latency_ms, span.error, cost_usd(ran.stage, span.start))


def _total(generations: Sequence[Step[Generation]]) -> float | None:
    """Of all calls; None as soon as one is unknown, since a part would look like the whole."""
    costs = [step.cost_usd for step in generations if step.cost_usd is not None]
    return fsum(costs) if len(costs) == len(generations) else None


def _tools(found: Record) -> tuple[Step[ToolCall], ...]:
    return tuple([Step(ran.stage, ran.span.latency_ms, ran.span.error) for ran in found.of(ToolCall)])


def _budget(context: ContextAssembly | None, found: Record) -> Budget | None:
    if context is not None and context.budget is not None:
        return context.budget
    return first(ran.stage.budget for ran in reversed(found.of(ContextAssembly)))


def _latency(parts: Sequence[Part]) -> float | None:
    """As recorded; of several parts the time that any of them ran, so that waiting for a human does not count."""
    if len(parts) == 1 and not parts[0].rootless:
        return parts[0].top.latency_ms
    return covered_ms([one.span for part in parts for one in (part.seen if part.rootless else part.seen[:1])])


def _paused(tasks: Sequence[Step[Node]]) -> list[str]:
    return [task.stage.name for task in tasks if task.stage.outcome == "interrupted"]


def _warnings(known: _Known) -> Iterable[str]:
    for part in known.parts:
        yield from part.warnings
    if goes_on(known.parts):
        yield "goes on with an earlier run: what that one did is not in this source"
    for name in _paused(known.tasks):
        yield f"paused at {name!r}: what resumed it is not in this source"
