"""Each report: parses, says where it broke first, and lets nothing hostile act (checklist 75 to 82)."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from rag_probe.path import Step, Verdict
from rag_probe.stages import CaseTags, Content, Node
from rag_probe_collector.gate import conclude
from rag_probe_collector.register import Thresholds
from rag_probe_collector.reports import dump, html, junit, markdown, paths_jsonl, print_report
from rag_probe_collector.reports.markdown import code
from rag_probe_collector.reports.strip import strip
from rag_probe_collector.scoring.case_json import case_json
from tests.rag_probe_collector.gate.test_gate import ABOUT
from tests.rag_probe_collector.reports.sample import EVIL, hostile, worked
from tests.rag_probe_collector.scoring.build import case, counts, path, scored

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """The page as a browser would take it apart."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.links, self.attributes, self.text = [], [], [], set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)


def page(report):
    found = Page()
    found.feed(html(report).decode())
    assert found.open == [], "every tag is closed"
    return found, " ".join(" ".join(found.text).split())


def test_the_page_says_where_each_case_broke():
    report, _ = worked()
    found, text = page(report)
    for words in ("gate FAIL", "citation · mis_cited", "windows", "a smaller context", "no certification", "2 of 3"):
        assert words in text
    assert "script" not in found.tags
    assert found.links == []


def test_nothing_hostile_acts_in_the_page():
    report, _ = hostile()
    found, text = page(report)
    assert not {"script", "img", "iframe", "link", "object"} & set(found.tags)
    assert not {name for name in found.attributes if name.startswith("on")}
    assert {link.split("/trace/")[0] for link in found.links} == {"https://jaeger.example"}
    assert "<script>alert(1)</script>" in text, "shown as text"
    assert "{{7*7}}" in text
    assert not {"\x1b", "\x00", "\u202e"} & set(text)


def test_nothing_hostile_acts_in_markdown():
    report, _ = hostile()
    text = markdown(report).decode()
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    found = Page()
    found.feed(page)
    assert not {"script", "img"} & set(found.tags)
    assert all(link.startswith("https://jaeger.example/") for link in found.links)
    assert found.tags.count("h1") == 1
    assert not {"\x1b", "\x00", "\u202e"} & set(text)
    assert "<script>alert(1)</script>" in "".join(found.text)


def test_every_table_row_of_markdown_has_all_its_cells():
    for report, _ in (worked(), hostile()):
        tokens = MarkdownIt("commonmark").enable("table").parse(markdown(report).decode())
        rows = [0]
        for token in tokens:
            rows[-1] += token.type in ("td_open", "th_open")
            if token.type == "tr_close":
                rows.append(0)
        assert "case" in markdown(report).decode()
        assert all(count > 1 for count in rows[:-1])


@given(st.text())
def test_a_code_span_shows_just_its_text(text):
    """Whatever it holds, it stays one cell of the table."""
    table = f"| a | b |\n|---|---|\n| {code(text)} | end |\n"
    tokens = MarkdownIt("commonmark").enable("table").parse(table)
    cells = [token.content for token in tokens if token.type == "inline"]
    assert len(cells) == 4
    assert cells[3] == "end"
    spans = [child for token in tokens if token.type == "inline" for child in token.children]
    assert {child.type for child in spans} <= {"text", "code_inline"}


@pytest.mark.parametrize("width", [40, 80, 160])
def test_nothing_hostile_acts_on_the_terminal(width):
    report, _ = hostile()
    out = io.StringIO()
    print_report(report, Console(file=out, width=width, force_terminal=False))
    assert not {"\x1b", "\x00", "\u202e"} & set(out.getvalue())
    assert "gate FAIL" in out.getvalue()


def test_the_terminal_says_where_each_case_broke():
    report, _ = worked()
    out = io.StringIO()
    print_report(report, Console(file=out, width=120))
    text = out.getvalue()
    assert "citation · mis_cited" in text
    assert "generation · unsupported_claim" in text
    assert "gate FAIL: 2 failed" in text
    assert max(map(len, text.splitlines())) <= 120


