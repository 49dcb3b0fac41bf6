"""Trace → parts: the subtrees that answer one question each (contracts 1).

A part begins at the outermost span that means something: at a workflow, or at a stage that has none above it. What
other libraries put between, above or below is walked through. A span with a case of its own begins a part of its own,
and so does one of ours inside a part of theirs, which then is the same question told again (echoes.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rag_probe import attributes as a
from rag_probe.stages import CaseTags, Generation, Retrieval, Root
from rag_probe_collector.assembly.echoes import without_echoes
from rag_probe_collector.assembly.trace import Place, Trace
from rag_probe_collector.dialects import OWN, dialect_of
from rag_probe_collector.dialects.reading import Dialect, Reading, Workflow
from rag_probe_collector.otlp.span import Span

_NOTHING: Final = Root()
_NO_TAGS: Final = CaseTags()
MAX_WARNINGS: Final = 20
"""Of one kind and part; the rest is counted."""


class Seen(NamedTuple):
    """A span that means something, where it stands in its part."""

    span: Span
    depth: int
    reading: Reading | None
    """None for the part's own top when it is plumbing."""
    within: Span | None
    """The outermost retrieval above it."""


@dataclass(slots=True)
class Part:
    """The spans of one question in one trace, parents first. Filled while the trace is walked, then only read."""

    trace_id: str
    dialect: Dialect
    top: Span
    """The outermost span; of a part whose root never arrived, the topmost orphan."""
    root: Root
    rootless: bool
    told_again: bool = False
    """Whether a part of ours stands inside it."""
    incomplete: bool = False
    """Whether spans of this trace were lost that may belong here."""
    seen: list[Seen] = field(default_factory=list[Seen])
    warnings: list[str] = field(default_factory=list[str])


class _Spot(NamedTuple):
    """What a span hands down to its children."""

    part: Part | None
    within: Span | None
    calling: bool = False
    """Whether inside a model call: what another library records there is the same call again."""


_TOP: Final = _Spot(None, None)


def parts_of(trace: Trace) -> list[Part]:
    """The parts of a trace, in the order of their tops; orphans without a root of their own make one part together."""
    found: list[Part] = []
    loose: dict[str, Part] = {}
    spots: list[_Spot] = []
    for place in trace.places:
        above = spots[place.parent] if place.parent is not None else _TOP
        dialect = dialect_of(place.span)
        if dialect is None or (above.part is not None and above.part.dialect is not dialect and dialect is not OWN):
            spots.append(above)
        else:
            spots.append(_stand(place, above, dialect, trace, found, loose))
    for part in loose.values():
        _adopt(part, found)
    return without_echoes(found)


def _stand(
    place: Place, above: _Spot, dialect: Dialect, trace: Trace, found: list[Part], loose: dict[str, Part]
) -> _Spot:
    """Add a span to the part that it belongs to, or begin one; return what it hands down."""
    span = place.span
    if above.part is not None and above.part.dialect is not dialect:
        above.part.told_again = True
        above = _TOP
    part, within, calling = above
    reading = dialect.read(span)
    is_call = isinstance(reading, Generation)
    if calling and is_call:
        return above
    if part is None and place.lost and _lost_its_root(span, reading, dialect):
        part = loose.get(dialect.name) or _begin(found, trace, span, dialect, _NOTHING)
        loose[dialect.name] = part
    elif _begins(span, reading, dialect, part):
        part, within = _begin(found, trace, span, dialect, dialect.root(span)), None
    if part is not None and (reading is not None or part.top is span):
        part.seen.append(Seen(span, place.depth, reading, within))
        _warn(part, place, trace)
        if within is None and isinstance(reading, Retrieval):
            within = span
    return _Spot(part, within, calling or is_call)


def _adopt(loose: Part, found: list[Part]) -> None:
    """Spans without a root belong to the one question of their trace that has one; with several, nobody can tell."""
    rooted = [part for part in found if part.dialect is loose.dialect and not part.rootless]
    for part in rooted:
        part.incomplete = True
        _note(part, "spans of this trace never arrived")
    if len(rooted) == 1:
        rooted[0].seen += loose.seen
        rooted[0].warnings += loose.warnings
        found.remove(loose)
    else:
        loose.incomplete = True
        _note(loose, f"the root span never arrived; {loose.top.name!r} stands in")


def _begin(found: list[Part], trace: Trace, top: Span, dialect: Dialect, root: Root) -> Part:
    part = Part(trace.trace_id, dialect, top, root, rootless=root is _NOTHING)
    found.append(part)
    return part


def _begins(span: Span, reading: Reading | None, dialect: Dialect, part: Part | None) -> bool:
    if part is None:
        return reading is not None or _speaks_for_a_question(dialect.root(span))
    case = span.attributes.get(a.CASE_ID)
    mine = part.root.tags
    return isinstance(case, str) and (case, span.attributes.get(a.CASE_RUN)) != (mine.case_id, mine.case_run)


def _lost_its_root(span: Span, reading: Reading | None, dialect: Dialect) -> bool:
    """Whether an orphan's question had a root that never arrived.

    A missing parent alone does not say so: it may be another service's span. A root knows itself by what it says of
    the question, or by its parent's being remote; a workflow is taken for one unless its parent was local.
    """
    if reading is None or span.local_parent is False or _speaks_for_a_question(dialect.root(span)):
        return False
    return span.local_parent is True or not isinstance(reading, Workflow)


def _speaks_for_a_question(root: Root) -> bool:
    return root.question is not None or root.answer is not None or root.tags != _NO_TAGS


def _warn(part: Part, place: Place, trace: Trace) -> None:
    span = place.span
    if span.span_id in trace.warnings:
        _note(part, f"span {span.span_id} {trace.warnings[span.span_id]}")
    if 0 < span.end < span.start:
        _note(part, f"span {span.span_id} ends before it starts; its times are as recorded")
    if place.parent is not None and 0 < span.start < trace.places[place.parent].span.start:
        _note(part, f"span {span.span_id} starts before its parent; its times are as recorded")


def _note(part: Part, warning: str) -> None:
    if len(part.warnings) < MAX_WARNINGS:
        part.warnings.append(warning)
    elif len(part.warnings) == MAX_WARNINGS:
        part.warnings.append("and more of the same kind")
