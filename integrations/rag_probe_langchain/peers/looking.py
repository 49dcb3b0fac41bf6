"""Which other instrumentations are installed at this moment, whether before us or after us."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Final, NamedTuple

from langchain_core.callbacks import BaseCallbackManager
from opentelemetry.trace import TracerProvider

from rag_probe.faults import log_once
from rag_probe_langchain.peers import PEERS
from rag_probe_langchain.peers.look import Look


class Peers(NamedTuple):
    """The others, as one question meets them."""

    looks: tuple[Look, ...]
    resource: object
    """Of our provider: a span of another provider goes elsewhere, and ours cannot hang under it. None: not known."""


class _Known(NamedTuple):
    hook: object
    """What stands in place of the managers' `__init__`: another object whenever somebody installs himself."""
    looks: tuple[Look, ...]


_HOOK: Final = "__init__"
_known = _Known(None, ())


def peers_of(provider: TracerProvider) -> Peers | None:
    """Those that hear the question that starts now; None when there is none. Costs nothing until somebody is there."""
    hook = vars(BaseCallbackManager).get(_HOOK)
    if type(hook) is FunctionType:
        return None
    looks = _looks(hook)
    return Peers(looks, getattr(provider, "resource", None)) if looks else None


def _looks(hook: object) -> tuple[Look, ...]:
    global _known  # noqa: PLW0603  # a memo of one
    known = _known
    if known.hook is not hook:
        known = _known = _Known(hook, tuple(_found()))
    return known.looks


def _found() -> Iterator[Look]:
    """Each of them puts its handler into every new manager: so a new one tells who they are."""
    try:
        handlers = BaseCallbackManager(handlers=[]).inheritable_handlers
    except Exception as error:  # somebody else's hook
        log_once("a look for other instrumentations", error)
        return
    for handler in handlers:
        for adapter in [PEERS[kind.__module__] for kind in type(handler).__mro__ if kind.__module__ in PEERS]:
            try:
                yield adapter(handler)
            except Exception as error:  # its names have moved
                log_once(f"the look-up of spans of {type(handler).__module__}", error)
