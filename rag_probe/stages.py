"""The typed content of one RAG step: written by an app, read by the evaluator.

Lists are columns, not rows: `ids` and, beside it, one tuple per field, of equal length or empty
when the field is known for no item. That is their shape on the wire, and it costs an app one tuple
a field instead of one object a chunk. `None` means not captured, everywhere; it is never zero.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from rag_probe.values import value

Outcome: TypeAlias = Literal["answered", "partial", "clarification", "abstained", "error"]
Decision: TypeAlias = Literal["allow", "deny"]
NodeOutcome: TypeAlias = Literal["ok", "no_write", "interrupted", "answered", "error", "recovered", "pending"]
Range: TypeAlias = tuple[int, int]
"""Start and end (exclusive), in characters (code points)."""


@value
class Content:
    """A text that may have been held back: its length always, its digest with a key, itself with content on."""

    length: int | None = None
    """Characters (code points)."""
    digest: str | None = None
    text: str | None = None


@value
class Chunks:
    """Passages in the order in which a step returned them."""

    ids: tuple[str, ...] = ()
    scores: tuple[float | None, ...] = ()
    documents: tuple[str | None, ...] = ()
    """The source item that each passage belongs to."""
    revisions: tuple[str | None, ...] = ()
    tenants: tuple[str | None, ...] = ()
    id_rules: tuple[str | None, ...] = ()
    """Which rule gave each id: `id`, `metadata`, `source` (and offset), `content` (its hash), `position` (`#3`: none
    of the others applied, so that it means nothing beyond this question); empty when all are the Documents' own."""
    parents: tuple[str | None, ...] = ()
    """The passage that a transformed one was made from."""
    texts: tuple[str | None, ...] = ()
    ranks: tuple[int, ...] = ()
    """Ranks from 1 when they are not simply the positions; never on the wire."""
    count: int | None = None
    """How many there were, when the list was cut; else None."""

    @property
    def cut(self) -> bool:
        """Whether passages are missing from the end of the list."""
        return self.count is not None and self.count > len(self.ids)


@value
class Retrieval:
    """What was asked of a retriever and what it returned."""

    name: str | None = None
    query: Content | None = None
    top_k: int | None = None
    documents: Chunks | None = None
    candidates: Chunks | None = None
    """What it chose from: nested retrievals or a list the app told. On the wire, ids only."""
    reranked: Rerank | None = None
    """Ids and scores of the last reranking inside it; never on the wire, where that is a span under its own."""


@value
class Rerank:
    """A step that returned the passages it was given in another order or with other scores."""

    step: str | None = None
    ids: tuple[str, ...] = ()
    scores: tuple[float | None, ...] = ()
    count: int | None = None


@value
class Filtering:
    """A step that let some of its passages through. `kept == ()` is a recorded fact: nothing passed."""

    step: str | None = None
    kept: tuple[str, ...] | None = ()
    """None: only drops were told."""
    dropped: tuple[str, ...] = ()
    reasons: tuple[str | None, ...] = ()
    """Of `dropped`: short codes."""
    kept_count: int | None = None
    dropped_count: int | None = None


@value
class PermissionCheck:
    """Which passages this caller may see, and why not the others."""

    step: str | None = None
    ids: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    reasons: tuple[str | None, ...] = ()
    policy: str | None = None
    count: int | None = None


@value
class Budget:
    """Tokens that the context may take and takes, counted by the tokenizer named."""

    limit: int | None = None
    used: int | None = None
    tokenizer: str | None = None


@value
class ContextAssembly:
    """The passages found in a prompt, in prompt order. `ids == ()`: it is known that there were none."""

    step: str | None = None
    ids: tuple[str, ...] = ()
    tokens: tuple[int | None, ...] = ()
    truncated: tuple[bool | None, ...] = ()
    kept: tuple[tuple[Range, ...], ...] = ()
    """Per passage, the ranges of its own text that survived; `()` for one that is whole or unknown."""
    duplicate_of: tuple[str | None, ...] = ()
    """The id of the earlier passage that this one repeats."""
    dropped: tuple[str, ...] = ()
    dropped_reasons: tuple[str | None, ...] = ()
    budget: Budget | None = None
    tokenizer: str | None = None
    """What counted `tokens`, where that is not the budget's tokenizer."""
    count: int | None = None
    dropped_count: int | None = None


