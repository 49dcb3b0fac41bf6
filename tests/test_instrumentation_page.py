"""docs/instrumentation.md: every Python block runs, in order, and shows what the page says (issue B)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.slow

PAGE: Final = Path(__file__).parents[1] / "docs" / "instrumentation.md"
_BLOCK: Final = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BEFORE: Final = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider as _Provider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
_exporter = InMemorySpanExporter()
_provider = _Provider()
_provider.add_span_processor(SimpleSpanProcessor(_exporter))
trace.set_tracer_provider(_provider)
"""
_BEHIND: Final = """
import json
from fastapi.testclient import TestClient
assert TestClient(app).post("/ask", params={"question": "How long is parental leave?"}).json()["answer"]
print(json.dumps([[span.name, dict(span.attributes)] for span in _exporter.get_finished_spans()]))
"""


@pytest.fixture(scope="module")
def spans(tmp_path_factory):
    """Names and attributes of all spans that the page's blocks made, in order."""
    program = tmp_path_factory.mktemp("page") / "page.py"
    program.write_text("\n".join([_BEFORE, *_BLOCK.findall(PAGE.read_text(encoding="utf-8")), _BEHIND]), "utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "RAG_PROBE_"))}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        env=kept,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def having(spans, name):
    return [attributes for each, attributes in spans if each == name]


def test_the_first_trace_reads_as_the_page_says(spans):
    assert {name for name, _ in spans[:4]} == {
        "invoke_workflow hr assistant",
        "retrieval",
        "rag.context as_text",
        "chat",
    }
    root = having(spans[:4], "invoke_workflow hr assistant")[0]
    assert root["rag.citation.valid"] == [True]
    assert "rag.question.text" not in root


def test_every_section_left_its_mark(spans):
    assert having(spans, "invoke_node draft")
    assert having(spans, "rag.permission for_acme")[0]["rag.permission.policy"] == "v7"
    assert having(spans, "rag.permission check")[0]["rag.permission.reasons"] == ["foreign_tenant"]
    assert having(spans, "rag.rerank best_first")
    assert having(spans, "rag.permission PermissionRetriever")[0]["rag.permission.reasons"] == ["foreign_tenant"]
    built = having(spans, "rag.context ContextBuilder")[0]
    assert (built["rag.context.budget.limit"], len(built["rag.context.ids"])) == (500, 2)
    roots = having(spans, "invoke_workflow hr assistant")
    assert [each["user.id"] for each in roots if "user.id" in each] == ["kim"]
    assert [each["rag.case.id"] for each in roots if "rag.case.id" in each] == ["leave-01"]
    texts = [each["rag.question.text"] for each in roots if "rag.question.text" in each]
    assert texts == ["How long is parental leave? I am [ssn]."]
    assert any(each.get("rag.answer.confidence") == 0.8 for _, each in spans)


def test_its_links_lead_somewhere():
    text = PAGE.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert (PAGE.parent / target).exists(), target
