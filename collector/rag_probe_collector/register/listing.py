"""The files of an evaluation: JSONL, a JSON list, a YAML list, or a mapping around one (contracts 5)."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import orjson

from rag_probe_collector.errors import InputError
from rag_probe_collector.register.repeated import refuse_repeated
from rag_probe_collector.register.visible import describe, visible
from rag_probe_collector.register.yaml_listing import yaml_nodes, yaml_value

LARGEST: Final = 512 * 1024 * 1024
"""Bytes of one file; these are labels and captured answers, not traces."""

_LINES: Final = frozenset({".jsonl", ".ndjson"})
_YAML: Final = frozenset({".yaml", ".yml"})
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Item:
    """One entry as parsed, and where it stands: `FILE:LINE` or `FILE item N`."""

    value: object
    place: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The entries of a file and, in the mapping form, what stands around them."""

    name: str
    items: tuple[Item, ...]
    around: Mapping[str, object] = field(default_factory=dict[str, object])

    def version(self, key: str) -> str | None:
        """A text of the mapping form, such as `corpus_version`; None when there is none."""
        value = self.around.get(key)
        if value is not None and not isinstance(value, str):
            raise InputError(f"{self.name}: {key}: expected text, got {describe(value)}; write it in quotes")
        return value


def read_listing(path: Path, key: str, schema: str) -> Listing:
    """Every entry of `path`; in the mapping form the list under `key`, which says `schema` or none at all.

    Raises `InputError`, also for a file of a later version, which may mean something else.
    """
    listing = _read(path, key)
    check_schema(listing.version("schema"), schema, listing.name)
    return listing


def check_schema(found: str | None, expected: str, name: str) -> None:
    """Raises `InputError` when a file says that it is of another kind or a later version."""
    if found not in (None, expected):
        raise InputError(f"{name}: schema: expected {expected}, got {describe(found)}; is it another kind of file?")


def _read(path: Path, key: str) -> Listing:
    name = visible(str(path))
    data = read_bytes(path)
    if path.suffix.lower() in _YAML:
        return _yaml(data, name, key)
    head = data.lstrip()[:1]
    if head == b"":
        return Listing(name, ())
    if path.suffix.lower() in _LINES or (head == b"{" and _is_lines(data, key)):
        return Listing(name, tuple(_lines(data, name)))
    if head in (b"[", b"{"):
        return _listed(_parse(data, name), name, key)
    return _yaml(data, name, key)


def read_bytes(path: Path) -> bytes:
    """The file without its byte order mark; raises `InputError` when it cannot be read or is too large."""
    name = visible(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{name}: cannot be read: {reason}; check the path") from None
    if len(data) > LARGEST:
        raise InputError(f"{name}: expected at most {LARGEST} bytes; split it")
    return data.removeprefix(_BOM)


def _is_lines(data: bytes, key: str) -> bool:
    """Whether the first line is a whole object that is not itself the mapping form."""
    first = data.lstrip().split(b"\n", 1)[0]
    try:
        value: object = orjson.loads(first)
    except orjson.JSONDecodeError:
        return False
    return not isinstance(value, dict) or key not in value


def _lines(data: bytes, name: str) -> Iterator[Item]:
    for number, line in enumerate(io.BytesIO(data), 1):
        if line.strip():
            place = f"{name}:{number}"
            yield Item(_parse(line, place), place)


def _parse(data: bytes, place: str) -> object:
    try:
        value: object = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        where = place if data.count(b"\n") <= 1 else f"{place}:{error.lineno}"
        raise InputError(f"{where}: expected JSON in UTF-8: {error.msg} (column {error.colno})") from None
    refuse_repeated(data, place)
    return value


def _listed(value: object, name: str, key: str) -> Listing:
    around: dict[str, object] = {}
    if isinstance(value, dict):
        around = cast("dict[str, object]", value)
        value = around.get(key)
    if not isinstance(value, list):
        got = f"no {key!r}" if around and key not in around else describe(value)
        raise InputError(f"{name}: expected a list, or an object with a list {key!r}, got {got}")
    items = cast("list[object]", value)
    return Listing(name, tuple(Item(item, f"{name} item {at}") for at, item in enumerate(items, 1)), around)


def _yaml(data: bytes, name: str, key: str) -> Listing:
    around, nodes = yaml_nodes(data, name, key)
    items = tuple(Item(yaml_value(node, name), f"{name}:{node.start_mark.line + 1}") for node in nodes)
    return Listing(name, items, around)
