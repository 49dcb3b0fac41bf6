"""The ways in which an app may run a graph: LangChain's, and every stream mode of LangGraph's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from langchain_core._api import suppress_langchain_beta_warning

from tests.scenarios import modes

STREAMS: Final[dict[str, dict[str, Any]]] = {
    "values": {"stream_mode": "values"},
    "updates": {"stream_mode": "updates"},
    "messages": {"stream_mode": "messages"},
    "custom": {"stream_mode": "custom"},
    "debug": {"stream_mode": "debug"},
    "tasks": {"stream_mode": "tasks"},
    "checkpoints": {"stream_mode": "checkpoints"},
    "several": {"stream_mode": ["values", "updates", "messages"]},
    "subgraphs": {"stream_mode": "updates", "subgraphs": True},
}


def _stream(**options: Any) -> Callable[[Any, Any, Any], Any]:
    return lambda graph, asked, config: list(graph.stream(asked, config, **options))


def _astream(**options: Any) -> Callable[[Any, Any, Any], Any]:
    async def consume(graph: Any, asked: Any, config: Any) -> list[Any]:
        return [each async for each in graph.astream(asked, config, **options)]

    return lambda graph, asked, config: asyncio.run(consume(graph, asked, config))


def _stream_events(graph: Any, asked: Any, config: Any) -> Any:
    with suppress_langchain_beta_warning():
        return list(graph.stream_events(asked, config, version="v3"))


MODES: Final[dict[str, Callable[[Any, Any, Any], Any]]] = {
    **modes.MODES,
    **{f"stream {name}": _stream(**options) for name, options in STREAMS.items()},
    **{f"astream {name}": _astream(**options) for name, options in STREAMS.items()},
    "stream_events v3": _stream_events,
}
