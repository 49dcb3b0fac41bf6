"""The attributes of a span that has ended, kept as the SDK keeps them, without its way there."""

from __future__ import annotations

from collections.abc import ItemsView, Mapping, Sequence
from itertools import chain
from typing import Final

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.util.types import AnyValue

_SCALARS: Final[frozenset[type]] = frozenset({str, bool, int, float})
_KINDS: Final[frozenset[type]] = _SCALARS | {tuple}


class Kept(BoundedAttributes):
    """What redacting processors and exporters expect to find, down to its private parts."""

    def __init__(self, attributes: Mapping[str, AnyValue], most: int | None) -> None:
        super().__init__(most)
        self._dict: dict[str, AnyValue] = {**attributes}

    def items(self) -> ItemsView[str, AnyValue]:
        """All of them, as a dict gives them."""
        return self._dict.items()


_IS_AS_KNOWN: Final = vars(BoundedAttributes(None, {"known": 1})).get("_dict") == {"known": 1}


def kept(attributes: Mapping[str, AnyValue], most: int | None) -> BoundedAttributes:
    """Those attributes; what is no value, or more than `most`, is left to the SDK to mend."""
    if _IS_AS_KNOWN and _are_plain(attributes) and (most is None or len(attributes) <= most):
        return Kept(attributes, most)
    return BoundedAttributes(most, attributes)


def _are_plain(attributes: Mapping[str, AnyValue]) -> bool:
    """Whether the SDK would leave them as they are."""
    kinds = set(map(type, attributes.values()))
    rows: list[Sequence[AnyValue]] = [value for value in attributes.values() if type(value) is tuple]
    return kinds <= _KINDS and _SCALARS.issuperset(map(type, chain.from_iterable(rows))) and "" not in attributes
