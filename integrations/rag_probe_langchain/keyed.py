"""What the metadata of passages say under the keys that may leave, as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from rag_probe_langchain.rows import Metadata

Keys: TypeAlias = Sequence[str]
Wanted: TypeAlias = tuple[Keys, ...]
Columns: TypeAlias = Sequence[Sequence[object]]

_NONE: Final = type(None)


def keyed(metadata: Sequence[Metadata], wanted: Wanted) -> Columns:
    """For each list of keys what every passage has under the first that it has; `()` where none has any."""
    columns = at_once(metadata, wanted)
    if columns is not None:
        return columns
    present = set[str]().union(*metadata)
    return [first_of(metadata, keys, present) for keys in wanted]


def at_once(metadata: Sequence[Metadata], wanted: Wanted) -> Columns | None:
    """`keyed` in C; None where not every passage has the same of the wanted keys."""
    try:
        names = frozenset(chain.from_iterable(wanted)).intersection(set[str]().union(*metadata))
        if not names:
            return ((),) * len(wanted)
        reading = _reading(wanted, names)
        columns = [*zip(*map(reading.row, metadata), strict=True)]
    except (KeyError, TypeError):  # a passage lacks a key; the policy's keys are in lists
        return None
    if reading.sole or _NONE not in set(map(type, chain.from_iterable(columns))):
        return reading.pick([*columns, ()])
    return None


def first_of(metadata: Sequence[Metadata], wanted: Keys, present: set[str]) -> list[object]:
    """Per passage, the value under the first of the `wanted` keys that it has; `[]` when no passage has any."""
    known = [key for key in wanted if key in present]
    if len(known) < 2:
        return [item.get(known[0]) for item in metadata] if known else []
    return [next((item[key] for key in known if item.get(key) is not None), None) for item in metadata]


class _Reading(NamedTuple):
    """How to read the columns of passages that have the same keys, in C."""

    row: Callable[[Metadata], Iterable[object]]
    """From a passage's metadata to one value per column that there is."""
    pick: Callable[[Columns], Columns]
    """From these columns, with an empty one at their end, to all that are wanted."""
    sole: bool
    """Whether no column has a second key, which counts where the first has nothing."""


@lru_cache(maxsize=256)
def _reading(wanted: Wanted, names: frozenset[str]) -> _Reading:
    """For passages that have these of the wanted keys, at least one."""
    known = [[key for key in keys if key in names] for keys in wanted]
    used = [keys[0] for keys in known if keys]
    places = [sum(map(bool, known[:column])) if keys else -1 for column, keys in enumerate(known)]
    # Of a single key, itemgetter would return the bare value: it is read twice.
    return _Reading(itemgetter(*used, used[0]), itemgetter(*places), all(len(keys) < 2 for keys in known))
