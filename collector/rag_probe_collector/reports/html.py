"""report.html: one page that needs nothing but itself: no script, no font, no picture from anywhere."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, Template

from rag_probe_collector.gate import ReportJson
from rag_probe_collector.register import visible
from rag_probe_collector.reports import words
from rag_probe_collector.reports.strip import strip


def html(report: ReportJson) -> bytes:
    """The page in UTF-8; everything that came from outside is escaped."""
    helpers = {
        "again": words.again,
        "broke": words.broke,
        "in_prompt": words.in_prompt,
        "judged": words.judged,
        "links": words.links,
        "name": words.name,
        "route": words.route,
        "strip": strip,
        "tested": words.tested,
    }
    return _template().render(report=report, **helpers).encode("utf-8", "replace")


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_shown)
    environment.filters.update(
        figure=words.figure,
        milliseconds=words.milliseconds,
        dollars=words.dollars,
        count=words.count,
        share=words.share,
    )
    text = files("rag_probe_collector.reports").joinpath("report.html.j2").read_text(encoding="utf-8")
    return environment.from_string(text)


def _shown(value: object) -> object:
    """Controls and bidi marks of plain text become visible; what is already HTML stays."""
    return visible(value) if type(value) is str else value
