"""How much may be in memory at once: what is being received, and what waits to be written."""

import threading
from concurrent.futures import Future
from typing import Self

from rag_probe_collector.receiver.refusal import Reason, RefusalError


class ByteBudget:
    """A bound on bytes held, over all requests of all listeners.

    One request alone is always admitted, whatever its size, so that a budget below the size limit blocks nothing.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._held = 0
        self._lock = threading.Lock()

    @property
    def held(self) -> int:
        """How many bytes are held now."""
        return self._held

    def lease(self) -> "Lease":
        """Return a lease on nothing yet."""
        return Lease(self)

    def take(self, count: int, own: int) -> None:
        """Hold `count` more for a request that holds `own` already; raises an OVERLOADED RefusalError."""
        with self._lock:
            if self._held > own and self._held + count > self._capacity:
                raise RefusalError(Reason.OVERLOADED, f"{self._held} bytes wait to be written; send again later")
            self._held += count

    def give_back(self, count: int) -> None:
        """Hold `count` less."""
        with self._lock:
            self._held -= count


class Lease:
    """What one request holds of a budget, from its first byte until it is durable or refused."""

    def __init__(self, budget: ByteBudget, count: int = 0) -> None:
        self._budget = budget
        self._count = count

    def grow(self, count: int) -> None:
        """Hold `count` bytes more; raises an OVERLOADED RefusalError, and then holds what it held."""
        self._budget.take(count, self._count)
        self._count += count

    def keep_until(self, done: "Future[None]") -> None:
        """Let go of nothing when this lease ends, but of all that it holds by then when `done` is."""
        kept, self._count = Lease(self._budget, self._count), 0
        done.add_done_callback(kept.release)

    def release(self, *_: object) -> None:
        """Hold nothing any more. Releasing twice is no error."""
        count, self._count = self._count, 0
        self._budget.give_back(count)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
