"""Values: dataclasses that the type checker freezes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """A slotted, keyword-only dataclass with equality and hash, whose fields are not to be set again.

    `frozen=True` would enforce that at run time too, and make each one six times as dear to build
    (3.2 µs instead of 0.5 for a Generation): an app builds several per answer, an evaluator several per span.
    """
    return dataclass(slots=True, kw_only=True, unsafe_hash=True)(cls)
