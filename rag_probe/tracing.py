"""Send spans, and metrics when asked, where the OTEL_* variables point: for an app that has no set-up of its own."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Protocol, runtime_checkable

from opentelemetry import metrics, trace

from rag_probe.ending import before_every_end, end_open
from rag_probe.faults import log_once, warn_once

_HANDLE: Final = "_rag_probe_handle"
"""Kept on the provider, where it outlives a reload of this module."""

_EXPORT_TIMEOUT: Final = "OTEL_BSP_EXPORT_TIMEOUT"
_EXIT_SECONDS: Final = 3.0
"""Short for who waits at a terminal, long for an endpoint that answers."""

_lock: Final = threading.RLock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


@runtime_checkable
class _Flushable(Protocol):
    def force_flush(self, timeout_millis: int = 30000) -> bool: ...


class _Outlet(_Flushable, Protocol):
    @property
    def failures(self) -> int: ...
    def hurry(self, seconds: float | None) -> None: ...
    def give_up(self) -> None: ...
    def shutdown(self) -> None: ...


class Handle:
    """What `configure` returns: a hold on the way out, for the end of a script, a call, a test or a notebook cell."""

    def __init__(
        self,
        provider: object,
        outlets: Sequence[_Outlet] = (),
        readers: Sequence[_Outlet] = (),
        *,
        own: bool = False,
        exit_timeout: float | None = None,
    ) -> None:
        self.provider = provider
        self.outlets = outlets
        """What `configure` added; nothing for a provider of the app's."""
        self.readers = readers
        """The same for metrics."""
        self.own = own
        """Whether `configure` made the provider."""
        self.exit_timeout = exit_timeout
        """Seconds that the exit may wait; None: what the environment says, when it comes to that."""
        self.closed = False

    def flush(self, timeout: float = 10.0) -> bool:
        """Send every span that has ended, and the metrics so far.

        False when that took longer than `timeout` seconds, or was refused.

        Why something could not be delivered the exporter says in its own log.
        """
        ways = (*(self.outlets or (self.provider,)), *(self.readers or (metrics.get_meter_provider(),)))
        targets = [each for each in ways if isinstance(each, _Flushable)]
        milliseconds = int(timeout * 1000)
        failures = self._failures()
        flushed = _within(timeout, lambda: {each.force_flush(milliseconds) for each in targets} <= {True})
        return flushed and self._failures() == failures

    def shutdown(self, timeout: float = 10.0) -> None:
        """Flush, then stop what `configure` started and nothing that the app did; a second call does nothing.

        Questions that are open end as far as they came, marked incomplete. What is not delivered after `timeout`
        seconds is dropped.
        """
        if not self.closed:
            self.closed = True
            self._conclude(None)
            if not self.flush(timeout):
                for outlet in self._added:
                    outlet.hurry(0)
                    outlet.give_up()
            for outlet in self._added:
                outlet.shutdown()

    def conclude(self) -> None:
        """The process ends: what is open ends with it, and an endpoint that is down is not tried with every batch."""
        if not self.closed:
            self._conclude(self._patience)

    def leave(self) -> None:
        """What is done at the end of a process that runs no `atexit`."""
        self.conclude()
        self.flush(self._patience)

    def _conclude(self, seconds: float | None) -> None:
        if self.outlets:
            end_open(self.provider)
        for outlet in self._added:
            outlet.hurry(seconds)

    @property
    def _patience(self) -> float:
        return _exit_timeout() if self.exit_timeout is None else self.exit_timeout

    @property
    def _added(self) -> Sequence[_Outlet]:
        return (*self.outlets, *self.readers)

    def _failures(self) -> int:
        return sum(outlet.failures for outlet in self._added)


def configure(
    service_name: str | None = None,
    *,
    keep_cases: bool = True,
    join: bool = False,
    exit_timeout: float | None = None,
) -> Handle:
    """Set up a tracer provider that exports by OTLP, as every OTEL_* variable says; call it once at the start.

    - `service_name` comes before OTEL_SERVICE_NAME; with neither, one warning.
    - Without OTEL_EXPORTER_OTLP_PROTOCOL it is http/protobuf, or grpc for an endpoint on port 4317.
    - The sampler is the one of OTEL_TRACES_SAMPLER, inside `KeepCases` unless `keep_cases` is False.
    - A second call returns the handle of the first; after its `shutdown`, it starts to export again. What the
      provider is, its service name and its sampler, stays as it was.
    - A provider that the app has set is never replaced, and nothing is added to it: the handle's `flush` works on it.
      With `join=True` our exporters are added to it, once; wrap its sampler in `KeepCases` yourself.
    - Metrics are exported too when OTEL_METRICS_EXPORTER asks for it (`otlp`, `console`, …), under the same rules;
      while it is not set nothing is measured, unless the app has a meter provider.
    - OTEL_SDK_DISABLED=true: nothing is set up. OTEL_CONFIG_FILE is not read.
    - At exit everything is sent, questions that are open as far as they came, in children of multiprocessing and
      Celery too. With no endpoint to be reached the app works on, and its exit waits for `exit_timeout` seconds at
      most: by default for OTEL_BSP_EXPORT_TIMEOUT (milliseconds), without that for 3 s; what is not sent then is lost.
      A signal that nobody handles and `os._exit` run no exit: flush before.
    - A forked child exports its own spans, and not those of its parent.

    Raises `MissingExtraError`, a `ModuleNotFoundError`, without the extra `otlp`.
    """
    from rag_probe import provider as providers

    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return Handle(None)
    with _lock:
        provider: object = trace.get_tracer_provider()
        known = getattr(provider, _HANDLE, None)
        if known is not None and not known.closed and (known.outlets or not join):
            _said_otherwise(service_name, providers.service_of(provider))
            if exit_timeout is not None:
                known.exit_timeout = exit_timeout
            return known
        own = known is not None and known.own
        if isinstance(provider, trace.ProxyTracerProvider):
            provider, own = providers.set_up(service_name, keep_cases=keep_cases), True
        elif own:
            providers.shut_down_at_exit(provider)
        outlets = providers.add_exporters(provider) if own or join else ()
        readers = providers.add_readers(provider, service_name, join=join)
        handle = Handle(provider, outlets, readers, own=own, exit_timeout=exit_timeout)
        with suppress(AttributeError):  # a provider that takes no attributes
            setattr(provider, _HANDLE, handle)
        atexit.register(handle.conclude)
        before_every_end(handle.leave)
        return handle


def _exit_timeout() -> float:
    value = os.environ.get(_EXPORT_TIMEOUT, "").strip()
    return int(value) / 1000 if value.isdecimal() else _EXIT_SECONDS


def _said_otherwise(asked: str | None, exported: str) -> None:
    if asked is not None and exported and asked != exported:
        warn_once("configure", "configure(%r): this process exports as %r until it ends", asked, exported)


def _within(timeout: float, work: Callable[[], bool]) -> bool:
    """Whether `work` was done, and well, in `timeout` seconds: the SDK's own flush knows no timeout."""
    results: list[bool] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as fault:  # an exporter's or a provider's of the app
            log_once("flush", fault)

    thread = threading.Thread(target=run, name="rag-probe-flush", daemon=True)
    try:
        thread.start()
        thread.join(timeout)
    except RuntimeError:  # no new threads while the interpreter exits: then it takes what it takes
        run()
    return results == [True]
