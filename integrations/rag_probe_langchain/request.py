"""What one question has shown so far, from the start of its root run to its end."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from threading import RLock
from typing import NamedTuple

from langchain_core.messages import BaseMessage
from opentelemetry.context import Context
from opentelemetry.trace import Link, Tracer

from rag_probe.current import Told
from rag_probe.stages import CaseTags, ContextAssembly, Identity
from rag_probe_langchain.documents import Documents
from rag_probe_langchain.options import Options
from rag_probe_langchain.run import Ids, Run


class TextStep(NamedTuple):
    """A step that made text of passages: the context builder, if its text reappears in a prompt."""

    text: str
    run: Run
    ended: int


class Made(NamedTuple):
    """What a model call gave back, and the passages that it saw."""

    text: str
    context: Ids | None
    """None: not captured."""
    message: BaseMessage | None
    """Which may cite beside its text."""


@dataclass(slots=True, eq=False)
class Request:
    """State shared by all runs of one question; read and written under `lock` from the first end event on."""

    options: Options
    tracer: Tracer
    context: Context
    """The ambient context at the root's start: the caller's span and baggage."""
    tags: CaseTags
    """Which case of which experiment this answers."""
    identity: Identity | None
    thread: str | None
    asked: str | None
    """The question's text."""
    documents: Documents
    touched: int
    """When it was last heard of; nanoseconds since the epoch."""
    runs: dict[int, Run] = field(default_factory=dict[int, Run])
    """Those that are open."""
    lock: RLock = field(default_factory=RLock)  # re-entrant: a collected generator may end its run in the midst of ours
    root: Run | None = None
    recording: bool | None = None
    """None until the root's span is started; False costs nothing more."""
    links: list[Link] = field(default_factory=list[Link])
    last: Ids | None = None
    """The last known set: what the last retrieval or stage let through."""
    joining: bool = False
    """Whether `last` is a retrieval's and a further retrieval joins it."""
    texts: deque[TextStep] = field(default_factory=lambda: deque[TextStep](maxlen=16))
    made: deque[Made] = field(default_factory=lambda: deque[Made](maxlen=32))
    told: Told = field(default_factory=Told)
    builder: ContextAssembly | None = None
    """What the app told of the context that it is building: budget, and why passages fell."""
    attempts: dict[str, int] = field(default_factory=dict[str, int])
    resumed: bool = False
    """Whether it goes on with a run that paused: what a model wrote, it may have written then."""
    paused: bool = False
    """Whether a node asked and waits: no answer yet."""
