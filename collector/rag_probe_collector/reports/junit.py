"""junit.xml: a test case per row, and one for the gate, so that any CI shows what stopped a release."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rag_probe_collector.gate import ReportJson
from rag_probe_collector.gate.report_json import GatedCase
from rag_probe_collector.register import visible
from rag_probe_collector.reports.words import broke, name


def junit(report: ReportJson) -> bytes:
    """Failed rows are failures, undecided and missing ones errors, pending ones skipped; each fails the gate."""
    rows, missing, passed = report["cases"], report["missing"], report["gate"] == "PASS"
    suite = Element("testsuite", name="rag-probe", tests=str(len(rows) + len(missing) + 1))
    suite.set("failures", str(report["counts"]["fail"] + (not passed)))
    suite.set("errors", str(report["counts"]["incomplete"] + len(missing)))
    suite.set("skipped", str(report["counts"]["pending"]))
    for row in rows:
        _case(suite, row)
    for each in missing:
        lost = SubElement(suite, "testcase", classname=visible(each["segment"]), name=visible(each["id"]))
        SubElement(lost, "error", type="missing", message="no result answers this case")
    gate = SubElement(suite, "testcase", classname="gate", name="gate")
    if not passed:
        SubElement(gate, "failure", type="gate", message=visible("; ".join(report["reasons"])))
    root = Element("testsuites")
    root.append(suite)
    indent(root)
    return tostring(root, encoding="utf-8", xml_declaration=True)


def _case(suite: Element, row: GatedCase) -> None:
    found = SubElement(suite, "testcase", classname=visible(row["segment"]), name=visible(name(row)))
    if row["latency_ms"] is not None:
        found.set("time", f"{row['latency_ms'] / 1000:.6f}")
    why = visible("; ".join([*row["why"], broke(row)]).strip("; "))
    match row["verdict"]:
        case "fail":
            SubElement(found, "failure", type=visible(row["broken_stage"]), message=why)
        case "incomplete":
            SubElement(found, "error", type="incomplete", message=why)
        case "pending":
            SubElement(found, "skipped", message=why)
        case "pass":
            pass
