"""Whether a path has one ranking to be judged at all."""

from __future__ import annotations

from rag_probe_collector.metrics.facts import Facts

Ranking = tuple[str, ...]


def one_ranking(facts: Facts) -> Ranking | str:
    """The passages in the order returned, or why there is no such order."""
    ranking = facts.shown.ranking
    if ranking is None:
        return "retrieved was not captured"
    if len(facts.path.retrievals or ()) > 1:
        return "several retrievals make no one ranking"
    if not facts.labels.useful:
        return "no passage is labelled as evidence"
    return ranking
