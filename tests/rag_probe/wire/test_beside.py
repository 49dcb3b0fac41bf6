"""Names of our own for what others count, and back (issue B: side by side, must-handle 11)."""

from __future__ import annotations

from hypothesis import given

from rag_probe import attributes as a
from rag_probe.wire import encode, encode_node, encode_root
from rag_probe.wire.beside import put_aside, put_back
from tests.rag_probe import strategies


def kept(name: str) -> bool:
    return not name.startswith("gen_ai.") or name == a.CONVERSATION_ID


@given(strategies.stages)
def test_a_stage_comes_back_and_says_nothing_that_others_count(stage):
    said = encode(stage)
    aside = put_aside(said)
    assert all(kept(name) for name in aside)
    assert put_back(aside) == said


@given(strategies.roots, strategies.nodes)
def test_a_root_and_a_node_come_back(root, node):
    for said in (encode_root(root, 200), encode_node(node)):
        assert all(kept(name) for name in put_aside(said))
        assert put_back(put_aside(said)) == said


def test_what_was_never_put_aside_stays():
    said = {a.STAGE: "retrieval", a.OPERATION: "retrieval", "rag.gen": 1}
    assert put_back(said) == said