def test_the_terminal_names_the_passages_and_how_to_review():
    report, _ = worked()
    out = io.StringIO()
    first = report["cases"][0]
    leaks = [
        {"finding": "scope_leak", "stage": stage, "ids": ids, "reason": None, "inferred": False}
        for stage, ids in (("retrieved", ["b", "c", "d", "x" * 99]), ("context", ["b"]))
    ]
    first.update(violations=["scope_leak", "review_pending"], findings=leaks)
    print_report(report, Console(file=out, width=80))
    text = out.getvalue()
    assert "scope_leak b c d and 1 more" in " ".join(text.split())
    (line,) = [each for each in text.splitlines() if each.startswith("{")]  # whole, to be copied from 80 columns too
    assert f'"case_id": "{first["id"]}", "path_id": "{first["path_id"]}", "total_claims": N,' in line
    assert line.endswith('"reviewer": NAME}')


def test_junit_counts_what_it_holds():
    for report, _ in (worked(), hostile()):
        suite = ElementTree.fromstring(junit(report)).find("testsuite")
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(attribute)) == len(suite.findall(f"testcase/{tag}"))
        assert int(suite.get("tests")) == len(suite.findall("testcase"))
        assert suite.find("testcase[@name='gate']/failure") is not None


def test_texts_stay_out_of_the_paths_unless_asked_for():
    """Checklist 76."""
    _, paths = hostile()
    (line,) = paths_jsonl(paths, with_content=False).splitlines()
    found = json.loads(line)
    assert not {"question", "text"} & found.keys()
    assert "text" not in found["answer"]
    assert "query" not in found["retrievals"][0]
    assert found["answer"]["length"] == len(EVIL)
    assert json.loads(paths_jsonl(paths, with_content=True))["answer"]["text"] == EVIL


def test_json_survives_surrogates_nan_and_large_numbers():
    value = {"a": "x\ud800y", "b": [float("nan"), 2**70], "c": (1.5, None, True)}
    assert json.loads(dump(value)) == {"a": "x?y", "b": [None, 2**70], "c": [1.5, None, True]}
    report, _ = hostile("\ud800 evil")
    for render in (html, markdown, junit, dump):
        render(report).decode("utf-8")


def test_the_strip_marks_the_broken_step_and_what_follows():
    report, _ = worked()
    steps = {step.name: (step.state, step.size) for step in strip(report["cases"][0])}
    assert steps == {
        "retrieval": ("ok", 3),
        "filter": ("absent", None),
        "permission": ("absent", None),
        "context": ("ok", 3),
        "answer": ("ok", None),
        "citation": ("broken", 1),
    }
    assert [step.state for step in strip(report["cases"][1])][-2:] == ["broken", "after"]


def graphs():
    """A report of two cases: one whose validation was wrong, and one of a store that knows no attempts."""
    nodes = tuple(Step(Node(name=name, step=at, outcome="ok")) for at, name in enumerate(["draft", "check"] * 2, 1))
    verdicts = (
        Verdict(False, "check", 2, Content(length=1234)),
        Verdict(True, "check", 4, Content(length=3), final=True),
    )
    told = path("a", "a", "a", nodes=nodes, verdicts=verdicts)
    stored = path("a", "a", "a", nodes=nodes[:2], not_captured=("nodes.attempt",))
    rows = [
        case_json(scored(case("a", "a"), told, counts(0, 1))),
        case_json(scored(replace(case("a", "a"), id="p"), replace(stored, tags=CaseTags(case_id="p")))),
    ]
    return conclude(rows, [], ABOUT, Thresholds(), None, date(2030, 1, 1))


def test_nodes_retries_and_verdicts_are_told():
    """Issue C: retries needed, and validation apart."""
    report = graphs()
    _, text = page(report)
    lines = markdown(report).decode()
    for words in (
        "draft → check → draft → check",
        "2: draft 1, check 1",
        "at least 0",
        "passed a bad draft",
        "undecided",
    ):
        assert words in text, words
        assert words in lines, words
    assert "1,234 characters" in text
    assert "| `q` | `check` | 4 | passed | 3 characters | passed a bad draft |" in lines
    assert report["shares"]["verdicts_right"]["count"] == 0
    assert report["shares"]["verdicts_right"]["n"] == 1


def test_reports_of_no_graph_have_no_tables_of_graphs():
    report, _ = worked()
    assert "What validations said" not in markdown(report).decode()
    assert "Graphs" not in markdown(report).decode()
