"""One handler for everything that LangChain runs, by its public hook."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

from langchain_core.tracers.context import register_configure_hook

from rag_probe_langchain.handler import RagProbeCallbackHandler


class _Default:
    """What LangChain asks for a handler whenever it sets up callbacks, in any thread.

    It stands where a ContextVar is expected: a hook cannot be taken back, and a variable's default not be changed.
    """

    def __init__(self) -> None:
        self.handler: RagProbeCallbackHandler | None = None
        self.registered = False

    def get(self) -> RagProbeCallbackHandler | None:
        """The handler; None while nothing is instrumented."""
        return self.handler


_default: Final = _Default()
_lock: Final = Lock()


def install(handler: RagProbeCallbackHandler) -> None:
    """From now on `handler` hears every run, beside the app's own handlers, unless one of our kind does already."""
    with _lock:
        _default.handler = handler
        if not _default.registered:
            stand_in: Any = _default
            register_configure_hook(stand_in, True, RagProbeCallbackHandler)
            _default.registered = True


def remove() -> None:
    """From now on no handler of ours is added; what is under way is recorded to its end."""
    _default.handler = None
