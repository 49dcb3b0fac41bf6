"""Whatever stands in whatever field of whatever file: it is read, or refused in one line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe.protocols import SourceOptions
from rag_probe_collector.errors import InputError
from rag_probe_collector.register import load_cases, load_corpus, load_reviews, load_thresholds
from rag_probe_collector.sources.results import open_results
from tests.rag_probe_collector.register.files import CASE, LIMITS, RESULT, REVIEW

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda each: st.lists(each) | st.dictionaries(st.text(), each),
    max_leaves=8,
)
FILES = {
    "cases": (load_cases, [CASE], [*CASE, "requirements", "slices", "identity", "expected_route", "allowed", "accept"]),
    "corpus": (load_corpus, [{"id": "a"}], ["id", "status", "revision", "text", "digest"]),
    "reviews": (load_reviews, [REVIEW], [*REVIEW, "claims", "evidence_version", "reviewed_at"]),
    "results": (lambda file: open_results(str(file), SourceOptions()), [RESULT], [*RESULT, "outcome", "repetition"]),
    "thresholds": (load_thresholds, LIMITS, [*LIMITS, "minimum_recall", "metrics", "blockers", "exceptions"]),
}


@pytest.mark.parametrize(("load", "content", "fields"), FILES.values(), ids=FILES.keys())
@given(data=st.data())
def test_it_is_read_or_refused_in_one_line(tmp_path_factory, load, content, fields, data):
    file = tmp_path_factory.getbasetemp() / "any.json"
    changed = {data.draw(st.sampled_from(fields)): data.draw(anything)}
    value = [{**content[0], **changed}] if isinstance(content, list) else {**content, **changed}
    file.write_text(json.dumps(value), encoding="utf-8")
    try:
        load(file)
    except InputError as error:
        message = str(error)
    else:
        message = ""
    assert message.isprintable()
