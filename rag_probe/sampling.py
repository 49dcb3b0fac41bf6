"""Keep every trace that answers a case, whatever the sampler would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from opentelemetry.trace import Link, SpanKind, TraceState, get_current_span

from rag_probe.cases import current_tags
from rag_probe.missing import MissingExtraError

try:
    from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
except ModuleNotFoundError as error:
    raise MissingExtraError("KeepCases", "otlp", error) from error

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.util.types import Attributes

_MARK: Final = "ragprobe"
_MAX_ENTRIES: Final = 32  # of a tracestate


class KeepCases(Sampler):
    """Records and samples every span under a case, and leaves the others to `base`.

    A case is seen in the baggage of the span's parent context; a mark in the trace state carries the decision on to
    children whose context has no baggage, here and in services that sample with `KeepCases` too. Baggage comes from
    the caller: where strangers call, strip it at the edge, or they decide what is kept.
    """

    def __init__(self, base: Sampler) -> None:
        self._base = base

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """RECORD_AND_SAMPLE under a case; else what `base` decides."""
        parent = get_current_span(parent_context).get_span_context()
        marked = _MARK in parent.trace_state and parent.trace_flags.sampled
        if not marked and current_tags(parent_context).case_id is None:
            return self._base.should_sample(parent_context, trace_id, name, kind, attributes, links, trace_state)
        return SamplingResult(Decision.RECORD_AND_SAMPLE, attributes, _mark(parent.trace_state))

    def get_description(self) -> str:
        """`KeepCases{base}`."""
        return f"KeepCases{{{self._base.get_description()}}}"


def _mark(state: TraceState) -> TraceState:
    return state if _MARK in state or len(state) >= _MAX_ENTRIES else state.add(_MARK, "case")
