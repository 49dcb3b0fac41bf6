"""Send spans where the OTEL_* variables point: the set-up for an app that has none of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Final, Protocol, runtime_checkable

from opentelemetry import trace

from rag_probe.faults import log_once

_lock: Final = threading.Lock()
_handles: Final[list[Handle]] = []


@runtime_checkable
class _Flushable(Protocol):
    def force_flush(self, timeout_millis: int = 30000) -> bool: ...


class _Processor(_Flushable, Protocol):
    def shutdown(self) -> None: ...


class Handle:
    """What `configure` returns: a hold on the way out, for the end of a script, a test or a notebook cell."""

    def __init__(self, provider: object, processors: Sequence[_Processor] = ()) -> None:
        self.provider = provider
        self.processors = processors
        """What `configure` added; nothing for a provider of the app's."""
        self.closed = False

    def flush(self, timeout: float = 10.0) -> bool:
        """Hand every span that has ended to its exporter; False when that took longer than `timeout` seconds.

        What cannot be delivered the exporter says in its own log.
        """
        targets = [each for each in self.processors or (self.provider,) if isinstance(each, _Flushable)]
        milliseconds = int(timeout * 1000)
        return _within(timeout, lambda: {each.force_flush(milliseconds) for each in targets} <= {True})

    def shutdown(self, timeout: float = 10.0) -> None:
        """Flush, then stop what `configure` started and nothing that the app did; a second call does nothing."""
        if not self.closed:
            self.closed = True
            self.flush(timeout)
            for processor in self.processors:
                processor.shutdown()


def configure(service_name: str | None = None, *, keep_cases: bool = True, join: bool = False) -> Handle:
    """Set up a tracer provider that exports by OTLP, as every OTEL_* variable says; call it once at the start.

    - `service_name` comes before OTEL_SERVICE_NAME; with neither, one warning.
    - Without OTEL_EXPORTER_OTLP_PROTOCOL it is http/protobuf, or grpc for an endpoint on port 4317.
    - The sampler is the one of OTEL_TRACES_SAMPLER, inside `KeepCases` unless `keep_cases` is False.
    - A second call returns the handle of the first; after its `shutdown`, it starts to export again.
    - A provider that the app has set is never replaced, and nothing is added to it: the handle's `flush` works on it.
      With `join=True` our exporters are added to it, once; wrap its sampler in `KeepCases` yourself.
    - OTEL_SDK_DISABLED=true: nothing is set up. OTEL_CONFIG_FILE is not read.
    - At exit everything that has ended is sent; with no endpoint to be reached the app works on, and its exit waits
      for OTEL_EXPORTER_OTLP_TIMEOUT. A forked child exports its own spans; one that ends by `os._exit`, as
      multiprocessing's do, has to flush first.

    Raises `MissingExtraError`, a `ModuleNotFoundError`, without the extra `otlp`.
    """
    from rag_probe import provider as providers

    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return Handle(None)
    with _lock:
        provider: object = trace.get_tracer_provider()
        for handle in _handles:
            if handle.provider is provider and not handle.closed and (handle.processors or not join):
                return handle
        if isinstance(provider, trace.ProxyTracerProvider):
            provider = providers.set_up(service_name, keep_cases=keep_cases)
        elif not providers.take_up_again(provider) and not join:
            return Handle(provider)
        handle = Handle(provider, providers.add_exporters(provider))
        _handles[:] = [handle]
        return handle


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
