"""docs/conventions.md lists every span and attribute, with the types that the code writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypothesis import given

from rag_probe import attributes
from rag_probe.wire import encode, encode_node, encode_root
from rag_probe.wire.descriptions import BY_HAND, SECTIONS
from rag_probe.wire.document import document
from rag_probe.wire.specimen import gaps, type_of, written
from tests.rag_probe import strategies

ROOT = Path(__file__).parents[3]
DESCRIBED = [row.name for section in SECTIONS for row in section.rows]
TYPES = {**written(), **BY_HAND}


def test_the_page_is_up_to_date():
    """`make docs` writes it."""
    printed = subprocess.run(
        [sys.executable, "-m", "rag_probe.wire.document"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    page = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    assert page == printed.stdout == document()


def test_every_name_is_described_once():
    names = [value for name, value in vars(attributes).items() if name.isupper()]
    assert sorted(DESCRIBED) == sorted(names)
    assert len(set(DESCRIBED)) == len(DESCRIBED)


def check(sent):
    for name, value in sent.items():
        assert name in DESCRIBED or name.removesuffix("_at") in gaps(TYPES)
        assert type_of(value) == TYPES[name]


@given(strategies.stages)
def test_every_attribute_that_a_stage_writes_is_listed_with_its_type(stage):
    check(encode(stage))
    check(encode(stage, cap=1))


@given(strategies.roots, strategies.nodes)
def test_every_attribute_that_a_root_and_a_node_write_is_listed_with_its_type(root, node):
    check(encode_root(root, cap=200))
    check(encode_node(node))
