"""The thresholds' file: one object as JSON or YAML, with its hash."""

from __future__ import annotations

import hashlib
from itertools import chain
from pathlib import Path
from typing import Final

import orjson

from rag_probe_collector.errors import InputError
from rag_probe_collector.register.listing import Item, check_schema, read_bytes
from rag_probe_collector.register.repeated import refuse_repeated
from rag_probe_collector.register.threshold_rules import faults, unknown_fields
from rag_probe_collector.register.thresholds import Thresholds
from rag_probe_collector.register.validate import Shape
from rag_probe_collector.register.visible import visible
from rag_probe_collector.register.yaml_listing import yaml_object

_SHAPE: Final = Shape(Thresholds, "thresholds")


def load_thresholds(path: Path) -> tuple[Thresholds, str]:
    """The thresholds and the SHA-256 of the file; raises `InputError`."""
    name, data = visible(str(path)), read_bytes(path)
    item = Item(_parse(data, name), name)
    for written, meant in _SHAPE.misspelt(item.value):
        raise InputError(
            f"{name}: expected the field {meant!r}, got {written[:80]!r}; an ignored limit protects nothing"
        )
    thresholds = _SHAPE.read(item)
    check_schema(thresholds.schema, "rag-probe.thresholds/1", name)
    problem = next(chain(unknown_fields(item.value), faults(thresholds)), None)
    if problem is not None:
        raise InputError(f"{name}: {problem}")
    if thresholds.decided_at is None:
        raise InputError(f"{name}: decided_at: expected when these limits were fixed, got none; add the date")
    return thresholds, hashlib.sha256(data).hexdigest()


def _parse(data: bytes, name: str) -> object:
    if not data.lstrip().startswith(b"{"):
        return yaml_object(data, name)
    try:
        value: object = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{name}:{error.lineno}: expected JSON in UTF-8: {error.msg}") from None
    refuse_repeated(data, name)
    return value
