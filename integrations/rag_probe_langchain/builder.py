"""The step whose text reappears in a prompt built the context: it gets a span with the same ids.

All else (tokens, cuts, what was dropped, the budget) is a fact of the prompt, and stands on the model call alone.
"""

from __future__ import annotations

from typing import Final

from rag_probe.attributes import Attributes
from rag_probe.wire.context import ids_of_context
from rag_probe_langchain.context import Seen
from rag_probe_langchain.request import Request
from rag_probe_langchain.spans import add_stage

SHORTEST: Final = 16
"""Characters below which a text may reappear by chance."""


def record_builders(request: Request, prompt: str, seen: Seen, call: Attributes) -> None:
    """Give every step whose text stands in `prompt`, around the first passage there, its span; each step once.

    `call`: what is said of the model call that got the prompt.
    """
    for step in [step for step in request.texts if _reappears(step.text, prompt, seen)]:
        request.texts.remove(step)
        add_stage(step.run, ids_of_context(call, step.run.name), step.ended)


def _reappears(text: str, prompt: str, seen: Seen) -> bool:
    """Compared where the first passage stands in both: a search for the whole text costs a hundred times as much."""
    if seen.first is None:
        return False
    start, end = seen.first
    inside = text.find(prompt[start:end])
    return inside >= 0 and prompt.startswith(text, start - inside)
