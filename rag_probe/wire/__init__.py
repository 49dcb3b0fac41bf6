"""Stages as span attributes and back: `encode` and `decode` are inverses."""

from __future__ import annotations

from typing import Final, assert_never

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.stages import (
    Answer,
    ContextAssembly,
    Filtering,
    Generation,
    PermissionCheck,
    Rerank,
    Retrieval,
    Stage,
    ToolCall,
)
from rag_probe.wire.answer import decode_answer, encode_answer
from rag_probe.wire.context import decode_context, encode_context
from rag_probe.wire.decisions import decode_filtering, decode_permission, encode_filtering, encode_permission
from rag_probe.wire.generation import decode_generation, decode_tool, encode_generation, encode_tool
from rag_probe.wire.node import decode_node, encode_node
from rag_probe.wire.retrieval import decode_rerank, decode_retrieval, encode_rerank, encode_retrieval
from rag_probe.wire.root import decode_root, decode_tags, encode_root, encode_tags

__all__ = [
    "CAP",
    "decode",
    "decode_node",
    "decode_root",
    "decode_tags",
    "encode",
    "encode_node",
    "encode_root",
    "encode_tags",
]

CAP: Final = 200
"""Longest list that is written; a longer one is cut and its count tells the truth."""


def encode(stage: Stage, cap: int = CAP) -> dict[str, Value]:
    """The attributes of a stage, key ones first."""
    match stage:
        case Retrieval():
            return encode_retrieval(stage, cap)
        case Rerank():
            return encode_rerank(stage, cap)
        case Filtering():
            return encode_filtering(stage, cap)
        case PermissionCheck():
            return encode_permission(stage, cap)
        case ContextAssembly():
            return encode_context(stage, cap)
        case Generation():
            return encode_generation(stage, cap)
        case ToolCall():
            return encode_tool(stage, cap)
        case Answer():
            return encode_answer(stage, cap)
        case _:
            assert_never(stage)


_DECODERS: Final = {
    "retrieval": decode_retrieval,
    "rerank": decode_rerank,
    "filter": decode_filtering,
    "permission": decode_permission,
    "context": decode_context,
    "generation": decode_generation,
    "tool": decode_tool,
    "answer": decode_answer,
}


def decode(attributes: Attributes) -> Stage | None:
    """The stage that `rag.stage` names; None when it names none or its key list was not captured. Never raises."""
    name = attributes.get(a.STAGE)
    decoder = _DECODERS.get(name) if isinstance(name, str) else None
    return decoder(attributes) if decoder is not None else None
