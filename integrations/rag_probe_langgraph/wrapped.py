"""What is wrapped in LangGraph, and undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Final, cast

from langchain_core.callbacks import BaseCallbackManager

from rag_probe.faults import log_once
from rag_probe_langchain import RagProbeCallbackHandler
from rag_probe_langchain.instrumenting.frames import in_config
from rag_probe_langchain.instrumenting.wrapping import Function, put_back_in, replace_in
from rag_probe_langgraph.handler import RagProbeGraphHandler

_BODIES: Final = ("langgraph._internal._runnable", "_set_config_context")
_MAIN: Final = "langgraph.pregel.main"
_RUNS: Final = ("get_callback_manager_for_config", "get_async_callback_manager_for_config")
"""They make the manager of a graph's run, of the config that the graph was called with."""
_PAUSES: Final = ("get_sync_graph_callback_manager_for_config", "get_async_graph_callback_manager_for_config")
"""They look for who hears a graph pause in that config only."""
_CALLBACKS: Final = "langgraph.callbacks"
"""An older langgraph tells nobody of pauses, and has no such module."""


def wrap(handler: RagProbeGraphHandler) -> None:
    """Wrap all; what another version has not got is said once."""
    replace_in(*_BODIES, in_config)
    for name in _RUNS:
        replace_in(_MAIN, name, lambda function: _with(handler, _recorded, function))
    for name in _PAUSES if find_spec(_CALLBACKS) is not None else ():
        replace_in(_MAIN, name, lambda function: _with(handler, _heard, function))


def unwrap() -> None:
    """Put everything back."""
    pauses = _PAUSES if find_spec(_CALLBACKS) is not None else ()
    for module, name in (_BODIES, *[(_MAIN, name) for name in (*_RUNS, *pauses)]):
        put_back_in(module, name)


def _with(
    handler: RagProbeGraphHandler, add: Callable[[RagProbeGraphHandler, Any], object], function: Function
) -> Function:
    """`function`, whose config has the handler among its callbacks."""

    def call(config: Mapping[str, object], *args: object, **kwargs: object) -> object:
        try:
            config = {**config, "callbacks": add(handler, config.get("callbacks"))}
        except Exception as error:  # nothing of ours reaches the graph
            log_once("adding the handler to a graph", error)
        return function(config, *args, **kwargs)

    return call


def _recorded(handler: RagProbeGraphHandler, callbacks: object) -> object:
    """`callbacks`, with the handler unless one of our kind is among them."""
    return _added(handler, callbacks, RagProbeCallbackHandler)


def _heard(handler: RagProbeGraphHandler, callbacks: object) -> object:
    """As above, for one that hears pauses."""
    return _added(handler, callbacks, RagProbeGraphHandler)


def _added(handler: RagProbeGraphHandler, callbacks: object, kind: type) -> object:
    if isinstance(callbacks, BaseCallbackManager):
        if any(isinstance(each, kind) for each in callbacks.handlers):
            return callbacks
        manager = callbacks.copy()
        manager.add_handler(handler, inherit=True)
        return manager
    handlers = [] if callbacks is None else list(cast("Sequence[object]", callbacks))
    return handlers if any(isinstance(each, kind) for each in handlers) else [*handlers, handler]
