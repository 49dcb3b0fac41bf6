"""A block of the app's code: `with`, `async with`, or a decorator that opens a new one for each call."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from functools import wraps
from types import TracebackType
from typing import Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Block(ABC, Generic[T]):
    """Opens and closes around code. Whatever the code raises passes through untouched."""

    __slots__ = ()

    @abstractmethod
    def open(self) -> T:
        """Begin; what is returned is the `as` of the `with`."""

    @abstractmethod
    def close(self, error: BaseException | None) -> None:
        """End, with what the code raised."""

    @abstractmethod
    def anew(self, name: str) -> Block[T]:
        """A block like this one for a call of the decorated function `name`."""

    def called(self, given: Iterable[object], returned: object) -> None:
        """Note what a decorated function was given and what it returned."""

    def __enter__(self) -> T:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close(error)

    async def __aenter__(self) -> T:
        return self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close(error)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate a function or coroutine function; a generator, whose body runs in pieces, is refused."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__name__} is a generator: open the block with `with` where it is consumed")
        name = getattr(function, "__name__", type(function).__name__)
        if inspect.iscoroutinefunction(function):
            return cast("Callable[P, R]", self._around_coroutine(function, name))
        return self._around(function, name)

    def _around(self, function: Callable[P, R], name: str) -> Callable[P, R]:
        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            block = self.anew(name)
            with block:
                returned = function(*args, **kwargs)
                block.called((*args, *kwargs.values()), returned)
            return returned

        return run

    def _around_coroutine(self, function: Callable[P, object], name: str) -> Callable[P, object]:
        @wraps(function)
        async def run(*args: P.args, **kwargs: P.kwargs) -> object:
            block = self.anew(name)
            with block:
                returned = await cast("Callable[P, Awaitable[object]]", function)(*args, **kwargs)
                block.called((*args, *kwargs.values()), returned)
            return returned

        return run
