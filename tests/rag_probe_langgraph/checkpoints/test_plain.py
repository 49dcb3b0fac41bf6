"""Stored values are read as data: nothing that they name is imported, built or called (issue C)."""

from __future__ import annotations

import json
import pickle
import sys

import ormsgpack
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Interrupt, Send

from rag_probe_langgraph.checkpoints.built import Asked, Sent
from rag_probe_langgraph.checkpoints.plain import Reader
from rag_probe_langgraph.checkpoints.stored import Blob, Unreadable


def packed(code: int, *made_of: object) -> Blob:
    return Blob("msgpack", ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(made_of))))


class Bomb:
    def __reduce__(self):
        return exec, ("import builtins; builtins.rag_probe_bomb = True",)


CRAFTED = {
    "one argument": packed(0, "builtins", "exec", "import builtins; builtins.rag_probe_bomb = True"),
    "arguments": packed(1, "builtins", "exec", ["import builtins; builtins.rag_probe_bomb = True"]),
    "keywords": packed(2, "subprocess", "run", {"args": ["true"]}),
    "a method": packed(3, "antigravity", "geohash", "x", "__call__"),
    "pydantic": packed(5, "this", "That", {"a": 1}, "model_validate_json"),
    "pickle": Blob("pickle", pickle.dumps(Bomb())),
    "lc": Blob("json", json.dumps({"lc": 2, "type": "constructor", "id": ["this", "That"], "kwargs": {}}).encode()),
}


@pytest.mark.parametrize("blob", CRAFTED.values(), ids=CRAFTED.keys())
def test_a_crafted_value_does_nothing_and_is_told(blob):
    sys.modules.pop("this", None)
    reader = Reader()
    reader.read(blob)
    import builtins

    assert not hasattr(builtins, "rag_probe_bomb")
    assert "this" not in sys.modules
    assert "antigravity" not in sys.modules
    assert reader.held_back.total() == 1


def test_what_a_rag_app_stores_comes_back():
    passage = Document(id="a", page_content="x", metadata={"n": 1})
    call = AIMessage("hi", usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3})
    stored = {
        "passages": [passage],
        "talk": [HumanMessage("q"), call, ToolMessage("t", tool_call_id="1", artifact=[passage])],
        "next": [Send("node", {"n": 1})],
        "asked": [Interrupt(value="ok?", id="i")],
        "pair": (1, {2}),
    }
    reader = Reader()
    found = reader.read(Blob(*JsonPlusSerializer().dumps_typed(stored)))
    assert found == {
        **stored,
        "next": [Sent("node", {"n": 1})],
        "asked": [Asked("ok?", "i")],
        "pair": [1, [2]],
    }
    assert not reader.held_back


@pytest.mark.parametrize(
    ("blob", "why"),
    [
        (Blob("msgpack+aes", b"x"), "encrypted (aes)"),
        (Blob("pickle", b"x"), "stored as pickle"),
        (Blob("msgpack", b"\xc1"), "damaged value (msgpack)"),
        (Blob("json", b"{"), "damaged value (json)"),
        (Blob("msgpack", ormsgpack.packb(ormsgpack.Ext(5, b"\xc1"))), "damaged value (ValueError)"),
    ],
)
def test_what_cannot_be_read_says_why(blob, why):
    reader = Reader()
    assert reader.read(blob) == Unreadable(why)
    assert reader.held_back == {why: 1}
