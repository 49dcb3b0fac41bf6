"""What one question has shown so far, from the start of its root run to its end."""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from typing import Final, NamedTuple, Protocol

from langchain_core.messages import BaseMessage
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span

from rag_probe.attributes import Value
from rag_probe.current import Told
from rag_probe.metering import Meter
from rag_probe.stages import CaseTags, ContextAssembly, Identity
from rag_probe_langchain.documents import Documents
from rag_probe_langchain.options import Options
from rag_probe_langchain.peers.looking import Peers
from rag_probe_langchain.run import Ids, Known, Run

_NOTHING_TOLD: Final = Told()
_TEXTS: Final = 16
_MADE: Final = 32


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
    ended: int = 0
    """Nanoseconds since the epoch."""
    echo: bool = False
    """Of a short text: whether it stood in its own prompt, so that a later prompt may have it from elsewhere."""


class Share(NamedTuple):
    """What a call was given of the last known set, where that was not all of it."""

    run: Run
    last: Ids
    ids: frozenset[str]
    dropped: Ids
    reasons: tuple[str | None, ...]


class StageSpan(NamedTuple):
    """A stage that is no run: its span is all there is of it."""

    run: Run
    """The step that it was found at."""
    attributes: dict[str, Value]
    started: int
    ended: int


class SpanWriter(Protocol):
    """What a question's spans are written by: `writing.Writer`."""

    choosy: bool
    """Whether a sampler has refused a question before."""

    def span_of(self, run: Run) -> Span:
        """The span of a run, started if it was not."""
        ...

    def start(self, run: Run) -> Span:
        """Start it."""
        ...

    def write(self, ended: Run | StageSpan) -> Span:
        """All of it."""
        ...

    def current_of(self, run: Run, shown: Run) -> Span | None:
        """The ambient span of its body."""
        ...


class Watch(Protocol):
    """What ends a question together with its task."""

    def end(self) -> None:
        """The question has told its end itself."""
        ...


class Request:
    """State shared by all runs of one question; from its first end event on, read and written under `lock` only.

    It is made when the question starts, `now`, in nanoseconds since the epoch:

    - `context`: the ambient one at the root's start, with the caller's span and baggage.
    - `thread`: the conversation, which may show after the start only.
    - `asked`: the question's text.
    - `meter`: None where nobody listens to metrics.
    - `peers`: the other instrumentations that hear the same runs.

    Defaults stand on the class, as a run's do.
    """

    root: Run | None = None
    watch: Watch | None = None
    """What ends it when it was left without a word."""
    recording: bool = True
    """False costs nothing more than an entry per run."""
    traced: bool = True
    """False: a sampler has refused it, and it is worked out for its metrics alone."""
    has_nodes: bool = False
    """Whether a node has a last known set of its own."""
    told: Told = _NOTHING_TOLD
    builder: ContextAssembly | None = None
    """What the app told of the context that it is building: budget, and why passages fell."""
    step: int | None = None
    """Of a graph, the last step that began."""
    cut: bool = False
    """Whether a model call was cancelled with what stood around it."""
    resumed: bool = False
    """Whether it goes on with a run that paused or failed: what a model wrote, it may have written then."""
    paused: bool = False
    """Whether a node asked and waits: no answer yet."""
    paused_at: str | None = None
    """The checkpoint at which a graph stopped, and"""
    resumed_at: str | None = None
    """the one from which it went on: another process may tell the other half."""

    def __init__(
        self,
        options: Options,
        writer: SpanWriter,
        context: Context,
        tags: CaseTags,
        identity: Identity | None,
        thread: str | None,
        asked: str | None,
        now: int,
        meter: Meter | None = None,
        peers: Peers | None = None,
    ) -> None:
        self.options = options
        self.writer = writer
        self.context = context
        self.tags = tags
        self.identity = identity
        self.thread = thread
        self.sought = thread is not None
        """Whether the conversation has been looked for inside the question too."""
        self.asked = asked
        self.touched = now
        """When it was last heard of."""
        self.meter = meter
        self.peers = peers
        self.lock = RLock()  # re-entrant: a collected generator may end its run in the midst of ours
        self.documents = Documents(options.policy)
        self.runs: dict[int, Run] = {}
        """Those that are open."""
        self.pending: list[Run | StageSpan] = []
        """What has ended and has no span yet."""
        self.links: list[Link] = []
        self.known = Known()
        self.texts: list[TextStep] = []
        self.made: list[Made] = []
        self.shares: list[Share] = []
        """Of calls that wait for the question's end."""
        self.attempts: dict[str, int] = {}
        self.failed: dict[str, Run] = {}
        """Nodes that failed, by task."""

    def abandon(self) -> None:
        """Of a parent process: another thread of it may hold the lock, and never gives it back here."""
        self.lock = RLock()
        self.recording = False

    def add_texts(self, steps: Sequence[TextStep]) -> None:
        """Remember texts that may reappear in a prompt; the oldest are forgotten."""
        self.texts += steps
        del self.texts[:-_TEXTS]

    def add_made(self, made: Made) -> None:
        """Remember what a model wrote; the oldest is forgotten."""
        self.made.append(made)
        del self.made[:-_MADE]
