"""Figures in words, the same in every report. What is not known is a dash, never a zero."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from rag_probe_collector.gate import ReportJson
from rag_probe_collector.gate.report_json import GatedCase, ShareJson
from rag_probe_collector.scoring.case_schema import VerdictJson

NONE: Final = "–"
_NODES: Final = 50
"""Nodes of a case that are named."""


def figure(value: float | None, digits: int = 2) -> str:
    """A share or a mean."""
    return NONE if value is None else f"{value:.{digits}f}"


def milliseconds(value: float | None) -> str:
    """A duration; three digits below ten, none above."""
    return NONE if value is None else f"{value:.2f} ms" if value < 10 else f"{value:,.0f} ms"


def dollars(value: float | None) -> str:
    """A cost in USD."""
    return NONE if value is None else f"${value:.6f}" if value < 0.01 else f"${value:,.4f}"


def count(value: int | None) -> str:
    """A number of things."""
    return NONE if value is None else f"{value:,}"


def share(value: ShareJson) -> str:
    """`3 of 5 (0.23–0.88)`: the count, and the interval that it proves."""
    if value["low"] is None or value["high"] is None:
        return f"{value['count']} of {value['n']}"
    return f"{value['count']} of {value['n']} ({value['low']:.2f}–{value['high']:.2f})"


def broke(case: GatedCase) -> str:
    """`context · span_truncated`, or nothing."""
    if case["broken_stage"] == "none":
        return ""
    return " · ".join(each for each in (case["broken_stage"], case["mechanism"]) if each)


def in_prompt(case: GatedCase) -> float | None:
    """What of the gated recall was left in the prompt: of facts with their spans, where the case has requirements."""
    if case["gated_by"] == "evidence_recall":
        return case["prompt_evidence_recall"]
    return case["metrics"]["requirement_recall@context"]["value"]


def wrong(case: GatedCase) -> list[str]:
    """The violations, and whatever else failed the case."""
    others = [each for each in case["why"] if case["verdict"] == "fail" and each not in case["violations"]]
    return [*case["violations"], *others]


def accused(case: GatedCase, violation: str) -> list[str]:
    """The passages that a violation is about, each once, in the order of the pipeline."""
    ids = (each for finding in case["findings"] if finding["finding"] == violation for each in finding["ids"])
    return list(dict.fromkeys(ids))


def again(case: GatedCase) -> str:
    """`2: draft 2`: how often nodes ran again; `at least` where not every attempt is stored."""
    found = case["retries"]
    if found is None:
        return NONE
    named = ", ".join(f"{node} {times}" for node, times in found["nodes"].items())
    least = "" if found["complete"] else "at least "
    return f"{least}{found['total']}{': ' if named else ''}{named}"


def route(case: GatedCase) -> str:
    """`retrieve → draft → validate (error)`: the nodes in their order, the first of many."""
    nodes = case["nodes"] or []
    names = [each["name"] + ("" if each["outcome"] in ("ok", None) else f" ({each['outcome']})") for each in nodes]
    more = [f"and {len(names) - _NODES} more"] if len(names) > _NODES else []
    return " → ".join([*names[:_NODES], *more])


def judged(verdict: VerdictJson) -> str:
    """`right`, `passed a bad draft`, `refused a good draft`, or that no review decides it."""
    if verdict["right"] is None:
        return "undecided"
    if verdict["right"]:
        return "right"
    return "passed a bad draft" if verdict["passed"] else "refused a good draft"


def name(case: GatedCase) -> str:
    """The case's id, with its repetition when there is one."""
    return case["id"] if case["repetition"] is None else f"{case['id']} #{case['repetition']}"


def headline(report: ReportJson) -> str:
    """The gate's word and why, in one line."""
    reasons = "; ".join(report["reasons"])
    return f"gate {report['gate']}" + (f": {reasons}" if reasons else "")


def tested(report: ReportJson) -> list[tuple[str, str]]:
    """What was run, on what: pairs of a label and what is known; what nobody told is left out."""
    about = report["about"]
    splits = ", ".join(f"{split} ({cases})" for split, cases in about["splits"].items())
    pairs = (
        ("experiment", about["experiment"]),
        ("configuration", ", ".join(about["configurations"])),
        ("model", ", ".join(about["models"])),
        ("dataset", about["dataset_version"]),
        ("corpus", about["corpus_version"]),
        ("split", splits),
        ("change", about["change"]),
        ("register", about["register"]),
        ("source", about["source"]),
        ("written", about["generated_at"]),
    )
    return [(label, value) for label, value in pairs if value]


def links(template: str | None, trace_id: str) -> str | None:
    """The address of a saved trace."""
    return template.replace("{trace_id}", quote(trace_id, safe="", errors="replace")) if template and trace_id else None
