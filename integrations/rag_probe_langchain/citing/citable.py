"""What an answer may cite: the passages the model saw, in order, and the ids that are known from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, cast

from rag_probe.values import value

LONGEST_ID: Final = 300
"""Code points. Longer text names nothing."""

_LONGEST_NUMBER: Final = 3
"""Digits: `[2024]` is a year, `[12]` may be a passage that is not there."""

_SAMPLE: Final = 1_000
_SHORTEST_QUOTE: Final = 16
_MOST_QUOTES: Final = 200
"""Quotes that are looked for in one answer."""
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HASH: Final = re.compile(r"[0-9a-f]{12,}")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_DIGITS: Final = re.compile(r"\d+")
_SEPARATED: Final = re.compile(r"(?=.*\d)(?=.*[-_:/#])[^\W\d_][\w.:/#@-]{3,}")
_PREFIX: Final = re.compile(r"[^\W_]{2,}[-_:/#]")


@value
class Cited:
    """One pointer that an answer makes."""

    id: str
    """Of the passage; for a citation that points nowhere, what the answer wrote instead."""
    marker: str
    """As it stands in the answer; for a citation beside the text, the kind of its record."""
    start: int | None
    """Of the marker, or of the text that is cited for, in code points of the answer's text. None for one beside it."""
    end: int | None
    valid: bool
    """Whether it points to a passage that the model saw."""


class Citable:
    """Resolves what an answer wrote to ids.

    Numbers count the passages from 1, so 0 and numbers beyond the last point nowhere; only then a number may be an id.
    Text points to an id that is equal, or the only one that is equal but for its case.

    Text that resolves to nothing is taken for a fabricated id only when it looks like one (`looks_like_id`): it has no
    whitespace, and it is built as one of the ids here (`doc-9` beside `doc-17`), shares the first word of one (`doc-x`
    beside `doc-17`), is a UUID or a hash, or begins with a letter and has a digit and one of `-_:/#`. All else is plain
    text. Where ids are words joined by hyphens, other such words in brackets count as ids, too.
    """

    __slots__ = ("_context", "_folded", "_known", "_numbered", "_quotes", "_shapes", "context_ids")

    def __init__(
        self, context_ids: Sequence[str], known_ids: Collection[str] = (), numbered: Sequence[str] | None = None
    ) -> None:
        """`numbered` is what numbers count when that is not the passages, but a list of the provider's.

        Where `known_ids` is a mapping, it gives the passages' texts.
        """
        self.context_ids = context_ids
        self._numbered = numbered
        self._context = frozenset(context_ids)
        self._known = known_ids
        self._folded: dict[str, str | None] | None = None
        self._shapes: frozenset[str] | None = None
        self._quotes = 0

    def at(self, number: int) -> str | None:
        """The id of the passage with this number, counted from 1."""
        return self.context_ids[number - 1] if 0 < number <= len(self.context_ids) else None

    def counted(self, text: str) -> str | None:
        """The id of the passage whose number `text` is, where numbers count the passages."""
        if self._numbered is not None or not text.isdecimal() or len(text) > _LONGEST_NUMBER:
            return None
        return self.at(int(text))

    def seen(self, text: str) -> str | None:
        """The id of the passage in the context that `text` names."""
        if text in self._context:
            return text
        if self._folded is None:
            self._folded = _folded(self._context)
        return self._folded.get(text.casefold())

    def quoted(self, quote: str) -> tuple[str, ...]:
        """The ids of the passages in the context, whose texts are known, that `quote` was taken from."""
        known: object = self._known
        if len(quote) < _SHORTEST_QUOTE or not isinstance(known, Mapping) or self._quotes >= _MOST_QUOTES:
            return ()
        self._quotes += 1
        texts = cast("Mapping[str, object]", known)
        return tuple(
            [
                name
                for name in dict.fromkeys(self.context_ids)
                if isinstance(text := texts.get(name), str) and quote in text
            ]
        )

    def known(self, text: str) -> bool:
        """Whether `text` is an id that is known, in the context or not."""
        return text in self._context or text in self._known

    def resolve(self, text: str) -> tuple[str, bool] | None:
        """Id and validity for `text`: of a passage seen or known, or a number in vain; None for what names neither."""
        small = text.isdecimal() and len(text) <= _LONGEST_NUMBER
        if small and self._numbered is not None:
            named = self._numbered[int(text) - 1 : int(text)] if int(text) else ()
            return self._named(named[0] if named else text)
        seen = (self.at(int(text)) if small else None) or self.seen(text)
        if seen is not None:
            return seen, True
        return (text, False) if small or self.known(text) else None

    def _named(self, name: str) -> tuple[str, bool]:
        seen = self.seen(name)
        return (name, False) if seen is None else (seen, True)

    def looks_like_id(self, text: str) -> bool:
        """Whether `text`, which resolves to nothing, was meant as an id."""
        if len(text) > LONGEST_ID or not text or text.split() != [text]:
            return False
        if _UUID.fullmatch(text) or _HASH.fullmatch(text) or _SEPARATED.fullmatch(text):
            return True
        if self._shapes is None:
            self._shapes = _shapes([*self.context_ids[:_SAMPLE], *sorted(self._known)[:_SAMPLE]])
        prefix = _PREFIX.match(text)
        return _shape(text) in self._shapes or (prefix is not None and prefix[0] in self._shapes)


def _folded(ids: Collection[str]) -> dict[str, str | None]:
    folded: dict[str, str | None] = {}
    for one in ids:
        key = one.casefold()
        folded[key] = None if key in folded else one
    return folded


def _shapes(ids: Collection[str]) -> frozenset[str]:
    """How the ids are built, and the words that they begin with. A mere word is no shape: any text may be one."""
    built = {shape for one in ids if (shape := _shape(one)) != "a" and len(one) <= LONGEST_ID}
    return frozenset(built | {prefix[0] for one in ids if (prefix := _PREFIX.match(one))})


def _shape(text: str) -> str:
    return _DIGITS.sub("0", _LETTERS.sub("a", text))
