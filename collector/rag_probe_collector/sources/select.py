"""Selection, the same for every source (contracts 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeAlias

from rag_probe.attributes import Attributes, Value
from rag_probe.path import EvidencePath
from rag_probe.protocols import Selection
from rag_probe.stages import Root
from rag_probe.wire import encode_root

Found: TypeAlias = tuple[EvidencePath, Attributes]
"""A path, and the attributes by which it can be selected: those of its outermost span and of its sender."""


def select(found: Iterable[Found], selection: Selection) -> Iterator[EvidencePath]:
    """The selected paths in the order in which they come."""
    if selection.limit is not None and selection.limit <= 0:
        return iter(())
    chosen = (path for path, attributes in found if is_selected(path, attributes, selection))
    return islice(chosen, selection.limit)


def is_selected(path: EvidencePath, attributes: Attributes, selection: Selection) -> bool:
    """Whether every condition that is set holds; a path without a start is in no time range."""
    if selection.service is not None and path.service != selection.service:
        return False
    if selection.traces and not {path.trace_id, *path.trace_ids} & set(selection.traces):
        return False
    if selection.since is not None and (path.started_at is None or path.started_at < selection.since):
        return False
    if selection.until is not None and (path.started_at is None or path.started_at >= selection.until):
        return False
    return not selection.attributes or _has(attributes, selection.attributes)


def attributes_of(path: EvidencePath) -> dict[str, Value]:
    """What can be said of a path that comes from no span: the tags, identity and thread, under their names."""
    root = encode_root(Root(tags=path.tags, identity=path.identity, thread_id=path.thread_id), cap=200)
    return root if path.service is None else {**root, "service.name": path.service}


def _has(attributes: Attributes, wanted: Mapping[str, str]) -> bool:
    return all(name in attributes and as_text(attributes[name]) == text for name, text in wanted.items())


def as_text(value: Value) -> str:
    """A value as it is typed on a command line: `true`, `3`, a list with commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    return ",".join(as_text(item) for item in value)