@value
class Generation:
    """One model call. Token counts as billed: `input_tokens` includes cached, `output_tokens` includes reasoning."""

    operation: str = "chat"
    role: str | None = None
    """What the call was for, when the app says so: `answer`, `rewrite`, `validate`, …"""
    model: str | None = None
    response_model: str | None = None
    provider: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    finish_reasons: tuple[str, ...] = ()
    cache_hit: bool | None = None
    """Whether the framework answered from its own cache, so that nothing was billed."""
    prompt: Content | None = None
    output: Content | None = None
    context: ContextAssembly | None = None


@value
class ToolCall:
    """One call of a tool."""

    name: str | None = None
    call_id: str | None = None


@value
class Node:
    """One task of a graph: a node's run at a step. An interrupted and resumed task keeps its `task_id`."""

    name: str
    step: int | None = None
    task_id: str | None = None
    checkpoint_id: str | None = None
    checkpoint_ns: str | None = None
    attempt: int | None = None
    outcome: NodeOutcome | None = None
    asked: Content | None = None
    """What it asked when it paused; from a checkpoint, never on the wire."""
    answered: Content | None = None
    """What somebody answered; as above."""


@value
class Citations:
    """The pointers that an answer makes, in answer order."""

    ids: tuple[str, ...] = ()
    markers: tuple[str | None, ...] = ()
    starts: tuple[int | None, ...] = ()
    ends: tuple[int | None, ...] = ()
    """Of the marker, in characters of the answer."""
    valid: tuple[bool | None, ...] = ()
    """Whether it points into the context that the model saw."""
    count: int | None = None


@value
class Answer:
    """What the question got. `outcome == "abstained"` may come with a friendly text."""

    outcome: Outcome | None = None
    content: Content | None = None
    confidence: float | None = None
    citations: Citations | None = None


@value
class Verdicts:
    """What validating steps said of drafts, in the order in which they did: a row for each, also of a loop."""

    passed: tuple[bool, ...] = ()
    """Whether the draft might go on."""
    nodes: tuple[str | None, ...] = ()
    """The node, or the step, that said it."""
    steps: tuple[int | None, ...] = ()
    """The graph's step."""
    lengths: tuple[int | None, ...] = ()
    """Of the draft that was judged, in characters."""
    digests: tuple[str | None, ...] = ()
    """Of the draft, by the rules of the answer's."""
    count: int | None = None


@value
class Identity:
    """On whose behalf a question was asked."""

    subject: str | None = None
    tenant: str | None = None
    roles: tuple[str, ...] = ()


@value
class CaseTags:
    """Which case of which experiment a run answers."""

    experiment: str | None = None
    case_id: str | None = None
    case_run: str | None = None
    """A random id per `case()` block: what belongs to one question."""
    repetition: int | None = None
    configuration: str | None = None
    dataset_version: str | None = None
    corpus_version: str | None = None


NO_TAGS: Final = CaseTags()


@value
class Root:
    """What the outermost span of one question says beside its own stage."""

    tags: CaseTags = NO_TAGS
    identity: Identity | None = None
    question: Content | None = None
    thread_id: str | None = None
    answer: Answer | None = None
    verdicts: Verdicts | None = None
    paused_at: str | None = None
    """The checkpoint at which a graph stopped for somebody's word."""
    resumed_at: str | None = None
    """The checkpoint from which it went on, which may be another process's."""
    resumed: bool | None = None
    """True: it went on with an earlier run, and from which checkpoint is not known."""


Stage: TypeAlias = Retrieval | Rerank | Filtering | PermissionCheck | ContextAssembly | Generation | ToolCall | Answer
