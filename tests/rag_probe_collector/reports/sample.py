"""Reports to render: the worked suite, and one in which every text is an attack."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from rag_probe.path import Step, Verdict
from rag_probe.protocols import Selection, SourceOptions
from rag_probe.stages import CaseTags, Content, Generation, Node, Retrieval
from rag_probe_collector.gate import conclude
from rag_probe_collector.gate.evaluate import Request, evaluate
from rag_probe_collector.register import Thresholds, Waiver
from rag_probe_collector.scoring.case_json import case_json
from rag_probe_collector.sources.results import open_results
from tests.rag_probe_collector.gate.test_gate import ABOUT
from tests.rag_probe_collector.scoring.build import case, claim, claims, path, permissions, scored

WORKED = Path(__file__).parents[1] / "gate" / "worked"
EVIL = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> | x | `` ](javascript:x) {{7*7}} @all \x1b[2J\x00\u202e\n# x"
)


def worked():
    """The report and its paths, with nothing of this machine or moment in it."""
    request = Request(
        source="results:results.yaml",
        cases=WORKED / "cases.yaml",
        reviews=WORKED / "reviews.yaml",
        change="a smaller context",
    )
    source = open_results(str(WORKED / "results.yaml"), SourceOptions())
    report, paths = evaluate(request, source, Selection(), datetime(2030, 1, 31, 12, tzinfo=UTC))
    report["about"]["register"] = "cases.yaml"
    return report, paths


def hostile(evil=EVIL, *, with_content=True):
    """Ids, names, reasons, models, errors and texts are all `evil`."""
    labelled = replace(
        case(),
        id=evil,
        segment=evil,
        question=evil,
        notes=evil,
        tenant=evil,
        slices={evil: evil},
        allowed_ids=frozenset({"a"}),
        gold_ids=frozenset({"a"}),
        answerable=True,
    )
    found = path(
        "a",
        "a",
        "a",
        path_id=evil,
        trace_id=evil,
        text=evil,
        tags=CaseTags(case_id=evil, configuration=evil, experiment=evil),
        generations=(Step(Generation(model=evil)),),
        retrievals=(Step(Retrieval(name=evil, query=Content(text=evil)), error=evil),),
        permissions=permissions("a"),
        nodes=(Step(Node(name=evil, step=1)), Step(Node(name=evil, step=2, outcome="error"))),
        verdicts=(
            Verdict(True, evil, 1, Content(length=len(evil), digest=evil, text=evil), final=True),
            Verdict(False, evil, 2, Content(text=evil), final=False),
            Verdict(False),
        ),
        error=evil,
        warnings=(evil,),
        not_captured=(evil,),
        inferred=(evil,),
        latency_ms=3.0,
        stage_latency_ms=((evil, 1.0), ("generation", 2.0)),
        cost_usd=0.002,
    )
    found = replace(found, retrieved=replace(found.retrieved, ids=("a", f"{evil} 2")))
    review = replace(claims(claim(), rationale=evil, path_id=evil), case_id=evil, reviewer=evil)
    limits = Thresholds(exceptions=(Waiver(owner=evil, reason=evil, expires=date(2030, 1, 1), case_id=evil),))
    about = {**ABOUT, "source": evil, "register": evil, "experiment": evil, "change": evil, "warnings": [evil]}
    about |= {"trace_url": "https://jaeger.example/trace/{trace_id}?a=1&b='", "with_content": with_content}
    missing = [{"id": evil, "segment": evil, "answerable": False, "repetition": None}]
    row = case_json(scored(labelled, found, review), with_content=with_content)
    return conclude([row], missing, about, limits, None, date(2030, 1, 1)), (found,)
