"""What a provider's limit on the length of values would cut without a mark: left out, so that it is not captured.

Two ids that begin alike would become one, and a citation would match nothing. Texts may be cut: their length is told.
"""

from __future__ import annotations

from typing import Final

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.faults import warn_once

_NAMED: Final = frozenset({a.CONVERSATION_ID, a.USER_ID, a.USER_ROLES, a.TOOL_CALL_ID})
"""Of the conventions' names, those of ids."""
_TEXTS: Final = (".text", ".texts", ".name")


def limit_of(source: object) -> int | None:
    """Characters that a value may have in spans of an SDK's tracer, or in this span of an SDK; None where all pass."""
    limits = getattr(source, "_span_limits", None) or getattr(source, "_limits", None)
    found = getattr(limits, "max_span_attribute_length", None)
    return found if isinstance(found, int) else None


def within(attributes: Attributes, limit: int | None) -> dict[str, Value]:
    """The attributes without those that hold an id, or a code, longer than `limit`; a list counts as one."""
    if limit is None:
        return dict(attributes)
    cut = [name for name, value in attributes.items() if _is_id(name) and _is_longer(value, limit)]
    if cut:
        warn_once(
            "length of values",
            "this provider cuts values at %d characters: %s does not fit, and is not captured; 256 are enough",
            limit,
            cut[0],
        )
    return {name: value for name, value in attributes.items() if name not in cut}


def _is_id(name: str) -> bool:
    return name in _NAMED or (name.startswith("rag.") and not name.endswith(_TEXTS))


def _is_longer(value: Value, limit: int) -> bool:
    match value:
        case str():
            return len(value) > limit
        case bool() | int() | float():
            return False
        case _:
            return any(isinstance(each, str) and len(each) > limit for each in value)
