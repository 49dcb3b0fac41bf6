"""Selection options as typed (contracts 6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe.protocols import Selection
from rag_probe_collector.cli.selection import instant, selection
from rag_probe_collector.errors import InputError

NOW = 1_790_000_000_000_000_000
SECOND = 1_000_000_000


def test_nothing_given_means_everything():
    assert selection() == Selection()


def test_all_of_them():
    chosen = selection(
        service="app",
        since="2h",
        until="2026-09-21T14:13:20Z",
        trace=["ABCDEF" + "0" * 26],
        attribute=["rag.case.id=a=b", "x="],
        limit=3,
        now=NOW,
    )
    assert chosen == Selection(
        service="app",
        since=NOW - 7200 * SECOND,
        until=NOW,
        traces=("abcdef" + "0" * 26,),
        attributes={"rag.case.id": "a=b", "x": ""},
        limit=3,
    )


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("90m", 5400), ("2h", 7200), ("7d", 604800), ("1d12h", 129600), ("1h1m1s", 3661)]
)
def test_durations(text, seconds):
    assert instant("--since", text, NOW) == NOW - seconds * SECOND


@pytest.mark.parametrize(
    "text",
    ["2026-09-21T14:13:20Z", "2026-09-21T16:13:20+02:00", "2026-09-21 14:13:20", "2026-09-21T14:13:20.000000+00:00"],
)
def test_times(text):
    assert instant("--since", text, 0) == NOW


@given(st.text(max_size=25))
def test_anything_else_is_one_line_that_names_the_option(text):
    try:
        assert isinstance(instant("--until", text, NOW), int)
    except InputError as error:
        said = str(error)
    else:
        return
    assert said.startswith("--until ")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"trace": ["abc"]}, "--trace 'abc': expected 32 hexadecimal digits"),
        ({"attribute": ["rag.case.id"]}, "--attribute 'rag.case.id': expected KEY=VALUE"),
        ({"attribute": ["=x"]}, "expected KEY=VALUE"),
        ({"since": ""}, "--since '': expected a time"),
    ],
)
def test_refusals(options, says):
    with pytest.raises(InputError) as error:
        selection(**options)
    assert says in str(error.value)
