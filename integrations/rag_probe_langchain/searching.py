"""Which retriever's body the calling code stands in, where nobody wraps bodies: LangChain's context does not tell it.

Callbacks are called inline in the context in which the body goes on, threads of an executor included, so its run is
noted there. A note is a hint: it holds nothing but numbers, nothing has to be undone, and it counts only while that run
is open and lies inside the run that LangChain's own context tells.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

from rag_probe_langchain import runs
from rag_probe_langchain.run import Run

_DEEPEST: Final = 16
_entered: Final[ContextVar[tuple[int, ...]]] = ContextVar("rag_probe_langchain.retrievers", default=())
"""Keys of retrievers' runs, the innermost first."""


def entered(key: int) -> None:
    """A retriever's body begins in this context."""
    if key in runs.OPEN:
        around = [each for each in _entered.get() if each in runs.OPEN]
        _entered.set((key, *around[: _DEEPEST - 1]))


def innermost(told: Run | None) -> Run | None:
    """The retriever's run inside `told` whose body this is, else `told`."""
    for key in _entered.get():
        run = runs.OPEN.get(key)
        if run is not None and (told is None or _is_inside(run, told)):
            return run
    return told


def _is_inside(run: Run, outer: Run) -> bool:
    around: Run | None = run
    while around is not None and around is not outer:
        around = around.parent
    return around is outer
