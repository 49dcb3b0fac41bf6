"""How a benchmark speaks: what we reach, what the machine allows in the same run, and the share."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ratio:
    """One measured figure beside the limit that was measured in the same run."""

    name: str
    ours: float
    limit: float
    unit: str
    note: str
    """What the limit is, and how both were measured."""

    @property
    def ratio(self) -> float:
        """Ours as a share of the limit: a rate is good near 1, a cost is good below 1."""
        return self.ours / self.limit


def table(ratios: Iterable[Ratio]) -> str:
    """Return one line per figure."""
    return "\n".join(
        f"{each.name:<44} {each.ours:>12,.0f} of {each.limit:>12,.0f} {each.unit:<8} = {each.ratio:5.2f}  {each.note}"
        for each in ratios
    )
