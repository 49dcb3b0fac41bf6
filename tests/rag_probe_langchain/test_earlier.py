"""An answer that is refined rests on what its earlier versions were made of (issue B: what the answer rested on)."""

from __future__ import annotations

import pytest

from rag_probe.stages import ContextAssembly
from rag_probe_langchain.earlier import is_echo, reduced, with_earlier
from rag_probe_langchain.request import Made

DRAFT = "Thirty days, in the box."
OWN = ContextAssembly(
    ids=("c",), tokens=(5,), truncated=(False,), dropped=("a", "b", "d"), dropped_reasons=(None, "budget", "budget")
)


def test_what_stands_behind_an_earlier_text_comes_first_and_did_not_fall():
    found = with_earlier(OWN, f"Refine: {DRAFT} By this: …", [Made(f" {DRAFT}\n", ("a", "b", "c"), None)], 0)
    assert found == ContextAssembly(
        ids=("a", "b", "c"),
        tokens=(None, None, 5),
        truncated=(None, None, False),
        dropped=("d",),
        dropped_reasons=("budget",),
    )


@pytest.mark.parametrize(
    ("own", "made"),
    [
        (OWN, []),
        (OWN, [Made("another text that is not there", ("a",), None)]),
        (OWN, [Made("days", ("a",), None)]),  # short enough to stand there by chance
        (OWN, [Made(DRAFT, None, None)]),
        (OWN, [Made(DRAFT, ("c",), None)]),
        (ContextAssembly(ids=("a", "c")), [Made(DRAFT, ("b",), None)]),  # nothing is missing
        (ContextAssembly(dropped=("a",)), [Made(DRAFT, ("a",), None)]),  # a validator, which sees no passages
    ],
)
def test_all_else_is_the_prompts_own(own, made):
    assert with_earlier(own, f"Refine: {DRAFT}", made, 0) is None


SHORT = Made(" No.\n", ("a",), None, ended=5)


@pytest.mark.parametrize("prompt", ["An existing answer: No.\nRefine it.", "Is it?\n\nNo.\n\nRefine it.", "No."])
def test_a_short_text_is_a_message_or_the_end_of_a_line(prompt):
    assert with_earlier(OWN, prompt, [SHORT], 5).ids == ("a", "c")


@pytest.mark.parametrize(
    ("prompt", "made", "started"),
    [
        ("No. 5 is out of stock, say No. today", SHORT, 5),
        ("Answer: No.\n", SHORT, 4),  # it was not written yet
        ("Answer: No.\n", SHORT._replace(context=("a", "c")), 5),  # another call about the same
        ("Yes.\nNo.\n", SHORT._replace(echo=True), 5),  # a grader's choice
        ("Answer: \n", Made(" ", ("a",), None), 5),
    ],
)
def test_a_short_text_that_stands_there_by_chance_is_not_taken_for_a_draft(prompt, made, started):
    assert with_earlier(OWN, prompt, [made], started) is None


def test_a_short_text_is_an_echo_where_its_own_prompt_offered_it():
    assert is_echo("no", "Is it relevant?\nyes\nno", [])
    assert not is_echo("No.", "Is there any?", [])
    assert not is_echo("No.", "An existing answer: No.\n", [SHORT])
    assert not is_echo(DRAFT, f"\n{DRAFT}\n", [])
    assert not is_echo(" ", "\n \n", [])


def test_what_several_calls_made_of_their_shares_is_put_together():
    made = [Made(f"What the text {name} says.", (name,), None, ended=1) for name in "abc"]
    prompt = "\n\n".join(one.text for one in made)
    assert reduced(prompt, ("a", "b", "c"), made, 2) == ContextAssembly(ids=("a", "b", "c"))
    assert reduced(made[0].text, ("a", "b", "c"), made, 2) is None  # a check of one draft
    assert reduced(prompt, ("a", "b"), made, 2) is None  # of another search
    assert reduced(prompt, ("a", "b", "c"), [*made, made[0]._replace(context=("a", "b"))], 2) is None
    assert reduced(prompt, None, made, 2) is None
