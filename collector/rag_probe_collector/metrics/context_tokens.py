"""Checklist 98: what the passages in the final context cost, in tokens of the tokenizer that the path names."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.value import Metric, Value, missing


def _compute(facts: Facts) -> Value:
    context = facts.path.context
    if context is None or facts.shown.context is None:
        return missing("context was not captured")
    if not context.ids:
        return Value(0.0)
    known = [tokens for tokens in context.tokens if tokens is not None]
    if len(known) < len(context.ids):
        return missing("tokens were not captured for every passage")
    return Value(float(sum(known)), n=len(known))


METRIC: Final = Metric(
    name="context_tokens", denominator="none: a sum", compute=_compute, proportion=False, better="lower"
)
