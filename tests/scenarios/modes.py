"""The ways in which an app may call a runnable; each returns what the last call gave, or raises what it raised."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final


def invoke(app: Any, asked: Any, config: Any) -> Any:
    return app.invoke(asked, config)


def stream(app: Any, asked: Any, config: Any) -> Any:
    return list(app.stream(asked, config))


def batch(app: Any, asked: Any, config: Any) -> Any:
    return app.batch([asked], config)


def ainvoke(app: Any, asked: Any, config: Any) -> Any:
    return asyncio.run(app.ainvoke(asked, config))


def astream(app: Any, asked: Any, config: Any) -> Any:
    async def consume() -> list[Any]:
        return [each async for each in app.astream(asked, config)]

    return asyncio.run(consume())


def abatch(app: Any, asked: Any, config: Any) -> Any:
    return asyncio.run(app.abatch([asked], config))


def astream_events(app: Any, asked: Any, config: Any) -> Any:
    async def consume() -> list[Any]:
        return [each async for each in app.astream_events(asked, config, version="v2")]

    return asyncio.run(consume())


MODES: Final[dict[str, Callable[[Any, Any, Any], Any]]] = {
    mode.__name__: mode for mode in (invoke, stream, batch, ainvoke, astream, abatch, astream_events)
}


def batch_as_completed(app: Any, asked: Any, config: Any) -> Any:
    return list(app.batch_as_completed([asked], config))


def abatch_as_completed(app: Any, asked: Any, config: Any) -> Any:
    async def consume() -> list[Any]:
        return [each async for each in app.abatch_as_completed([asked], config)]

    return asyncio.run(consume())


def astream_log(app: Any, asked: Any, config: Any) -> Any:
    async def consume() -> list[Any]:
        return [each async for each in app.astream_log(asked, config)]

    return asyncio.run(consume())


RARE: Final[dict[str, Callable[[Any, Any, Any], Any]]] = {
    mode.__name__: mode for mode in (batch_as_completed, abatch_as_completed, astream_log)
}
"""Further ways, of LangChain's runnables only."""
