"""Citations in whatever form an app holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from rag_probe.faults import warn_once
from rag_probe.identifiers import identifier, identifier_of
from rag_probe.measured import whole
from rag_probe.recorders.recorder import ID_KEYS, Naming, known
from rag_probe.stages import Citations


class _Pointer(NamedTuple):
    id: object
    marker: object = None
    start: object = None
    end: object = None
    valid: object = None


def cited(pointers: Iterable[object], naming: Naming | None = None) -> Citations:
    """The columns of `pointers`; one without an id, which `naming` may know, is left out and said once."""
    rows = [pointer for item in pointers if (pointer := _pointer(item, naming)) is not None]
    return Citations(
        ids=tuple(str(row.id) for row in rows),
        markers=known(identifier(row.marker) for row in rows),
        starts=known(whole(row.start) for row in rows),
        ends=known(whole(row.end) for row in rows),
        valid=known(row.valid if isinstance(row.valid, bool) else None for row in rows),
    )


def _pointer(item: object, naming: Naming | None) -> _Pointer | None:
    row = _fields(item)
    name = (naming(row.id) if naming is not None else None) or identifier_of(row.id, ID_KEYS)
    if name is None:
        warn_once("citation", "tell.citations: a %s without an id is left out", type(item).__name__)
        return None
    return row._replace(id=name)


def _fields(item: object) -> _Pointer:
    match item:
        case str():
            return _Pointer(item)
        case tuple() | list():
            return _Pointer(*(*cast("Sequence[object]", item), None)[:5])
        case Mapping():
            row = cast("Mapping[str, object]", item)
            return _Pointer(item, *(row.get(name) for name in _Pointer._fields[1:]))
        case _:
            return _Pointer(item, *(getattr(item, name, None) for name in _Pointer._fields[1:]))
