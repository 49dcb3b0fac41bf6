"""Cut and written in another way at once: what survived is said exactly, never less, never more (checklist 83)."""

from __future__ import annotations

import html
import json
import textwrap

import markupsafe
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.prompts import PromptTemplate
from langchain_core.utils import mustache

from rag_probe_langchain.locating.escapes import escapes_in, unescaped
from rag_probe_langchain.locating.locate import locate

WAYS = {
    "as it is": str,
    "json": lambda text: json.dumps(text)[1:-1],
    "json in unicode": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "json in json": lambda text: json.dumps(json.dumps(text))[3:-3],
    "repr": lambda text: repr(text)[1:-1],
    "repr of a list": lambda text: repr([text])[2:-2],
    "html": html.escape,
    "html text": lambda text: html.escape(text, quote=False),
    "jinja": lambda text: str(markupsafe.escape(text)),
    "mustache": mustache._html_escape,
    "indented": lambda text: textwrap.indent(text, "    "),
    "wrapped": lambda text: textwrap.fill(text, 40),
    "on one line": lambda text: " ".join(text.split()),
    "quoted": lambda text: textwrap.indent(text, "> "),
    "quoted twice": lambda text: textwrap.indent(text, "> > "),
    "quoted, blank lines too": lambda text: "> " + text.replace("\n", "\n> "),
    "behind bars": lambda text: textwrap.indent(text, "| "),
    "commented": lambda text: textwrap.indent(text, "# "),
    "listed": lambda text: textwrap.indent(text, "  - "),
}
FIRST = (
    'Goods can be sent back within "thirty days" of delivery, unused & in their box.\n'
    "- Articles bought in the <sale> can be sent back within fourteen days only; it's final.\n"
    "Gift cards are never taken back, whatever the reason may be — größer als 5 € 🙂."
)
OTHER = (
    '# Staff\n\nStaff purchases are handled by the people team on the second floor; ask for "Kim" & don\'t wait.\n'
    "Nobody else can help you with it at all, not even those who have been here for long."
)
CUTS = {
    "whole": (str, ((0, len(FIRST)),)),
    "head": (lambda text: text[:120], ((0, 120),)),
    "tail": (lambda text: text[60:], ((60, len(FIRST)),)),
    "head and tail": (lambda text: text[:70] + " […] " + text[110:], ((0, 70), (110, len(FIRST)))),
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("way", WAYS)
def test_what_survived_is_said_exactly(cut, way):
    shorten, kept = CUTS[cut]
    prompt = f"Answer from:\n{WAYS[way](shorten(FIRST))}\n\n{WAYS[way](OTHER)}\n\nQuestion: why?"
    found = {one.index: one for one in locate(prompt, [FIRST, OTHER]).found}
    assert (found[0].kept, found[0].truncated) == (kept, cut != "whole")
    assert (found[1].kept, found[1].truncated) == (((0, len(OTHER)),), False)


@pytest.mark.parametrize("way", WAYS)
def test_one_that_is_not_there_is_not_found(way):
    prompt = f"Answer from:\n{WAYS[way](OTHER)}\n\nQuestion: why?"
    assert [one.index for one in locate(prompt, [FIRST, OTHER]).found] == [1]


@pytest.mark.parametrize("template_format", ["f-string", "jinja2", "mustache"])
def test_langchains_templates(template_format):
    pytest.importorskip("jinja2")
    opening, closing = ("{", "}") if template_format == "f-string" else ("{{", "}}")
    template = PromptTemplate.from_template(
        f"Context:\n  {opening}one{closing}\n  {opening}two{closing}\nWhy?", template_format=template_format
    )
    found = locate(template.format(one=FIRST[:120], two=OTHER), [FIRST, OTHER]).found
    assert [(one.index, one.kept) for one in found] == [(0, ((0, 120),)), (1, ((0, len(OTHER)),))]


def test_ways_may_be_mixed_in_one_prompt():
    prompt = f"{FIRST[:100]}\n\n{json.dumps({'page_content': OTHER[:129]})}"
    assert [(one.index, one.kept) for one in locate(prompt, [FIRST, OTHER]).found] == [
        (0, ((0, 100),)),
        (1, ((0, 129),)),
    ]


SIGNS = "\\ \\\\ &amp; a prompt in which every escape may have been used"


@given(st.text(), st.data())
def test_escapes_write_character_by_character_and_lead_back(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    for write in escapes_in(SIGNS):
        form = write(text)
        assert form == write(text[:start]) + write(text[start:end]) + write(text[end:])
        kept = len(write(text[:start])), len(write(text[:end]))
        assert unescaped(kept, text, write) == (start, end)
        inside = unescaped((kept[0] + 1, kept[1]), text, write)
        assert start <= inside[0] <= inside[1] <= max(end, inside[0])


pieces = st.lists(st.sampled_from(["sale", '"box"', "it's", "a & b", "<b>", "\n", "\n\n", "- one", "é", "🙂", "100%"]))


@given(pieces, pieces, st.sampled_from(sorted(WAYS)), st.integers(0, 60), st.integers(0, 60))
def test_nothing_is_said_to_be_kept_that_was_cut(one, two, way, head, tail):
    chunk = "The first rule of all of them is number 1: " + " ".join(one) + " and the last one is number 99, mind it."
    other = "Another passage altogether, about something else " + " ".join(two) + " with an end of its own."
    end = max(head, len(chunk) - tail)
    prompt = f"{WAYS[way](chunk[head:end])}\n\n{WAYS[way](other)}"
    for found in locate(prompt, [chunk, other]).found:
        if found.index == 0:
            for start, stop in found.kept:
                lost = "".join(chunk[start : max(start, head)].split()) + "".join(chunk[min(stop, end) : stop].split())
                assert set(lost) <= set("-#>|/*•"), (found.kept, head, end)
