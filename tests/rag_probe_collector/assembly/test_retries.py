"""A loop and a retry are counted, a fan-out is not (issue C, retries needed)."""

from __future__ import annotations

from rag_probe.path import EvidencePath, Step
from rag_probe.stages import Node
from rag_probe_collector.assembly.retries import retries


def ran(*nodes: Node) -> dict[str, int]:
    return retries(EvidencePath(path_id="p", trace_id="t", nodes=tuple(Step(node) for node in nodes)))


def test_loops_and_attempts_are_counted_and_what_ran_side_by_side_is_not():
    loop = [Node(name="draft", step=2), Node(name="validate", step=3), Node(name="draft", step=4)]
    assert ran(*loop) == {"draft": 1}
    assert ran(Node(name="draft", step=2, attempt=3)) == {"draft": 2}
    assert ran(*[Node(name="grade", step=2, task_id=str(each)) for each in range(5)]) == {}


def test_a_node_of_two_subgraphs_is_not_one_node():
    assert ran(Node(name="b", step=1, checkpoint_ns="x:1|b:2"), Node(name="b", step=2, checkpoint_ns="y:1|b:3")) == {}


def test_what_is_still_to_run_is_no_retry():
    assert ran(Node(name="draft", step=2), Node(name="draft", step=4, outcome="pending")) == {}
    assert retries(EvidencePath(path_id="p", trace_id="t")) == {}
