"""A question that its asyncio task leaves without a word: some of LangChain's bare calls tell no end when cancelled."""

from __future__ import annotations

from asyncio import AbstractEventLoop, CancelledError, Task, current_task
from typing import Any, Final
from weakref import ref

from rag_probe.faults import log_once
from rag_probe_langchain.finish import give_up
from rag_probe_langchain.run import Run

_PATIENCE: Final = 32
"""Turns of the event loop in which generators that the task has left may still tell their end."""


class Watch:
    """Ends a question whose task was cancelled, and a search whose task is over; all else may go on in another task."""

    __slots__ = ("_root", "_task", "_turns")

    def __init__(self, root: Run, task: Task[Any]) -> None:
        self._root = root
        self._task = ref(task)  # weak: a task that nobody waits for any more is collected, and so tells its end
        self._turns = _PATIENCE
        task.add_done_callback(self._over)

    def end(self) -> None:
        """The question has told its end itself."""
        task = self._task()
        if task is not None:
            task.remove_done_callback(self._over)

    def _over(self, task: Task[Any]) -> None:
        if task.cancelled() or self._root.kind == "retriever":
            self._wait(task.get_loop(), CancelledError() if task.cancelled() else None)

    def _wait(self, loop: AbstractEventLoop, error: CancelledError | None) -> None:
        try:
            if self._turns and not self._root.ended:
                self._turns -= 1
                loop.call_soon(self._wait, loop, error)
            else:
                give_up(self._root, error)
        except Exception as fault:  # in the app's event loop
            log_once("the end of a task", fault)


def watch(root: Run) -> None:
    """Have the question of `root` ended with the task that asks it, if one does."""
    try:
        task = current_task()
    except RuntimeError:  # no event loop runs in this thread
        return
    if task is not None:
        root.request.watch = Watch(root, task)
