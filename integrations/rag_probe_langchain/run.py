"""One callback run while it is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from langchain_core.messages import BaseMessage
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span

from rag_probe.attributes import Value
from rag_probe.stages import Node
from rag_probe_langchain.trace_policy import NOT_HELD, Held

if TYPE_CHECKING:
    from rag_probe_langchain.fans import Fan
    from rag_probe_langchain.request import Request

Kind: TypeAlias = Literal["chain", "retriever", "model", "tool"]
Mark: TypeAlias = Literal["retrieval", "rerank", "filter", "permission", "context"]
Ids: TypeAlias = tuple[str, ...]


class Prompt(NamedTuple):
    """What a model was asked, and the last known set at that moment."""

    messages: Sequence[BaseMessage] | str
    last: Ids | None


class Call(NamedTuple):
    """What is called: of a model its operation and name, of a tool the id of the call."""

    operation: str
    model: str | None = None
    id: str | None = None
    more: bool = False
    """Whether a model is given more than the text of its prompt."""


class Inner(NamedTuple):
    """What a search inside a retrieval returned."""

    passages: Sequence[object]
    """Empty where the app told ids only."""
    ids: Ids
    scores: Sequence[float | None]
    """Of equal length, or empty."""
    started: int
    """When the step began in which it stands, directly below the retrieval; nanoseconds since the epoch."""


class Known:
    """The last known set: what the last retrieval or stage let through."""

    __slots__ = ("began", "joining", "last", "step")

    def __init__(self, last: Ids | None = None, joining: bool = False) -> None:
        self.last = last
        self.joining = joining
        """Whether `last` is a retrieval's and a further retrieval joins it."""
        self.step: object = None
        """The step of a graph whose nodes changed it last."""
        self.began: tuple[Ids | None, bool] = (last, joining)
        """What the nodes of that step, which run side by side, began with."""


class Run:
    """What is known of a run between its start and its end. Plumbing is this record and nothing more.

    Defaults stand on the class, and there are no slots: two thirds of all runs set only what `__init__` sets.
    """

    spanned: bool = False
    """Whether it gets a span whatever it returns."""
    raw_mark: Mark | None = None
    """The mark in its metadata, which it may have inherited."""
    mark: Mark | None = None
    """The stage that the app says this very run is."""
    is_retrieval: bool = False
    """A retriever's run, or a step that the app marked as a retrieval."""
    inside_mark: bool = False
    """Whether a run around it was marked as a stage: what happens in here is that stage's business."""
    agent: bool = False
    node: Node | None = None
    empty: bool = False
    """Of a node: whether it returned nothing."""
    trace_policy: object | None = None
    """Of a node, with content on: what LangGraph was told of its traces."""
    held: Held = NOT_HELD
    """Which of its own texts do not leave, with content on either."""
    links: Sequence[Link] = ()
    """To the interrupted or failed run of the same task that this one goes on with."""
    recovering: bool = False
    """Whether that one failed."""
    retriever: Run | None = None
    """The outermost retrieval around it."""
    call: Call | None = None
    """Of a model or a tool."""
    span: Span | None = None
    context: Context | None = None
    """For its children's spans."""
    theirs: Context | None = None
    """Holds the span that another instrumentation made for this run."""
    ended: int = 0
    """Nanoseconds since the epoch; 0 while it is open."""
    error: BaseException | None = None
    final: dict[str, Value] | None = None
    """What its span says at its end."""
    told: bool = False
    """Whether its span has said that when it started."""
    partial: bool = False
    """Whether it was ended from outside: by its root's end, or by whoever stopped reading its stream."""
    streamed: bool = False
    """Of a step: whether it told its input at its end, as streams do."""
    left: bool = False
    """Of a root: whether runs inside it were open at its end."""
    inner_end: int = 0
    """When the last stage inside it ended."""
    results: list[Ids] | None = None
    """What the stages recorded inside it let through, in the order in which they ended."""
    denied: set[str] | None = None
    """What the app said inside it that it dropped."""
    generated: bool = False
    """Whether a model was called inside it."""
    known: Known | None = None
    """Of a node: the last known set as its tasks see it."""
    fan: Fan | None = None
    """Of a graph: the tasks that were sent passages, until another node starts."""
    waits: bool = False
    """Of a model call: whether its span is written at its question's end only."""
    built: bool = False
    """Whether the app said inside it what context it built."""
    candidates: list[Inner] | None = None
    """Of a retrieval: what the searches inside it returned."""
    hits: list[Inner] | None = None
    """Of a retriever: what its store gave, where that is seen."""

    def __init__(
        self,
        key: int,
        kind: Kind,
        name: str,
        request: Request,
        parent: Run | None,
        started: int,
        inputs: object,
        metadata: Mapping[str, object],
    ) -> None:
        self.key = key
        self.kind: Kind = kind
        self.name = name
        self.request = request
        self.parent = parent
        self.started = started
        """Nanoseconds since the epoch."""
        self.inputs = inputs
        self.metadata = metadata
        if kind != "chain":
            self.spanned = True
            self.is_retrieval = kind == "retriever"
        if parent is not None and (parent.is_retrieval or parent.retriever is not None):
            self.retriever = parent.retriever or parent

    def shown(self) -> Run | None:
        """The nearest run that has a span: itself, or one around it."""
        run: Run | None = self
        while run is not None and not run.spanned:
            run = run.parent
        return run
