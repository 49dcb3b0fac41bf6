"""Any saver that the caller has in hand, or a compiled graph's: its own `list` is all that is asked of it."""

from __future__ import annotations

from asyncio import AbstractEventLoop, InvalidStateError
from collections.abc import Collection, Iterator, Mapping

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from rag_probe.protocols import SourceError
from rag_probe_langgraph.checkpoints.saved import Saved, Write, entries


class SaverStore:
    """What a saver lists. Its serialiser is the caller's, and so is what that builds."""

    def __init__(self, saver: BaseCheckpointSaver[str]) -> None:
        self._saver = saver
        self._records: dict[tuple[str, str], Mapping[str, object]] = {}
        """Of the thread that was read last: by namespace and id."""
        self._channels: set[str] = set()

    def threads(self) -> Mapping[str, str]:
        """Every thread; a saver can only be asked for everything, so that the ids of all are held."""
        first: dict[str, str] = {}
        newest: dict[str, str] = {}
        for listed in _listed(self._saver, None):
            thread, namespace, name = _place(listed)
            first[thread] = min(name, first.get(thread, name))
            newest[thread] = max(newest.get(thread, ""), "" if namespace else name)
            self._channels.update(entries(listed.checkpoint.get("channel_versions")))
            self._channels.update([channel for _, channel, _ in listed.pending_writes or ()])
        return {thread: newest[thread] for thread in sorted(first, key=lambda thread: (first[thread], thread))}

    def channels(self, thread: str, newest: str) -> Collection[str]:  # noqa: ARG002  # the protocol's signature
        """Those of all threads, which listing them has shown."""
        return self._channels

    def saved(self, thread: str, channels: Collection[str] | None) -> list[Saved]:  # noqa: ARG002  # the protocol's signature
        """Its checkpoints; a saver reads every channel, asked for or not."""
        config: RunnableConfig = {"configurable": {"thread_id": thread}}
        found = sorted(_listed(self._saver, config), key=lambda listed: _place(listed)[2])
        self._records = {_place(listed)[1:]: {**listed.checkpoint} for listed in found}
        return [_saved(listed) for listed in found]

    def checkpoint(self, saved: Saved) -> Mapping[str, object]:
        """One record of the thread that was read last."""
        return self._records.get((saved.namespace, saved.id), {})

    def pause(self) -> None:
        """Nothing: the saver is the caller's."""

    def close(self) -> None:
        """Nothing: the saver is the caller's."""


def _listed(saver: BaseCheckpointSaver[str], config: RunnableConfig | None) -> Iterator[CheckpointTuple]:
    """What the saver lists; raises SourceError where it cannot, without what the error says, which may be content."""
    loop: object = getattr(saver, "loop", None)
    if isinstance(loop, AbstractEventLoop) and not loop.is_running():
        raise SourceError(f"{type(saver).__name__}: its event loop has ended; read it while it runs, from a thread")
    try:
        yield from saver.list(config)
    except InvalidStateError:
        raise SourceError(
            f"{type(saver).__name__}: cannot be read inside its own event loop; read it from a thread: "
            "await asyncio.to_thread(lambda: list(source.paths(Selection())))"
        ) from None
    except Exception as error:  # the saver is the caller's: a wrong key, a lost connection
        raise SourceError(f"{type(saver).__name__}: cannot be read ({type(error).__name__})") from None


def _saved(listed: CheckpointTuple) -> Saved:
    thread, namespace, name = _place(listed)
    parent = listed.parent_config
    return Saved(
        thread,
        namespace,
        name,
        None if parent is None else str(parent.get("configurable", {}).get("checkpoint_id")),
        {**listed.metadata},
        tuple(
            [
                Write(task, "", place, channel, value)
                for place, (task, channel, value) in enumerate(listed.pending_writes or ())
            ]
        ),
    )


def _place(listed: CheckpointTuple) -> tuple[str, str, str]:
    where = listed.config.get("configurable", {})
    return str(where.get("thread_id")), str(where.get("checkpoint_ns", "")), str(where.get("checkpoint_id"))
