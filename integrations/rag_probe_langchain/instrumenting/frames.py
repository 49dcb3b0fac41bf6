"""Wrappers that open a body before a function of LangChain runs and close it after, in one frame."""

# ruff: noqa: ANN401 - the wrapped functions are LangChain's
from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from functools import partial
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
    """The body is open while it makes an item, not while the caller has it."""

    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        body, items = opening(args, kwargs), function(*args, **kwargs)
        step = items.__next__
        while True:
            try:
                with body:
                    item = step()
            except StopIteration as stop:
                return stop.value
            try:
                yield item
            except GeneratorExit:
                with body:
                    items.close()
                raise
            except BaseException as thrown:  # whatever a caller throws into a generator
                step = partial(items.throw, thrown)
            else:
                step = items.__next__

    return call


def _async_generator(function: Callable[..., Any], opening: Opening) -> Function:
    """As above. What is destroyed while it waits for an item cannot be closed from here: that is the loop's work."""

    async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        body, items = opening(args, kwargs), function(*args, **kwargs)
        step = items.__anext__
        while True:
            try:
                with body:
                    item = await step()
            except StopAsyncIteration:
                return
            try:
                yield item
            except GeneratorExit:
                if not items.ag_running:  # else the loop closes it itself, as it does with all at its end
                    with body:
                        await items.aclose()
                raise
            except BaseException as thrown:  # as above
                step = partial(items.athrow, thrown)
            else:
                step = items.__anext__

    return call


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
