"""From the places of texts to the chunks that have these texts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from rag_probe_langchain.locating.parts import Part
from rag_probe_langchain.locating.places import Place, Range

_Fields = tuple[int, int, int, int, tuple[Range, ...] | None]


class Found(NamedTuple):
    """A chunk in the prompt. Offsets are code points, ends exclusive.

    Fifty are made per model call: hence a named tuple, and `kept` on demand.
    """

    index: int  # pyright: ignore[reportIncompatibleMethodOverride] - nobody searches this tuple
    """Which of the chunks."""
    start: int
    """Where it begins in the prompt."""
    end: int
    """Where it ends in the prompt; a marker between its beginning and its end lies within."""
    length: int
    """Of the chunk's own text."""
    parts: tuple[Range, ...] | None = None
    """For a cut chunk, the ranges of its own text that are there, in order; None when all of it is."""

    @property
    def truncated(self) -> bool:
        """Whether something of the chunk's text is missing."""
        return self.parts is not None

    @property
    def kept(self) -> tuple[Range, ...]:
        """The ranges of the chunk's own text that are there, in order; `((0, length),)` for all of it."""
        return ((0, self.length),) if self.parts is None else self.parts


def assign(
    places: Sequence[Place], parts: Sequence[Part], texts: Sequence[str], chunks: Sequence[str]
) -> tuple[Found, ...]:
    """One `Found` or more per chunk whose text has a place, ordered by start, then index.

    `texts[i]` is `chunks[i]` stripped. The first chunk of a text takes its first place, the second the second;
    a place too many goes to the first chunk, a chunk too many shares the last place.
    """
    owner = dict(zip(texts, range(len(texts)), strict=True))
    if not parts and len(places) == len(owner) == len(texts):
        new: Callable[[type[Found], _Fields], Found] = tuple.__new__  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return tuple(
            [new(Found, ((i := owner[text]), start, end, len(chunks[i]), None)) for start, end, text in places]
        )
    owners: dict[str, list[int]] = {}
    for index, text in enumerate(texts):
        owners.setdefault(text, []).append(index)
    everything = [Part(start, end, text, ((0, len(text)),)) for start, end, text in places] + list(parts)
    return tuple(sorted(_shared_out(sorted(everything), owners, chunks), key=_position))


def _shared_out(parts: Iterable[Part], owners: dict[str, list[int]], chunks: Sequence[str]) -> Iterator[Found]:
    last: dict[str, Part] = {}
    turns: dict[str, int] = {}
    for part in parts:
        turn = turns.get(part.text, 0)
        mine = owners[part.text]
        yield _found(mine[turn] if turn < len(mine) else mine[0], part, chunks)
        turns[part.text] = turn + 1
        last[part.text] = part
    for text, part in last.items():
        for index in owners[text][turns[text] :]:
            yield _found(index, part, chunks)


def _position(found: Found) -> tuple[int, int]:
    return found.start, found.index


def _found(index: int, part: Part, chunks: Sequence[str]) -> Found:
    """Offsets in the stripped text become offsets in the chunk: whitespace at its ends goes with what it borders on."""
    chunk = chunks[index]
    before = len(chunk) - len(chunk.lstrip())
    kept = tuple(
        (start + before if start else 0, end + before if end < len(part.text) else len(chunk))
        for start, end in part.kept
    )
    return Found(index, part.start, part.end, len(chunk), None if kept == ((0, len(chunk)),) else kept)
