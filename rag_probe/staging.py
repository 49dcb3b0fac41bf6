"""`stage`: a step of the app says itself what passed, and becomes a span."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import time_ns
from typing import Final, Literal, NamedTuple, TypeVar, overload

from opentelemetry import trace
from opentelemetry.context import Context, get_current

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.block import Block
from rag_probe.current import CurrentRun, Told, current_run, is_steering
from rag_probe.faults import blame_once, error_type, log_once
from rag_probe.flow import flow
from rag_probe.metering import meter_of
from rag_probe.policy import policy_from_environment
from rag_probe.recorders import (
    ContextRecorder,
    FilterRecorder,
    PermissionRecorder,
    Recorder,
    RerankRecorder,
)
from rag_probe.version import VERSION
from rag_probe.wire import encode
from rag_probe.wire.columns import put
from rag_probe.wire.context import put_budget
from rag_probe.wire.limits import limit_of, within

R = TypeVar("R", bound=Recorder)

_SCOPE: Final = "rag_probe"
_tracer: Final = trace.get_tracer(_SCOPE, VERSION)


@overload
def stage(
    kind: Literal["permission"], step: str | None = None, *, policy: str | None = None
) -> StageBlock[PermissionRecorder]: ...
@overload
def stage(kind: Literal["filter"], step: str | None = None) -> StageBlock[FilterRecorder]: ...
@overload
def stage(kind: Literal["rerank"], step: str | None = None) -> StageBlock[RerankRecorder]: ...
@overload
def stage(
    kind: Literal["context"], step: str | None = None, *, limit: int | None = None, tokenizer: str | None = None
) -> StageBlock[ContextRecorder]: ...


def stage(
    kind: str,
    step: str | None = None,
    *,
    policy: str | None = None,
    limit: int | None = None,
    tokenizer: str | None = None,
) -> object:
    """A block in which the app says what one of its steps did.

    ```
    with stage("permission", policy="v7") as s:          # s.allow(passage), s.deny(passage, "foreign_tenant")
    with stage("filter", "freshness") as s:              # s.keep(*passages), s.drop(passage, "superseded")
    with stage("rerank") as s:                           # s.rank(passage, score), best first
    with stage("context", limit=620, tokenizer="o200k_base") as s:      # s.add(passage, tokens=41), s.drop(passage)
    ```
    Also `async with`. As a decorator it compares the list of passages that a function was given with the one that it
    returned; `step` is then the function's name.

    At its end it is recorded in the run of an instrumented framework around it, else as a span of its own under the
    current one. With nothing said, what passed is not captured. An exception passes through, recorded by its type.
    Reasons are short codes: other text leaves only with content on. Only a wrong call raises: an unknown `kind`.
    """
    match kind:
        case "permission":
            return StageBlock(lambda name: PermissionRecorder(name, policy), step)
        case "filter":
            return StageBlock(FilterRecorder, step)
        case "rerank":
            return StageBlock(RerankRecorder, step)
        case "context":
            return StageBlock(lambda name: ContextRecorder(name, limit, tokenizer), step)
        case _:
            raise ValueError(f"stage: expected permission, filter, rerank or context, found {kind!r}")


class _Opened(NamedTuple):
    recorder: Recorder
    started_ns: int
    run: CurrentRun | None
    context: Context


class StageBlock(Block[R]):
    """What `stage` returns."""

    __slots__ = ("_make", "_opened", "_step")

    def __init__(self, make: Callable[[str | None], R], step: str | None) -> None:
        self._make = make
        self._step = step
        self._opened: list[_Opened] = []

    def open(self) -> R:
        """Begin to note."""
        recorder, run = self._make(self._step), _run()
        if run is not None:
            recorder.naming = run.name_of
        self._opened.append(_Opened(recorder, time_ns(), run, get_current()))
        return recorder

    def close(self, error: BaseException | None) -> None:
        """Record what was noted."""
        opened = self._opened.pop()
        try:
            _record(opened, time_ns(), None if error is None or is_steering(error) else error_type(error))
        except Exception as fault:  # ours or a processor's, and not the business of the app's code
            if opened.run is None:
                blame_once(fault)
            else:
                log_once("stage", fault)

    def anew(self, name: str) -> StageBlock[R]:
        """The same kind of stage for one call of a function, named after it."""
        return StageBlock(self._make, self._step or name)

    def called(self, given: Iterable[object], returned: object) -> None:
        """Note which passages went in and which came out."""
        try:
            recorder = self._opened[-1].recorder
            flowed = flow(given, returned, recorder.name_of)
            if flowed is not None:
                recorder.flowed(*flowed)
        except Exception as fault:  # an odd object among the app's arguments
            log_once("stage", fault)


def _run() -> CurrentRun | None:
    try:
        return current_run()
    except Exception as fault:  # an integration's
        log_once("current run", fault)
        return None


def _record(opened: _Opened, ended_ns: int, error: str | None) -> None:
    recorder, started_ns, run, context = opened
    if run is None:
        _span(recorder, started_ns, ended_ns, error, context)
    elif recorder.noted:
        run.record(run.policy.admit(recorder.stage()), started_ns, ended_ns, error)
    else:
        if recorder.budget is not None:
            run.tell(Told(budget=recorder.budget))
        if error is not None:
            run.fail(recorder.kind, recorder.step, started_ns, ended_ns, error)


def _span(recorder: Recorder, started_ns: int, ended_ns: int, error: str | None, context: Context) -> None:
    name = f"rag.{recorder.kind} {recorder.step}" if recorder.step else f"rag.{recorder.kind}"
    span = _tracer.start_span(name, context, start_time=started_ns)
    meter = meter_of(None, _SCOPE)
    if span.is_recording() or meter is not None:
        said = within(_attributes(recorder, error), limit_of(span))
        span.set_attributes(said)
        if error is not None:
            span.set_status(trace.StatusCode.ERROR)
        if meter is not None:
            meter.ended(said, (ended_ns - started_ns) / 1e9, trace.set_span_in_context(span, context))
    span.end(ended_ns)


def _attributes(recorder: Recorder, error: str | None) -> dict[str, Value]:
    out: dict[str, Value] = {a.STAGE: recorder.kind}
    if recorder.noted:
        policy = policy_from_environment()
        out = encode(policy.admit(recorder.stage()), policy.max_items)
    else:
        put(out, a.STEP_NAME, recorder.step)
        put_budget(out, recorder.budget)
    put(out, a.ERROR_TYPE, error)
    return out
