"""Wrappers that open a body before a function of LangChain runs and close it after, in one frame."""

# ruff: noqa: ANN401 - the wrapped functions are LangChain's
from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import Any, TypeAlias, cast

from rag_probe_langchain import runs
from rag_probe_langchain.bodies import Body, stand_in
from rag_probe_langchain.instrumenting.wrapping import Function, Wrap
from rag_probe_langchain.run import Kind

Opening: TypeAlias = Callable[[Sequence[Any], Mapping[str, Any]], Body]
"""From a call's arguments to its body."""


def waiting(kind: Kind) -> Opening:
    """The body of the run of that `kind` that starts inside the call."""
    return lambda _args, _kwargs: Body(kind)


def told(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Body:
    """The body of the model's run whose manager the call is given; one that serves several runs is nobody's."""
    given = kwargs.get("run_manager") or kwargs.get("run_managers") or (args[3] if len(args) > 3 else None)
    managers = cast("list[object]", given) if isinstance(given, list) else [given]
    run_id = getattr(managers[0], "run_id", None) if len(managers) == 1 else None
    return Body(None, None if run_id is None else runs.OPEN.get(run_id.int))


def framed(opening: Opening) -> Wrap:
    """The wrapper for a method, as its kind asks: plain, coroutine, or generator of either sort."""

    def wrap(function: Function) -> Function:
        if isgeneratorfunction(function):
            return _generator(function, opening)
        if isasyncgenfunction(function):
            return _async_generator(function, opening)
        return _coroutine(function, opening) if iscoroutinefunction(function) else _plain(function, opening)

    return wrap


def _plain(function: Callable[..., Any], opening: Opening) -> Function:
    def call(*args: Any, **kwargs: Any) -> Any:
        with opening(args, kwargs):
            return function(*args, **kwargs)

    return call


def _coroutine(function: Callable[..., Any], opening: Opening) -> Function:
    async def call(*args: Any, **kwargs: Any) -> Any:
        with opening(args, kwargs):
            return await function(*args, **kwargs)

    return call


def _generator(function: Callable[..., Any], opening: Opening) -> Function:
    def call(*args: Any, **kwargs: Any) -> _Items:
        return _Items(opening(args, kwargs), function(*args, **kwargs))

    return call


def _async_generator(function: Callable[..., Any], opening: Opening) -> Function:
    def call(*args: Any, **kwargs: Any) -> _AsyncItems:
        return _AsyncItems(opening(args, kwargs), function(*args, **kwargs))

    return call


class _Items(Generator[Any, Any, Any]):
    """A generator whose body is open while it makes an item or ends, not while the caller has one.

    It holds the real one and nothing else: who forgets it leaves that to the collector, or to the event loop.
    """

    __slots__ = ("_body", "_items")

    def __init__(self, body: Body, items: Generator[Any, Any, Any]) -> None:
        self._body = body
        self._items = items

    def __next__(self) -> Any:
        with self._body:
            return self._items.__next__()

    def send(self, value: Any) -> Any:
        with self._body:
            return self._items.send(value)

    def throw(self, *error: Any) -> Any:
        with self._body:
            return self._items.throw(*error)

    def close(self) -> None:
        with self._body:
            self._items.close()


class _AsyncItems(AsyncGenerator[Any, Any]):
    """As above."""

    __slots__ = ("_body", "_items")

    def __init__(self, body: Body, items: AsyncGenerator[Any, Any]) -> None:
        self._body = body
        self._items = items

    async def __anext__(self) -> Any:
        with self._body:
            return await self._items.__anext__()

    async def asend(self, value: Any) -> Any:
        with self._body:
            return await self._items.asend(value)

    async def athrow(self, *error: Any) -> Any:
        with self._body:
            return await self._items.athrow(*error)

    async def aclose(self) -> None:
        with self._body:
            await self._items.aclose()


def in_config(function: Function) -> Function:
    """For LangChain's and LangGraph's `_set_config_context`, which run in the copy of a context made for one body.

    That copy is dropped with the body, so that nothing needs to be restored.
    """

    def call(config: Mapping[str, object], *args: object, **kwargs: object) -> object:
        returned = function(config, *args, **kwargs)
        run = runs.run_of(config)
        if run is not None:
            stand_in(run)
        return returned

    return call
