"""What holds for every dialect (the registry's contract)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe import attributes
from rag_probe.stages import Root
from rag_probe_collector.dialects import DIALECTS, INTEREST, dialect_of
from rag_probe_collector.dialects.reading import Notes
from rag_probe_collector.otlp.span import Resource, Span

NAMES = [value for name, value in vars(attributes).items() if name.isupper()]
junk = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["retrieval", "chat", "invoke_workflow", "invoke_agent", "filter", "[]", "[{}]", '[{"parts":[1]}]', "{"]
    ),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(),
    st.lists(st.text(max_size=3), max_size=3).map(tuple),
    st.lists(st.integers(-3, 5), max_size=3).map(tuple),
)
spans = st.builds(
    Span,
    trace_id=st.just("0" * 31 + "1"),
    span_id=st.just("0" * 15 + "1"),
    parent_id=st.none(),
    name=st.text(max_size=5),
    start=st.integers(0, 2**64),
    end=st.integers(0, 2**64),
    failed=st.booleans(),
    local_parent=st.none(),
    scope=st.sampled_from(["rag_probe.langchain", "opentelemetry.instrumentation.genai.langchain", ""]),
    resource=st.just(Resource({})),
    attributes=st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), junk, max_size=8),
    links=st.just(()),
)


def test_names_are_unique_and_speakable():
    names = [dialect.name for dialect in DIALECTS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)


def test_the_registry_keeps_the_attributes_that_any_dialect_reads():
    for dialect in DIALECTS:
        assert dialect.interest.scopes or dialect.interest.marks
        assert set(dialect.interest.scopes) <= set(INTEREST.scopes)
        assert set(dialect.interest.marks) <= set(INTEREST.marks)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(span=spans)
def test_nothing_makes_a_dialect_raise(dialect, span):
    dialect.claims(span)
    dialect.read(span)
    assert isinstance(dialect.root(span), Root)
    assert isinstance(dialect.notes(span), Notes)
    assert all(dialect.source(graph) for graph in (True, False))


@given(spans)
def test_a_span_that_no_dialect_claims_has_none(span):
    claiming = [dialect for dialect in DIALECTS if dialect.claims(span)]
    assert dialect_of(span) is (claiming[0] if claiming and span.attributes else None)
