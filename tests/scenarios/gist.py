"""A path on a few lines: what the collector's assembly made of a question's spans."""

from __future__ import annotations

from typing import Any

from rag_probe.path import EvidencePath
from rag_probe.path_json import to_json
from tests.scenarios.recording import Recording, paths_of


def told(recording: Recording, *, parallel: bool = True, racing: bool = False) -> list[str]:
    """The whole span tree, and under it every path; `racing`: what ran side by side may have ended in any order."""
    tree = recording.tree(parallel=parallel)
    return [*tree, *(line for path in paths_of(recording.spans) for line in gist(path, racing=racing))]


def gist(path: EvidencePath, *, racing: bool = False) -> list[str]:
    """What was captured, a line for each part of it."""
    found: dict[str, Any] = to_json(path)  # pyright: ignore[reportAssignmentType]
    filtered = found.get("filtered")
    answer = found.get("answer") or {}
    facts = {
        "retrievals": [_ids(each.get("documents")) for each in found.get("retrievals") or ()],
        "retrieved": _ids(found.get("retrieved")),
        "kept": filtered and filtered["kept"],
        "dropped": filtered and [f"{each['id']} by {each['step']}" for each in filtered["dropped"]],
        "permissions": found.get("permissions") and [f"{e['decision']} {e['id']}" for e in found["permissions"]],
        "context": _ids(found.get("context")),
        "context_dropped": _ids(found.get("context_dropped")),
        "contexts": [each.get("context") for each in found.get("generations") or ()],
        "tokens": [each.get("input_tokens") for each in found.get("generations") or ()],
        "answer": [answer.get("outcome"), answer.get("generation")],
        "cited": _ids(found.get("citations")),
        "tools": [each["name"] for each in found.get("tools") or ()],
        "nodes": [_node(each) for each in found.get("nodes") or ()],
        "error": found.get("error"),
        "inferred": found["inferred"],
        "warnings": found["warnings"],
        "partial": found["partial"],
    }
    if racing:
        facts |= {name: sorted(facts[name]) for name in ("retrievals", "tools", "nodes")}
        facts["contexts"] = sorted(facts["contexts"], key=str)
        facts["retrieved"] = sorted((facts["retrieved"] or "").split())
    return ["path", *(f"  {name}: {value}" for name, value in facts.items() if value not in (None, [], False))]


def _ids(rows: Any) -> str | None:
    return None if rows is None else " ".join(row["id"] for row in rows) or "nothing"


def _node(node: Any) -> str:
    attempt = f" #{node['attempt']}" if node.get("attempt") else ""
    return f"{node['name']}@{node.get('step')}{attempt} {node.get('outcome')}"
