"""The evidence path: the ordered stages of one question, whatever they were rebuilt from (contracts 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from rag_probe.stages import (
    Answer,
    Budget,
    CaseTags,
    Chunks,
    Citations,
    Content,
    ContextAssembly,
    Decision,
    Generation,
    Identity,
    Node,
    Retrieval,
    ToolCall,
)
from rag_probe.values import value

S = TypeVar("S")

Origin: TypeAlias = Literal["checkpoint", "trace"]
LATER_BRANCH: Final = "a later branch of this turn exists: the graph was taken back to an earlier checkpoint"
"""The warning of a path that is no result of its case any more: the later branch is."""


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """One stage as it ran."""

    stage: S
    latency_ms: float | None = None
    error: str | None = None
    """The exception's type."""
    cost_usd: float | None = None
    """Of a generation: None when the model or its usage is unknown."""


class Ranked(NamedTuple):
    """A passage as a reranker placed it; `rank` from 1."""

    id: str
    rank: int
    score: float | None = None


class Drop(NamedTuple):
    """A passage that a filter let fall."""

    id: str
    reason: str | None = None
    step: str | None = None


class Permission(NamedTuple):
    """One decision about one passage."""

    id: str
    decision: Decision
    reason: str | None = None
    policy: str | None = None


class Verdict(NamedTuple):
    """What a validating step said of the draft that it read, which need not be the answer."""

    passed: bool
    """Whether the draft might go on."""
    node: str | None = None
    """The node or step that said it."""
    step: int | None = None
    """The graph's step."""
    draft: Content | None = None
    """None: nobody knows which draft it was."""
    final: bool | None = None
    """Whether that draft came out as the answer, where the source compared the texts themselves."""


@value
class Filtered:
    """What the last filter kept, and what all of them dropped. `kept == ()` is a fact, not a gap; None is one."""

    kept: tuple[str, ...] | None = ()
    dropped: tuple[Drop, ...] = ()


@value
class EvidencePath:
    """What was asked, retrieved, filtered, permitted, put into the prompt, answered and cited.

    `None` (and a name in `not_captured`) means that nobody recorded it; an empty tuple means that it is
    known to be empty. Times in milliseconds, instants in nanoseconds since the epoch, costs in USD.
    """

    path_id: str
    trace_id: str
    trace_ids: tuple[str, ...] = ()
    thread_id: str | None = None
    service: str | None = None
    source: str = "langchain"
    """`langchain`, `langgraph`, `checkpoint`, `result` or the name of a dialect."""
    started_at: int | None = None
    tags: CaseTags = field(default_factory=CaseTags)
    identity: Identity | None = None
    question: Content | None = None
    retrievals: tuple[Step[Retrieval], ...] | None = None
    retrieved: Chunks | None = None
    """The union of what the outermost retrievals returned, in first-seen order."""
    reranked: tuple[Ranked, ...] | None = None
    filtered: Filtered | None = None
    permissions: tuple[Permission, ...] | None = None
    context: ContextAssembly | None = None
    """Of the generation that produced the answer."""
    budget: Budget | None = None
    answer: Answer | None = None
    answer_generation: int | None = None
    """The index in `generations` of the one that produced the answer."""
    citations: Citations | None = None
    generations: tuple[Step[Generation], ...] | None = None
    tools: tuple[Step[ToolCall], ...] | None = None
    nodes: tuple[Step[Node], ...] | None = None
    verdicts: tuple[Verdict, ...] | None = None
    """In the order given, one for each pass of a loop. None, which is no gap of its own: most apps validate nothing."""
    latency_ms: float | None = None
    stage_latency_ms: tuple[tuple[str, float], ...] = ()
    """Total per kind of stage, in the order of first start; `node:<name>` for graph nodes."""
    cost_usd: float | None = None
    error: str | None = None
    inferred: tuple[str, ...] = ()
    not_captured: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    partial: bool = False
    joined: tuple[tuple[str, Origin], ...] = ()
    """Of a path put together from two sources: where each field came from. `nodes.latency_ms` goes before `nodes`."""
