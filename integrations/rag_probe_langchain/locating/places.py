"""What the searches for chunks in a prompt share: places, the gaps between them, and the work they may do."""

from collections.abc import Sequence

Range = tuple[int, int]
"""Start and end (exclusive) in code points."""

Place = tuple[int, int, str]
"""Start and end (exclusive) of a text in the prompt, and that text. (A plain tuple: fifty are made per model call.)"""


class Work:
    """A budget, so that a hostile prompt costs bounded time.

    One unit is one character passed by `str.find`, about 0.5 ns.
    """

    __slots__ = ("left",)

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int) -> bool:
        """Takes `units` away; False once the budget is exceeded, and from then on."""
        self.left -= units
        return self.left >= 0


def gaps(places: Sequence[Place], length: int, room: int) -> list[Range]:
    """The ranges of at least `room` characters (1 or more) in a text of `length` that no place of `places` touches.

    `places` are sorted by start and may overlap.
    """
    found: list[Range] = []
    end = 0
    for start, stop, _ in places:
        if start - end >= room:
            found.append((end, start))
        if stop > end:
            end = stop
    if length - end >= room:
        found.append((end, length))
    return found
