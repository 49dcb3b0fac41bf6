"""Metrics of what spans say: derived from their attributes, so that the two cannot disagree.

Nothing is measured while nobody listens: without a meter provider `meter_of` is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from opentelemetry import metrics
from opentelemetry.context import Context

from rag_probe import attributes as a
from rag_probe import instruments as i
from rag_probe.attributes import Attributes
from rag_probe.faults import log_once
from rag_probe.instruments import INSTRUMENTS, Instrument
from rag_probe.policy import is_code
from rag_probe.version import VERSION
from rag_probe.wellformed import well_formed
from rag_probe.wire.columns import get, get_column, get_list

LIMIT: Final = 100
"""Different values of one attribute; later ones are `_OTHER`, so that no app's names make series without end."""
OTHER: Final = "_OTHER"

_Labels: TypeAlias = dict[str, str | bool]

_USAGE: Final = (
    (a.INPUT_TOKENS, i.INPUT_TOKENS),
    (a.OUTPUT_TOKENS, i.OUTPUT_TOKENS),
    (a.CACHE_READ_TOKENS, i.CACHE_READ_TOKENS),
    (a.CACHE_WRITE_TOKENS, i.CACHE_WRITE_TOKENS),
    (a.REASONING_TOKENS, i.REASONING_TOKENS),
)
_DURATIONS: Final[Mapping[str, Instrument]] = {
    "chat": i.INFERENCE_DURATION,
    "text_completion": i.INFERENCE_DURATION,
    "generate_content": i.INFERENCE_DURATION,
    "invoke_workflow": i.AGENT_DURATION,
    "invoke_agent": i.AGENT_DURATION,
    "retrieval": i.RETRIEVAL_DURATION,
    "execute_tool": i.TOOL_DURATION,
}
_UNKNOWN: Final = "unknown"
"""No framework tells the kinds of all tokens."""

_meters: Final[WeakKeyDictionary[metrics.MeterProvider, dict[str, Meter]]] = WeakKeyDictionary()
_seen: Final[dict[str, set[str]]] = {}


def meter_of(provider: metrics.MeterProvider | None, scope: str) -> Meter | None:
    """The meter of `provider`, or of the process's; None while there is none that listens."""
    found = metrics.get_meter_provider() if provider is None else provider
    # The API's own stand-in for a provider that is yet to be set has no public name.
    if isinstance(found, metrics.NoOpMeterProvider) or type(found).__name__ == "_ProxyMeterProvider":
        return None
    try:
        known = _meters.setdefault(found, {})
        meter = known.get(scope)
        if meter is None:
            meter = known[scope] = Meter(found.get_meter(scope, VERSION))
    except Exception as error:  # a provider of the app's
        log_once("metrics", error)
        return None
    return meter


class Meter:
    """All instruments of one scope. Its methods never raise."""

    def __init__(self, meter: metrics.Meter) -> None:
        self._counters: dict[str, metrics.Counter] = {}
        self._histograms: dict[str, metrics.Histogram] = {}
        for each in INSTRUMENTS:
            if each.kind == "counter":
                self._counters[each.name] = meter.create_counter(each.name, each.unit, each.about)
            else:
                self._histograms[each.name] = meter.create_histogram(
                    each.name, each.unit, each.about, explicit_bucket_boundaries_advisory=each.buckets
                )

    def ended(self, said: Attributes, seconds: float | None, context: Context, *, inner: bool = False) -> None:
        """Measure a span by what it says, its opening included.

        `seconds`: None when it was not it that ended itself. `inner`: inside another retrieval, which counts its own.
        """
        try:
            self._duration(said, seconds, context)
            for instrument, amount, labels in _counts(said, inner):
                if amount > 0:
                    self._counters[instrument.name].add(amount, labels, context)
        except Exception as error:  # an instrument's: the app goes on unharmed
            log_once("metrics", error)

    def _duration(self, said: Attributes, seconds: float | None, context: Context) -> None:
        instrument = _DURATIONS.get(get(said, a.OPERATION, str) or "")
        if seconds is None or instrument is None or said.get(a.GENERATION_CACHE_HIT) is True:
            return
        self._histograms[instrument.name].record(max(seconds, 0.0), _labels(said, instrument.attributes), context)


