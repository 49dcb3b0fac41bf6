"""Numbers that an app tells, as they may be recorded."""

from __future__ import annotations

from math import isfinite, nan
from operator import index
from typing import SupportsFloat, SupportsIndex


def number(value: object) -> float | None:
    """A finite float of any number, numpy's and Decimal too; None for a boolean, for text and for all else."""
    if value is None or isinstance(value, (bool, str, bytes)):
        return None
    try:
        result = float(value) if isinstance(value, SupportsFloat) else nan
    except Exception:  # an array of several, or whatever else calls itself a number
        return None
    return result if isfinite(result) else None


def whole(value: object) -> int | None:
    """A count or an offset: an integer from 0 that fits 63 bits, numpy's too; None for all else."""
    if isinstance(value, bool):
        return None
    try:
        result = index(value) if isinstance(value, SupportsIndex) else -1
    except Exception:  # an array of several, or whatever else calls itself an integer
        return None
    return result if 0 <= result < 2**63 else None
