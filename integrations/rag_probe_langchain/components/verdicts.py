"""What an app's permission check says about passages: asked of its callable, read strictly."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias, cast

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import run_in_executor
from langchain_core.runnables.utils import accepts_config, gather_with_concurrency

Answer: TypeAlias = bool | tuple[bool, str | None]
"""Whether the caller may see a passage; if not, perhaps why, as a short code: `(False, "foreign_tenant")`."""
Allow: TypeAlias = Callable[..., Answer | Awaitable[Answer]]
"""`allow(document)`, or `allow(document, config)` with the `RunnableConfig` of the call; a function or a coroutine."""


class Verdict(NamedTuple):
    """One decision."""

    allowed: bool
    reason: str | None = None


def verdicts(allow: Allow, documents: Sequence[Document], config: RunnableConfig) -> Iterator[Verdict]:
    """What `allow` says of each. Raises what it raises, and a TypeError for an answer that is none: never lets pass."""
    return (_read(_here(answer)) for answer in _asked(allow, documents, config))


async def averdicts(allow: Allow, documents: Sequence[Document], config: RunnableConfig) -> list[Verdict]:
    """All or none: coroutines side by side (by the config's `max_concurrency`), a function in LangChain's executor."""
    if inspect.iscoroutinefunction(allow) or inspect.iscoroutinefunction(getattr(allow, "__call__", None)):  # noqa: B004
        asked = cast("list[Coroutine[Any, Any, object]]", _all_asked(allow, documents, config))
        return list(map(_read, await gather_with_concurrency(config.get("max_concurrency"), *asked)))
    answers = await run_in_executor(None, _all_asked, allow, documents, config)
    return [_read(await answer if inspect.isawaitable(answer) else answer) for answer in answers]


def _asked(allow: Allow, documents: Sequence[Document], config: RunnableConfig) -> Iterator[object]:
    ask = partial(allow, config=config) if accepts_config(allow) else allow
    return map(ask, documents)


def _all_asked(allow: Allow, documents: Sequence[Document], config: RunnableConfig) -> list[object]:
    return list(_asked(allow, documents, config))


def _here(answer: object) -> object:
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise TypeError("allow: expected an answer, found an awaitable: use ainvoke, or give a plain function")
    return answer


def _read(answer: object) -> Verdict:
    match answer:
        case bool():
            return Verdict(answer)
        case (bool(), str() | None):
            return Verdict(*cast("tuple[bool, str | None]", answer))
        case _:
            raise TypeError(f"allow: expected a bool or (bool, reason), found a {type(answer).__name__}")
