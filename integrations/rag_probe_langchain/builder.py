"""The step whose text reappears in a prompt built the context: it gets a span with the same ids."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rag_probe.wire import encode
from rag_probe_langchain.context import Seen
from rag_probe_langchain.request import Request, TextStep
from rag_probe_langchain.spans import stage_span

SHORTEST: Final = 16
"""Characters below which a text may reappear by chance."""


def builders_of(request: Request, prompt: str, seen: Seen) -> None:
    """Give every step whose text stands in `prompt`, around a passage that was found, its span; each once."""
    for step in list(request.texts):
        if _reappears(step.text, prompt, seen):
            request.texts.remove(step)
            _record(request, step, seen)


def _reappears(text: str, prompt: str, seen: Seen) -> bool:
    """Checked where the first passage stands in both: a search for the whole text costs a hundred times as much."""
    for item in seen.found[:1]:
        inside = text.find(prompt[item.start : item.end])
        if inside >= 0 and prompt.startswith(text, item.start - inside):
            return True
    return not seen.found and text in prompt


def _record(request: Request, step: TextStep, seen: Seen) -> None:
    assert seen.stage is not None
    stage = replace(seen.stage, step=step.run.name, budget=None)
    run = step.run
    above = run if run.node is not None else run.above
    name = f"rag.context {run.name}"
    stage_span(above, request, name, encode(stage, request.options.policy.max_items), run.started, step.ended)
