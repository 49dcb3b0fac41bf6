"""Evidence beside another instrumentation: what the conventions name is written under names of ours.

Who adds up `gen_ai.usage.*` or counts `gen_ai.operation.name` counts every step once, theirs. `rag.parent` is the span
of ours that a span would hang under without them.
"""

from __future__ import annotations

from typing import Final

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value

_THEIRS: Final = "gen_ai."
_OURS: Final = "rag.gen_ai."


def put_aside(attributes: Attributes) -> dict[str, Value]:
    """Rename what others count; the conversation stays, since spans are found by it."""
    return {
        f"rag.{name}" if name.startswith(_THEIRS) and name != a.CONVERSATION_ID else name: value
        for name, value in attributes.items()
    }


def put_back(attributes: Attributes) -> dict[str, Value]:
    """The inverse."""
    return {name.removeprefix("rag.") if name.startswith(_OURS) else name: value for name, value in attributes.items()}
