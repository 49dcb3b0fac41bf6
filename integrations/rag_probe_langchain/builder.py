"""The step whose text reappears in a prompt built the context: it gets a span with the same ids."""

from __future__ import annotations

from typing import Final

from rag_probe import attributes as a
from rag_probe.stages import ContextAssembly
from rag_probe.wire import encode
from rag_probe_langchain.context import Seen
from rag_probe_langchain.request import Request, TextStep
from rag_probe_langchain.spans import beside

_OF_THE_CALL: Final = (a.BUDGET_LIMIT, a.BUDGET_USED, a.BUDGET_TOKENIZER)
SHORTEST: Final = 16
"""Characters below which a text may reappear by chance."""


def record_builders(request: Request, prompt: str, seen: Seen) -> None:
    """Give every step whose text stands in `prompt`, around the first passage there, its span; each step once."""
    for step in [step for step in request.texts if _reappears(step.text, prompt, seen)]:
        request.texts.remove(step)
        _record(step, seen.stage)


def _reappears(text: str, prompt: str, seen: Seen) -> bool:
    """Compared where the first passage stands in both: a search for the whole text costs a hundred times as much."""
    if seen.first is None:
        return False
    start, end = seen.first
    inside = text.find(prompt[start:end])
    return inside >= 0 and prompt.startswith(text, start - inside)


def _record(step: TextStep, stage: ContextAssembly) -> None:
    run = step.run
    attributes = encode(stage, run.request.options.policy.max_items)
    for name in _OF_THE_CALL:
        attributes.pop(name, None)
    attributes[a.STEP_NAME] = run.name
    beside(run, attributes, step.ended)
