"""Rankings as trec_eval measures them (must-handle 21 to 23).

A ranking's order is the order returned: scores never re-sort it.
A passage that comes again gains nothing and takes no place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet


def hits(ranking: Sequence[str], relevant: AbstractSet[str], k: int) -> int:
    """How many relevant passages are among the first `k` distinct ones."""
    return len([each for each in _distinct(ranking)[:k] if each in relevant])


def average_precision(ranking: Sequence[str], relevant: AbstractSet[str]) -> float | None:
    """The mean over all relevant passages of the precision where each stands, 0 for one not returned."""
    if not relevant:
        return None
    found, total = 0, 0.0
    for place, each in enumerate(_distinct(ranking), 1):
        if each in relevant:
            found += 1
            total += found / place
    return total / len(relevant)


def reciprocal_rank(ranking: Sequence[str], relevant: AbstractSet[str]) -> float | None:
    """1 / the place of the first relevant passage; 0 when none was returned."""
    if not relevant:
        return None
    for place, each in enumerate(_distinct(ranking), 1):
        if each in relevant:
            return 1 / place
    return 0.0


def ndcg(ranking: Sequence[str], grades: Mapping[str, float], k: int) -> float | None:
    """Linear gain, discount log2(rank + 1), the ideal over all judged passages cut at `k`; negative grades gain 0."""
    ideal = _gain(sorted(grades.values(), reverse=True)[:k])
    if not ideal:
        return None
    return _gain([grades.get(each, 0.0) for each in _distinct(ranking)[:k]]) / ideal


def _gain(grades: Sequence[float]) -> float:
    return math.fsum([grade / math.log2(place + 1) for place, grade in enumerate(grades, 1) if grade > 0])


def _distinct(ranking: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranking))
