"""How little a count proves: the 95 % Wilson interval of a proportion."""

from __future__ import annotations

import math
from typing import Final

_Z: Final = 1.959963984540054


def wilson(count: int, n: int) -> tuple[float, float] | None:
    """(low, high) for `count` of `n`, so 0 of 5 is (0, 0.434); None for 0 of 0."""
    if n == 0:
        return None
    share, spread = count / n, _Z * _Z / n
    middle = (share + spread / 2) / (1 + spread)
    half = _Z * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return (0.0 if count == 0 else low), (1.0 if count == n else high)