def _counts(said: Attributes, inner: bool) -> Iterator[tuple[Instrument, int, _Labels]]:
    match said.get(a.STAGE):
        case "retrieval" if not inner:
            yield i.RETRIEVED, get(said, a.RETRIEVAL_COUNT, int) or 0, {}
        case "filter":
            yield from _dropped(said, a.FILTER_DROPPED, a.FILTER_DROPPED_COUNT, a.FILTER_REASONS, "filter")
        case "permission":
            yield from _denied(said)
        case "generation":
            yield from _usage(said)
            yield from _context(said)
        case _:
            pass
    if a.ANSWER_OUTCOME in said:
        yield i.ANSWERS, 1, _labels(said, i.ANSWERS.attributes)
    yield from _cited(said)


def _usage(said: Attributes) -> Iterator[tuple[Instrument, int, _Labels]]:
    if said.get(a.GENERATION_CACHE_HIT) is True:  # nothing was billed
        return
    labels: _Labels = {}
    for name, instrument in _USAGE:
        tokens = get(said, name, int)
        if tokens is not None:
            labels = labels or {**_labels(said, instrument.attributes), i.MODALITY: _UNKNOWN}
            yield instrument, tokens, labels


def _context(said: Attributes) -> Iterator[tuple[Instrument, int, _Labels]]:
    yield from _dropped(said, a.CONTEXT_DROPPED, a.CONTEXT_DROPPED_COUNT, a.CONTEXT_DROPPED_REASONS, "context")
    yield i.TRUNCATIONS, (get_list(said, a.CONTEXT_TRUNCATED, bool) or ()).count(True), {}
    used, limit = get(said, a.BUDGET_USED, int), get(said, a.BUDGET_LIMIT, int)
    if used is not None:
        labels = _labels(said, i.CONTEXT_TOKENS.attributes)
        yield i.CONTEXT_TOKENS, used, labels
        if limit is not None and used > limit:
            yield i.EXCEEDED, 1, labels


def _dropped(
    said: Attributes, ids: str, count: str, reasons: str, stage: str
) -> Iterator[tuple[Instrument, int, _Labels]]:
    """By reason; of a list that was cut, the rest without one."""
    listed = len(get_list(said, ids, str) or ())
    column = get_column(said, reasons, listed, str) or (None,) * listed
    amounts = Counter(map(_reason, column))
    amounts[None] += max((get(said, count, int) or 0) - listed, 0)
    for reason, amount in amounts.items():
        yield i.DROPPED, amount, _with_reason({a.STAGE: stage}, reason)


def _denied(said: Attributes) -> Iterator[tuple[Instrument, int, _Labels]]:
    """Those of the list: what was cut from it was decided on, but nobody can say how."""
    decisions = get_list(said, a.PERMISSION_DECISIONS, str) or ()
    column = get_column(said, a.PERMISSION_REASONS, len(decisions), str) or (None,) * len(decisions)
    denied = (reason for decision, reason in zip(decisions, column, strict=True) if decision == "deny")
    for reason, amount in Counter(map(_reason, denied)).items():
        yield i.DENIALS, amount, _with_reason(_labels(said, (i.POLICY,)), reason)
        yield i.DROPPED, amount, _with_reason({a.STAGE: "permission"}, reason)


def _cited(said: Attributes) -> Iterator[tuple[Instrument, int, _Labels]]:
    listed = len(get_list(said, a.CITATION_IDS, str) or ())
    valid = get_column(said, a.CITATION_VALID, listed, bool) or (None,) * listed
    for verdict, amount in Counter(valid).items():
        yield i.CITATIONS, amount, {} if verdict is None else {i.VALID: verdict}


def _with_reason(labels: _Labels, reason: str | None) -> _Labels:
    return labels if reason is None else {**labels, i.REASON: bounded(i.REASON, reason)}


def _reason(reason: str | None) -> str | None:
    """A short code; a sentence makes a series of its own, so that it is `_OTHER`, with content on too."""
    return reason if reason is None or is_code(reason) else OTHER


def _labels(said: Attributes, names: tuple[str, ...]) -> _Labels:
    return {name: bounded(name, value) for name in names if isinstance(value := said.get(name), str)}


def bounded(name: str, value: str) -> str:
    """`value`, or `_OTHER` when the attribute `name` has had `LIMIT` others in this process."""
    known = _seen.setdefault(name, set())
    if value not in known:
        if len(known) >= LIMIT:
            return OTHER
        known.add(value)
    return value if value.isascii() else well_formed(value)
