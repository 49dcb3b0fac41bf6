"""A graph node's span as attributes."""

from __future__ import annotations

from typing import Final

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.stages import Node, NodeOutcome
from rag_probe.wire.columns import get, put_known

NODE_OUTCOMES: Final[dict[str, NodeOutcome]] = {
    "ok": "ok",
    "no_write": "no_write",
    "interrupted": "interrupted",
    "answered": "answered",
    "error": "error",
    "recovered": "recovered",
    "pending": "pending",
}


def encode_node(node: Node) -> dict[str, Value]:
    """`gen_ai.operation.name` follows the open proposal for graph nodes."""
    out: dict[str, Value] = {a.OPERATION: "invoke_node", a.NODE_NAME: node.name}
    put_known(
        out,
        (a.NODE_STEP, node.step),
        (a.NODE_TASK_ID, node.task_id),
        (a.NODE_CHECKPOINT_ID, node.checkpoint_id),
        (a.NODE_CHECKPOINT_NS, node.checkpoint_ns),
        (a.NODE_ATTEMPT, node.attempt),
        (a.NODE_OUTCOME, node.outcome),
    )
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
