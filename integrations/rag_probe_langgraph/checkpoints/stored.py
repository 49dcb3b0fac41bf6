"""A value as a store holds it, and as it stays when nobody can open it."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias


class Blob(NamedTuple):
    """A value as a store holds it: the serialiser's name for its form, and its bytes."""

    kind: str
    data: bytes


Stored: TypeAlias = object
"""A `Blob`, or what a saver has already made of one."""


class Packed(NamedTuple):
    """An extension value that nobody has opened yet: most never are."""

    code: int
    data: bytes


class Unreadable(NamedTuple):
    """A value that stays closed, and why."""

    why: str


class Spelled(str):
    """A value of another type (a date, a number, a member of an enumeration) that a store holds as text."""

    __slots__ = ()


class Serde(Protocol):
    """A caller's own serialiser, for values that only it can read (encryption)."""

    def loads_typed(self, data: tuple[str, bytes]) -> object:
        """The value."""
        ...
