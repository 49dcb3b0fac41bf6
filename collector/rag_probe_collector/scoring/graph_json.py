"""What a graph did, in the row of a case: its nodes, how often they ran again, and what its validations said."""

from __future__ import annotations

from rag_probe.path import Step, Verdict
from rag_probe.stages import Node
from rag_probe_collector.assembly.retries import retries
from rag_probe_collector.scoring.case_schema import GraphJson, NodeJson, RetriesJson, VerdictJson
from rag_probe_collector.scoring.scored import ScoredCase


def graph_json(scored: ScoredCase, *, with_content: bool) -> GraphJson:
    """Null where nobody recorded nodes, or validations."""
    nodes, verdicts = scored.path.nodes, scored.path.verdicts
    return {
        "nodes": None if nodes is None else [_node(step) for step in nodes],
        "retries": None if nodes is None else _retries(scored),
        "verdicts": None
        if verdicts is None
        else [_verdict(*each, with_content=with_content) for each in zip(verdicts, scored.drafts, strict=True)],
    }


def _node(step: Step[Node]) -> NodeJson:
    node = step.stage
    return {"name": node.name, "step": node.step, "outcome": node.outcome, "attempt": node.attempt}


def _retries(scored: ScoredCase) -> RetriesJson:
    found = retries(scored.path)
    return {
        "total": sum(found.values()),
        "nodes": found,
        "complete": "nodes.attempt" not in scored.path.not_captured,
    }


def _verdict(verdict: Verdict, good: bool | None, *, with_content: bool) -> VerdictJson:
    draft = verdict.draft
    return {
        "node": verdict.node,
        "step": verdict.step,
        "passed": verdict.passed,
        "draft_digest": None if draft is None else draft.digest,
        "draft_length": None if draft is None else draft.length,
        "draft": draft.text if draft is not None and with_content else None,
        "good": good,
        "right": None if good is None else good is verdict.passed,
    }
