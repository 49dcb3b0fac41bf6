"""JSON for files and stdout: strict, in UTF-8, whatever text or number a trace held."""

from __future__ import annotations

import json
import math
from typing import cast

import orjson


def dump(value: object, *, indent: bool = False) -> bytes:
    """One JSON document; NaN becomes null, an unpaired surrogate `?`."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else None)
    except TypeError:  # surrogates, and integers beyond 64 bits
        text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, indent=2 if indent else None)
        return text.encode("utf-8", "replace")


def _finite(value: object) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: _finite(each) for name, each in cast("dict[str, object]", value).items()}
        case list() | tuple():
            return [_finite(each) for each in cast("list[object]", value)]
        case _:
            return value
