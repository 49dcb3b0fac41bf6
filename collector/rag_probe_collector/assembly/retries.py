"""How often a node had to run again."""

from __future__ import annotations

from rag_probe.path import EvidencePath


def retries(path: EvidencePath) -> dict[str, int]:
    """By node: later steps in which it ran, and further attempts at one task. What ran side by side is no retry."""
    found: dict[str, int] = {}
    seen: dict[tuple[str, str], set[int | None]] = {}
    for step in path.nodes or ():
        node = step.stage
        steps = seen.setdefault((node.name, (node.checkpoint_ns or "").rpartition("|")[0]), set())
        again = bool(steps) and node.step not in steps and node.outcome != "pending"
        steps.add(node.step)
        more = int(again) + max(0, (node.attempt or 1) - 1)
        if more:
            found[node.name] = found.get(node.name, 0) + more
    return found
