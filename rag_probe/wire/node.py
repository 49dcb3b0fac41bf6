"""A graph node's span as attributes."""

from __future__ import annotations

from operator import attrgetter
from typing import Final

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.stages import Node, NodeOutcome
from rag_probe.wire.columns import get, put_fields

NODE_OUTCOMES: Final[dict[str, NodeOutcome]] = {
    "ok": "ok",
    "no_write": "no_write",
    "interrupted": "interrupted",
    "answered": "answered",
    "error": "error",
    "recovered": "recovered",
    "pending": "pending",
}

_NAMES: Final = (
    a.NODE_STEP,
    a.NODE_TASK_ID,
    a.NODE_CHECKPOINT_ID,
    a.NODE_CHECKPOINT_NS,
    a.NODE_ATTEMPT,
    a.NODE_OUTCOME,
)
_VALUES: Final = attrgetter("step", "task_id", "checkpoint_id", "checkpoint_ns", "attempt", "outcome")


def encode_node(node: Node, outcome: NodeOutcome | None = None) -> dict[str, Value]:
    """`gen_ai.operation.name` follows the open proposal for graph nodes; an `outcome` is the node's, known since."""
    out: dict[str, Value] = {a.OPERATION: "invoke_node", a.NODE_NAME: node.name}
    put_fields(out, _NAMES, _VALUES(node))
    if outcome is not None:
        out[a.NODE_OUTCOME] = outcome
    return out


def decode_node(attributes: Attributes) -> Node | None:
    """The inverse of `encode_node`; None without a node's name."""
    name = get(attributes, a.NODE_NAME, str)
    if name is None:
        return None
    return Node(
        name=name,
        step=get(attributes, a.NODE_STEP, int),
        task_id=get(attributes, a.NODE_TASK_ID, str),
        checkpoint_id=get(attributes, a.NODE_CHECKPOINT_ID, str),
        checkpoint_ns=get(attributes, a.NODE_CHECKPOINT_NS, str),
        attempt=get(attributes, a.NODE_ATTEMPT, int),
        outcome=NODE_OUTCOMES.get(get(attributes, a.NODE_OUTCOME, str) or ""),
    )
