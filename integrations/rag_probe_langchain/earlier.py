"""A prompt that goes on from what an earlier call wrote, beside passages of its own, as when an answer is refined.

What the earlier call saw is behind that text: it did not fall on the way, and the answer may rest on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rag_probe.stages import ContextAssembly
from rag_probe_langchain.known import union
from rag_probe_langchain.request import Made

_SHORTEST: Final = 12
"""Characters below which a text may stand in a prompt by chance."""


def with_earlier(own: ContextAssembly, prompt: str, made: Sequence[Made]) -> ContextAssembly | None:
    """The context with the passages behind earlier texts in `prompt` first; None when there are none, nearly always.

    Asked only where some of the last known set is missing from the prompt, and some of it is there.
    """
    if not (own.dropped and own.ids and made):
        return None
    seen = union([one.context for one in made if one.context and _stands(one.text.strip(), prompt)])
    earlier = tuple([name for name in seen if name not in own.ids])
    if not earlier:
        return None
    unknown = (None,) * len(earlier)
    reasons = own.dropped_reasons or (None,) * len(own.dropped)
    left = [row for row in zip(own.dropped, reasons, strict=True) if row[0] not in earlier]
    return replace(
        own,
        ids=earlier + own.ids,
        tokens=unknown + own.tokens if own.tokens else (),
        truncated=unknown + own.truncated if own.truncated else (),
        kept=((),) * len(earlier) + own.kept if own.kept else (),
        duplicate_of=unknown + own.duplicate_of if own.duplicate_of else (),
        dropped=tuple([name for name, _ in left]),
        dropped_reasons=tuple([reason for _, reason in left]) if own.dropped_reasons else (),
    )


def _stands(text: str, prompt: str) -> bool:
    return len(text) >= _SHORTEST and text in prompt
