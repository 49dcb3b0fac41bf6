"""An answer that is refined rests on what its earlier versions were made of (issue B: what the answer rested on)."""

from __future__ import annotations

import pytest

from rag_probe.stages import ContextAssembly
from rag_probe_langchain.earlier import with_earlier
from rag_probe_langchain.request import Made

DRAFT = "Thirty days, in the box."
OWN = ContextAssembly(
    ids=("c",), tokens=(5,), truncated=(False,), dropped=("a", "b", "d"), dropped_reasons=(None, "budget", "budget")
)


def test_what_stands_behind_an_earlier_text_comes_first_and_did_not_fall():
    found = with_earlier(OWN, f"Refine: {DRAFT} By this: …", [Made(f" {DRAFT}\n", ("a", "b", "c"), None)])
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
    assert with_earlier(own, f"Refine: {DRAFT}", made) is None
