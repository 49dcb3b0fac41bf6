"""Methods of a class and of everything that descends from it, now or later."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from rag_probe.faults import log_once, warn_once
from rag_probe_langchain.instrumenting.wrapping import Wrap, put_back, replace


class Family:
    """Overrides are wrapped as the base's own methods are: a subclass often never calls those."""

    def __init__(self, base: type, wrappers: Mapping[str, Wrap], newer: Collection[str] = ()) -> None:
        """`newer`: methods that an older version does not have."""
        self._newer = newer
        self._base: Any = base
        self._wrappers = wrappers
        self._wrapping = False
        self._hook: object = None
        """What we put in the place of the base's `__init_subclass__`."""
        self._own: Any = None
        """What stood there; None where the base had none of its own."""

    def wrap(self) -> None:
        """Wrap every member, and those that will be defined; twice changes nothing."""
        self._wrapping = True
        gone = [name for name in self._wrappers if not hasattr(self._base, name) and name not in self._newer]
        if gone:
            name = self._base.__name__
            warn_once(name, "%s has no %s: what is made in there is recorded beside our step", name, ", ".join(gone))
        for member in _members(self._base):
            self._wrap_one(member)
        if self._hook is None:
            self._own = self._hooked()
            self._hook = classmethod(cast("Any", self._defined))
            self._base.__init_subclass__ = self._hook

    def unwrap(self) -> None:
        """Put back what stood there."""
        self._wrapping = False
        if self._hook is not None and self._hooked() is self._hook:
            if self._own is None:
                del self._base.__init_subclass__
            else:
                self._base.__init_subclass__ = self._own
            self._hook = None
        for member in _members(self._base):
            for name in self._wrappers:
                put_back(member, name)

    def _defined(self, cls: type, **kwargs: object) -> None:
        """A class has just been defined."""
        if self._own is None:
            super(self._base, cls).__init_subclass__(**kwargs)
        else:
            self._own.__func__(cls, **kwargs)
        try:
            if self._wrapping:
                self._wrap_one(cls)
        except Exception as error:  # nothing of ours reaches the definition of a class
            log_once(f"wrapping a subclass of {self._base.__name__}", error)

    def _hooked(self) -> object:
        return cast("Mapping[str, object]", self._base.__dict__).get("__init_subclass__")

    def _wrap_one(self, member: type) -> None:
        for name, wrap in self._wrappers.items():
            replace(member, name, wrap)


def _members(base: type) -> Iterator[type]:
    seen: set[type] = set()
    waiting = [base]
    while waiting:
        member = waiting.pop()
        if member not in seen:
            seen.add(member)
            waiting += type.__subclasses__(member)
            yield member
