"""Which passages went into a decorated function and which came out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

Ids: TypeAlias = tuple[str, ...]


def flow(given: Iterable[object], returned: object, name_of: Callable[[object], str | None]) -> tuple[Ids, Ids] | None:
    """The ids of the first list in `given` that holds all of a returned list, and the ids of that; None without such.

    A list stands alone or is a value of a mapping, as in a graph's state. Lists of objects come before lists of
    plain texts, which may be anything.
    """
    sources = sorted(_lists(given, name_of), key=lambda found: found[0])
    for _, out in _lists((returned,), name_of):
        for _, ids in sources:
            if set(out) <= set(ids):
                return ids, out
    return None


def _lists(values: Iterable[object], name_of: Callable[[object], str | None]) -> Iterator[tuple[bool, Ids]]:
    """Every list whose items all have ids, and whether it holds plain texts."""
    for value in values:
        inner = cast("Mapping[object, object]", value).values() if isinstance(value, Mapping) else (value,)
        for candidate in inner:
            if isinstance(candidate, (list, tuple)):
                items = cast("Sequence[object]", candidate)
                ids = tuple(name for item in items if (name := name_of(item)) is not None)
                if len(ids) == len(items):
                    yield any(isinstance(item, str) for item in items), ids
