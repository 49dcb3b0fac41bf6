"""Functions of other packages, replaced and put back."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from types import FunctionType
from typing import Final, NamedTuple, TypeAlias
from weakref import ref

from rag_probe.faults import log_once

Function: TypeAlias = Callable[..., object]
Wrap: TypeAlias = Callable[[Function], Function]
"""From a function to the one that stands in its place and calls it; or to itself, where it is not of that kind."""

_MARK: Final = "_rag_probe_wraps"


class _Mark(NamedTuple):
    """On a wrapper: what it stands for. Who wraps a wrapper copies its attributes; it is ours only as itself."""

    wrapper: ref[Function]
    original: Function


def replace(owner: object, name: str, wrap: Wrap) -> None:
    """Put a wrapper in the place of the function that `owner` itself holds under `name`; twice changes nothing.

    What is no plain function (an abstract one, a property, another's wrapper object) stays.
    """
    held = vars(owner).get(name)
    if not isinstance(held, FunctionType) or hasattr(held, "__isabstractmethod__") or _original(held) is not None:
        return
    if isinstance(owner, type) and type(held) is not FunctionType:  # wrapt's: not called bare
        return
    made = wrap(held)
    if made is not held:
        wrapper = wraps(held)(made)
        setattr(wrapper, _MARK, _Mark(ref(wrapper), held))
        setattr(owner, name, wrapper)


def put_back(owner: object, name: str) -> None:
    """Undo `replace`; where somebody else has wrapped the wrapper since, both stay."""
    original = _original(vars(owner).get(name))
    if original is not None:
        setattr(owner, name, original)


def replace_in(module: str, name: str, wrap: Wrap) -> None:
    """`replace` in a module; one that is not there, or has no such function, is said once, and that is all."""
    try:
        owner = import_module(module)
        if not callable(getattr(owner, name)):
            raise TypeError(name)  # noqa: TRY301 - as for a name that is not there
        replace(owner, name, wrap)
    except Exception as error:  # another version's insides: the callback goes on alone
        log_once(f"wrapping {module}.{name}", error)


def put_back_in(module: str, name: str) -> None:
    """Undo `replace_in`."""
    try:
        put_back(import_module(module), name)
    except Exception as error:  # as above
        log_once(f"unwrapping {module}.{name}", error)


def _original(held: object) -> Function | None:
    mark = getattr(held, _MARK, None)
    return mark.original if isinstance(mark, _Mark) and mark.wrapper() is held else None
