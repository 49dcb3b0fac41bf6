"""A question that is left without a word: some of LangChain's calls tell no end when they are cancelled.

Whoever can still tell the end of a run holds its id: the frame of the call, and the runs inside it. So an id that
nobody holds any more says that its question is over, whichever tasks, loops and threads it went through.
"""

from __future__ import annotations

import os
import time
from asyncio import AbstractEventLoop, CancelledError, Handle, Task, current_task
from collections import deque
from contextvars import Context
from typing import Any, Final
from uuid import UUID
from weakref import ref

from rag_probe.faults import log_once
from rag_probe_langchain import runs
from rag_probe_langchain.finish import give_up
from rag_probe_langchain.run import Run

_PATIENCE: Final = 32
"""Turns of the event loop in which generators that were left may still tell their end."""
_SILENCE: Final = 60 * 10**9
"""Nanoseconds for which nothing may have been heard of a question whose id nobody holds: a bridge, which makes the ids
of the runs that it tells anew, may take a while."""

_left: Final[deque[Watch]] = deque()
"""Those whose questions were left where no event loop runs, or may never run again: the next question ends them, or the
process."""


class Watch:
    """Ends a question that nobody can end any more."""

    __slots__ = ("_id", "_root", "_since")

    def __init__(self, root: Run, run_id: UUID) -> None:
        self._root = root
        self._since = 0
        self._id: ref[UUID] | None = ref(run_id, self._dropped)

    def end(self) -> None:
        """The question has told its end itself."""
        self._id = None

    def has_ended(self) -> bool:
        """Whether the question is over now: it is ended, if it has been left for good."""
        if self._is_left() or time.time_ns() - self._root.request.touched > _SILENCE:
            self._give_up()
        return not self._is_open()

    def _is_left(self) -> bool:
        """A search has nothing inside that may be heard of."""
        return self._root.kind == "retriever"

    def _dropped(self, _: object) -> None:
        """Perhaps by the garbage collector, in the midst of anything: nothing is ended here."""
        self._leave()

    def _is_open(self) -> bool:
        return runs.OPEN.get(self._root.key) is self._root

    def _leave(self) -> None:
        self._since = time.time_ns()
        _left.append(self)

    def _give_up(self) -> None:
        give_up(self._root, None, self._since)


class TaskWatch(Watch):
    """Of a question that an asyncio task asks, which may go on in another one, as streams do.

    What is no chain ends with its task too, if that was cancelled or failed.
    """

    __slots__ = ("_cancelled", "_held", "_loop", "_soon", "_task", "_turns")

    def __init__(self, root: Run, run_id: UUID, task: Task[Any]) -> None:
        super().__init__(root, run_id)
        self._cancelled = self._held = False
        self._turns = _PATIENCE
        self._loop: AbstractEventLoop = task.get_loop()
        self._task = ref(task)  # weak: a task that nobody waits for any more is collected, and so tells its end
        task.add_done_callback(self._over)
        self._soon: Handle | None = None
        if root.kind != "chain":  # a chain tells every end, but of a batch, whose tasks are over at once
            self._soon = self._loop.call_soon(self._hold, context=Context())

    def end(self) -> None:
        """The question has told its end itself."""
        super().end()
        if self._soon is not None:
            self._soon.cancel()
        task = self._task()
        if task is not None:
            task.remove_done_callback(self._over)

    def _is_left(self) -> bool:
        """Otherwise that is still left to the event loop."""
        return self._loop.is_closed()

    def _give_up(self) -> None:
        give_up(self._root, CancelledError() if self._cancelled else None, self._since)

    def _hold(self) -> None:
        """An id that is gone by now was perhaps never held."""
        self._held = True

    def _is_dropped(self) -> bool:
        return self._id is None or self._id() is None

    def _over(self, task: Task[Any]) -> None:
        self._cancelled = task.cancelled()
        broken = self._cancelled or getattr(task, "_exception", None) is not None  # whose traceback holds the id
        if self._is_dropped() or (broken and self._root.kind != "chain"):
            self._leave()
            self._wait()
        else:
            self._held = True

    def _dropped(self, _: object) -> None:
        try:
            self._leave()
            if self._held:
                self._loop.call_soon_threadsafe(self._wait)
        except RuntimeError:  # the loop is closed
            return
        except Exception as fault:  # in the app's event loop, here and below
            log_once("a question that was left", fault)

    def _wait(self) -> None:
        try:
            if self._turns and self._is_open():
                self._turns -= 1
                self._loop.call_soon(self._wait)
            else:
                self._give_up()
        except Exception as fault:
            log_once("the end of a task", fault)


def _end_left() -> None:
    try:
        for _ in range(len(_left)):
            one = _left.popleft()
            if not one.has_ended():
                _left.append(one)
    except IndexError:  # another thread does it too
        return


def watch(root: Run, run_id: UUID) -> None:
    """Have the question of `root` ended when it is left; first end those that were left before it."""
    if _left:
        _end_left()
    try:
        task = current_task()
    except RuntimeError:  # no event loop runs in this thread
        task = None
    try:
        root.request.watch = Watch(root, run_id) if task is None else TaskWatch(root, run_id, task)
    except TypeError:  # an id of another kind, which takes no weak reference: nobody can tell who holds it
        return


os.register_at_fork(after_in_child=_left.clear)
