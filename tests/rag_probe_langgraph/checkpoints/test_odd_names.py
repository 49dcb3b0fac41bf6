"""Threads and nodes may be called anything that LangGraph takes (issue C, Rebuild)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph

from rag_probe_collector.cli.main import main

from .stores import kept, read
from .test_turns import CONFIG, State, graph

THREADS = [7, "", "x" * 100_000, "a'b\"c%s", "a\nb", "\u202e\x1b[31m", True, 1.5, "a:b|c"]
NODES = ["look, then grade", "a, 1", "~x", " ", "__pregel_push, 0", "a/b", "é"]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.xdist_group("postgres")
def test_threads(kind, tmp_path, capsys):
    threads = [*THREADS, "a\0b"] if kind == "sqlite" else THREADS  # PostgreSQL's text holds no NUL
    with kept(kind, tmp_path) as store:
        for thread in threads:
            graph(store.saver).invoke({"question": "q"}, {"configurable": {"thread_id": thread}})
        paths = read(store)
        assert [path.thread_id for path in paths] == [str(thread) for thread in threads]
        assert {(path.answer.content.text, len(path.nodes), path.partial) for path in paths} == {("To q", 2, False)}
        for flags in ([], ["--json"], ["--resume", str(tmp_path / "paths.jsonl")]):
            with pytest.raises(SystemExit) as end:
                main(["paths", f"checkpoints:{store.location}", *flags])
            out = capsys.readouterr().out
            assert (end.value.code, "\0" in out, "\x1b" in out) == (0, False, False)
    written = [json.loads(line)["thread_id"] for line in (tmp_path / "paths.jsonl").read_text().splitlines()]
    assert written == [str(thread) for thread in threads]


@pytest.mark.parametrize("name", NODES)
def test_nodes(name, tmp_path):
    with kept("sqlite", tmp_path) as store:
        outer("a node", name, store.saver, keeps=None).invoke({"question": "q"}, CONFIG)
        (path,) = read(store)
    assert [step.stage.name for step in path.nodes] == ["a node", name]


@pytest.mark.parametrize("keeps", [None, True])
def test_a_subgraph_and_its_nodes(keeps, tmp_path):
    with kept("sqlite", tmp_path) as store:
        outer("in, side", "look, here", store.saver, keeps=keeps).invoke({"question": "q"}, CONFIG)
        (path,) = read(store)
    assert [step.stage.name for step in path.nodes] == ["in, side", "look, here"]


def outer(name: str, inside: str, saver: Any, keeps: bool | None) -> Any:
    inner, built = StateGraph(State), StateGraph(State)
    inner.add_node(inside, lambda state: {"answer": "Yes."})
    inner.add_edge(START, inside)
    built.add_node(name, inner.compile(checkpointer=keeps))
    built.add_edge(START, name)
    return built.compile(checkpointer=saver)


def test_a_task_that_nobody_can_name_stands_in_no_namespace(tmp_path):
    """The functional API: which task was called only its hash says."""
    with kept("sqlite", tmp_path) as store:

        @task(name="se, arch|x")
        def search(question: str) -> str:
            return f"To {question}"

        @entrypoint(checkpointer=store.saver)
        def flow(given: Any) -> str:
            return search(given["question"]).result()

        flow.invoke({"question": "q"}, CONFIG)
        (path,) = read(store)
    assert [step.stage.name for step in path.nodes] == ["flow", "unknown"]
    assert (path.nodes[1].stage.checkpoint_ns, path.answer.content.text) == (None, "To q")
