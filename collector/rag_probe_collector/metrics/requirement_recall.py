"""Checklist 90 to 95: facts with a whole usable group at a stage / facts that need passages."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.coverage import STAGES, StageName
from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.value import Metric, Value, missing, proportion


def _at(stage: StageName) -> Metric:
    def compute(facts: Facts) -> Value:
        verdicts = [coverage.covered[stage] for coverage in facts.coverage]
        if not verdicts:
            return missing("no fact of the case needs a passage")
        if None in verdicts:
            return missing(f"{stage} was not captured, or not what survived of a cut passage")
        return proportion(verdicts.count(True), len(verdicts), "")

    return Metric(
        name=f"requirement_recall@{stage}",
        denominator="requirements that the question does not supply (without requirements: gold passages)",
        compute=compute,
    )


METRICS: Final = tuple(_at(stage) for stage in STAGES)
