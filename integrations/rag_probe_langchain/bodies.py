"""The body of a run that stands in its own span, so that what other libraries record inside it hangs under our step.

Whoever wraps a body (instrumenting/) opens and closes it in one frame, on every way out. Only in between may a span be
the ambient one: a run that starts while its body waits for it takes its place there.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from threading import get_ident
from typing import Final

from opentelemetry.context import Context, attach, detach, get_current

from rag_probe.faults import log_once
from rag_probe_langchain import runs
from rag_probe_langchain.run import Kind, Run
from rag_probe_langchain.spans import make_current

_innermost: Final[ContextVar[Body | None]] = ContextVar("rag_probe_body", default=None)


class Body:
    """A body that runs now, or, of a stream, between two of its items; entered as often as it runs."""

    __slots__ = ("_context", "_mark", "_thread", "_token", "kind", "outer", "run")

    def __init__(self, kind: Kind | None, run: Run | None = None) -> None:
        """Without `run` it waits for the next run of that `kind` to start; without both it is nobody's."""
        self.kind: Kind | None = kind
        self.run = run
        self._context: Context | None = None
        """Of a body that ran before: the ambient context in which it stopped."""

    def __enter__(self) -> None:
        self._thread = get_ident()
        self.outer = _innermost.get()
        self._mark: Token[Body | None] = _innermost.set(self)
        self._token = attach(self._context or get_current())
        if self._context is None and self.run is not None:
            stand_in(self.run)

    def __exit__(self, *_error: object) -> None:
        self._thread = 0
        if self.run is not None:
            self._context = get_current()
        try:
            _innermost.reset(self._mark)
        except (
            ValueError,
            RuntimeError,
        ):  # closed from another context, as a destroyed task is, or asked twice at once
            return
        detach(self._token)

    def takes(self, run: Run) -> bool:
        """Whether `run`, which starts now, is the one that this body waits for."""
        return self.run is None and self.kind == run.kind and self._thread == get_ident()


def arrived(run: Run) -> None:
    """A retriever's or a model's run has started: what follows until its body's end is inside it."""
    body = _innermost.get()
    if body is not None and body.takes(run):
        body.run = run
        stand_in(run)


def stand_in(run: Run) -> None:
    """Make the span of `run` the ambient one, for a caller who restores the context or drops it; never raises."""
    try:
        make_current(run)
    except Exception as error:  # a processor's, or a provider's: the body runs all the same
        log_once("a current span", error)


def around() -> Run | None:
    """The innermost open run around the calling code, with retrievers and models, which LangChain's context leaves out.

    Without instrumented bodies it is what `runs.current` says.
    """
    run, body = runs.current(), _innermost.get()
    while body is not None and body.run is None:
        body = body.outer
    inner = None if body is None else body.run
    if inner is None or inner.ended or inner.key not in runs.OPEN:
        return run
    outer = run
    while outer is not None and outer is not inner:
        outer = outer.parent
    return inner if outer is None else run


def retriever() -> Run | None:
    """The open run of the retriever whose body runs now, if nothing else of LangChain runs inside it."""
    run = around()
    return run if run is not None and run.kind == "retriever" else None
