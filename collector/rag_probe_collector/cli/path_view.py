"""One evidence path for the eye: a row per stage, so that one sees where passages fell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rag_probe.path import EvidencePath, Step, Verdict
from rag_probe.path_json import instant
from rag_probe.stages import Content, ContextAssembly, Generation
from rag_probe_collector.assembly.retries import retries
from rag_probe_collector.cli.terminal import plain

_IDS: Final = 12
"""Ids shown of one list; the rest is counted."""
_ID: Final = 40
_TEXT: Final = 240
_GOOD, _BAD, _DIM, _NAME = "green", "red", "dim", "bold cyan"


class Row(NamedTuple):
    """One stage: its name, how many passages passed, what is to be said of it, and its milliseconds."""

    name: str
    passed: str
    detail: Text
    time: str = ""


def view(path: EvidencePath) -> RenderableType:
    """Head, stages, and what is missing. Whatever the path holds, nothing in it acts upon the terminal."""
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(style=_NAME, no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(justify="right", style=_DIM, no_wrap=True)
    for row in rows(path):
        table.add_row(row.name, row.passed, row.detail, row.time)
    return Group(_head(path), Padding(Group(table, *_notes(path)), (0, 0, 0, 2)), Text())


def rows(path: EvidencePath) -> Iterator[Row]:
    """The stages in the order in which they ran; those that nobody recorded are left out."""
    took = dict(path.stage_latency_ms)
    yield Row("question", "", _content(path.question))
    yield from _retrieved(path, _ms(took.get("retrieval")))
    order = [*(kind for kind in took if kind in _NARROWING), *(kind for kind in _NARROWING if kind not in took)]
    for kind in order:
        yield from _NARROWING[kind](path, _ms(took.get(kind)))
    if path.context is not None:
        yield from _context(path.context)
    yield from _generations(path)
    if path.nodes:
        yield Row("nodes", "", Text(" → ".join(_node(path)), overflow="fold"))
    again = [f"{plain(name, _ID)} ×{count}" for name, count in retries(path).items()]
    if again:
        yield Row("ran again", "", Text("  ".join(again), overflow="fold"))
    for verdict in path.verdicts or ():
        yield Row("validation", "", _verdict(verdict))
    for step in path.tools or ():
        yield Row("tool", "", Text(plain(step.stage.name or "", _ID)), _ms(step.latency_ms))
    yield from _answer(path)


def _head(path: EvidencePath) -> Text:
    tags = path.tags
    about = [
        tags.experiment and f"experiment {plain(tags.experiment, _ID)}",
        None if tags.repetition is None else f"repetition {tags.repetition}",
        path.service and plain(path.service, _ID),
        path.source,
        None if path.started_at is None else instant(path.started_at),
        _ms(path.latency_ms),
        None if path.cost_usd is None else f"${path.cost_usd:.6f}",
    ]
    head = Text(f"case {plain(tags.case_id, _ID)}" if tags.case_id is not None else "question", "bold")
    head.append(f"  {plain(path.path_id, 80)}", "not bold dim")
    head.append("\n" + " · ".join(part for part in about if part), "not bold dim")
    if path.error is not None:
        head.append(f"\nfailed: {plain(path.error, _TEXT)}", _BAD)
    return head


def _retrieved(path: EvidencePath, time: str) -> Iterator[Row]:
    if path.retrieved is not None:
        count = path.retrieved.count or len(path.retrieved.ids)
        yield Row("retrieved", str(count), _ids(path.retrieved.ids), time)
    for step in path.retrievals or ():
        if step.error is not None:
            yield Row("", "", Text(plain(f"{step.stage.name or 'a retrieval'} failed: {step.error}", _TEXT), _BAD))


def _reranked(path: EvidencePath, time: str) -> Iterator[Row]:
    if path.reranked is not None:
        yield Row("reranked", str(len(path.reranked)), _ids([row.id for row in path.reranked]), time)


def _permitted(path: EvidencePath, time: str) -> Iterator[Row]:
    if path.permissions is None:
        return
    allowed = list(dict.fromkeys(row.id for row in path.permissions if row.decision == "allow"))
    yield Row("permitted", str(len(allowed)), _ids(allowed), time)
    for row in [row for row in path.permissions if row.decision == "deny"][:_IDS]:
        yield Row("", "", _fell(row.id, "denied", row.reason, row.policy))


def _filtered(path: EvidencePath, time: str) -> Iterator[Row]:
    if path.filtered is None:
        return
    kept = path.filtered.kept
    if kept is None:
        yield Row("filtered", "?", Text("what passed: not captured", _DIM), time)
    else:
        yield Row("filtered", str(len(kept)), _ids(kept), time)
    for drop in path.filtered.dropped[:_IDS]:
        yield Row("", "", _fell(drop.id, "dropped", drop.reason, drop.step))


_NARROWING: Final[dict[str, Callable[[EvidencePath, str], Iterator[Row]]]] = {
    "rerank": _reranked,
    "permission": _permitted,
    "filter": _filtered,
}
"""What may run in any order between retrieval and context."""


def _context(context: ContextAssembly) -> Iterator[Row]:
    budget = context.budget
    detail = _ids(context.ids)
    if budget is not None and budget.used is not None:
        limit = "" if budget.limit is None else f" of {budget.limit}"
        detail.append(f"  ({budget.used}{limit} tokens)", _DIM)
    yield Row("context", str(context.count or len(context.ids)), detail)
    cut = [chunk_id for chunk_id, is_cut in zip(context.ids, context.truncated, strict=False) if is_cut]
    for chunk_id in cut[:_IDS]:
        yield Row("", "", _fell(chunk_id, "cut", None, None))
    for place, chunk_id in enumerate(context.dropped[:_IDS]):
        reason = context.dropped_reasons[place] if context.dropped_reasons else None
        yield Row("", "", _fell(chunk_id, "dropped", reason, None))


def _generations(path: EvidencePath) -> Iterator[Row]:
    for index, step in enumerate(path.generations or ()):
        name = "answered by" if index == path.answer_generation else "model call"
        yield Row(name, "", _generation(step), _ms(step.latency_ms))


def _generation(step: Step[Generation]) -> Text:
    stage = step.stage
    read = "?" if stage.input_tokens is None else str(stage.input_tokens)
    wrote = "?" if stage.output_tokens is None else str(stage.output_tokens)
    cost = "cost unknown" if step.cost_usd is None else f"${step.cost_usd:.6f}"
    parts = [plain(stage.response_model or stage.model or "a model", _ID), plain(stage.role or "", _ID)]
    text = Text("  ".join([*(part for part in parts if part), f"{read} → {wrote} tokens", cost]))
    if step.error is not None:
        text.append(f"  failed: {plain(step.error, _ID)}", _BAD)
    return text


def _node(path: EvidencePath) -> Iterator[str]:
    for step in path.nodes or ():
        stage = step.stage
        said = stage.answered.text if stage.answered is not None else None
        outcome = stage.outcome if said is None else f"{stage.outcome}: {plain(said, _ID)}"
        yield plain(stage.name, _ID) + ("" if outcome in (None, "ok") else f" ({outcome})")


def _verdict(verdict: Verdict) -> Text:
    said, style = ("passed", _GOOD) if verdict.passed else ("refused", _BAD)
    step = "" if verdict.step is None else f" in step {verdict.step}"
    text = Text(f"{plain(verdict.node or 'a step', _ID)} ").append(said, style)
    return text.append(f"{step}: ", _DIM).append_text(_content(verdict.draft))


def _answer(path: EvidencePath) -> Iterator[Row]:
    if path.answer is not None:
        outcome = path.answer.outcome or "outcome unknown"
        text = Text(f"{outcome}  ")
        yield Row("answer", "", text.append_text(_content(path.answer.content)))
    if path.citations is not None:
        cited = Text()
        for place, chunk_id in enumerate(path.citations.ids[:_IDS]):
            valid = path.citations.valid[place] if path.citations.valid else None
            mark, style = {True: ("✓", _GOOD), False: ("✗", _BAD), None: ("?", _DIM)}[valid]
            cited.append(f"{plain(chunk_id, _ID)} {mark}  ", style)
        yield Row("cited", str(path.citations.count or len(path.citations.ids)), cited)


def _notes(path: EvidencePath) -> Iterator[Text]:
    if path.partial:
        yield Text("partial: more belongs to this question than has arrived", "yellow")
    for label, names in (("inferred", path.inferred), ("not captured", path.not_captured)):
        if names:
            yield Text(f"{label}: " + ", ".join(plain(name, _ID) for name in names), _DIM)
    if path.joined:
        traced = [plain(name, _ID) for name, origin in path.joined if origin == "trace"]
        yield Text("from the checkpoint, but from the trace: " + ", ".join(traced), _DIM)
    for warning in path.warnings:
        yield Text(f"warning: {plain(warning, _TEXT)}", "yellow")


def _content(content: Content | None) -> Text:
    if content is None:
        return Text("not captured", _DIM)
    if content.text is not None:
        return Text(plain(content.text, _TEXT))
    return Text("held back" if content.length is None else f"{content.length} characters, held back", _DIM)


def _fell(chunk_id: str, verb: str, reason: str | None, by: str | None) -> Text:
    text = Text(f"{verb} {plain(chunk_id, _ID)}", _BAD)
    why = ", ".join(plain(part, _ID) for part in (reason, by) if part)
    return text.append(f"  {why}", _DIM)


def _ids(ids: Sequence[str]) -> Text:
    text = Text(" ".join(plain(chunk_id, _ID) for chunk_id in ids[:_IDS]))
    if len(ids) > _IDS:
        text.append(f" … and {len(ids) - _IDS} more", _DIM)
    return text


def _ms(milliseconds: float | None) -> str:
    return "" if milliseconds is None else f"{milliseconds:,.1f} ms"
