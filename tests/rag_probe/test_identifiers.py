"""must-handle 9: whatever sits in an app's metadata becomes an id or nothing, and nothing raises."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from types import SimpleNamespace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe.identifiers import MAX_ID, identifier, identifier_of, identity_of
from rag_probe.measured import number, whole
from rag_probe.stages import Identity

Colour = Enum("Colour", {"RED": "red"})
Level = IntEnum("Level", {"LOW": 1})
KEYS = ("id", "doc_id")


class Array:
    """As numpy's and torch's: of several numbers none is one."""

    def __index__(self):
        raise TypeError

    def __float__(self):
        raise RuntimeError

    @property
    def id(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("doc-1", "doc-1"),
        (7, "7"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (date(2026, 8, 1), "2026-08-01"),
        (datetime(2026, 8, 1, tzinfo=UTC), "2026-08-01T00:00:00+00:00"),
        (Colour.RED, "red"),
        (Level.LOW, "1"),
        ("\ud800", "\ufffd"),
        ("", None),
        (None, None),
        (True, None),
        (1.5, None),
        (b"x", None),
        (("a", "b"), None),
        pytest.param(10**5000, None, id="more digits than Python prints"),
        (Array(), None),
    ],
)
def test_an_identifier(value, expected):
    assert identifier(value) == expected


@given(st.text())
def test_its_length_is_bounded_and_one_that_fits_is_not_changed(text):
    assert identifier(text[:MAX_ID]) == (text[:MAX_ID] or None)
    assert len(identifier(text * 100) or "") <= MAX_ID


def test_two_that_begin_alike_however_long_stay_two():
    """A signed address is soon too long; its passages must not become one."""
    address = "https://docs.example/" + "a" * 1_000_000
    assert len({identifier(f"{address}{end}") for end in ("", "1", "2", "\ud800")}) == 4
    assert identifier(f"{address}1") == identifier(f"{address}1")
    assert identifier(f"{address}1").startswith("https://docs.example/")


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("a", "a"),
        (SimpleNamespace(id="a", metadata={"id": "b"}), "a"),
        (SimpleNamespace(id=None, metadata={"doc_id": "c", "id": "b"}), "b"),
        (SimpleNamespace(metadata={"doc_id": 3}), "3"),
        ({"id": "a"}, "a"),
        ({"metadata": {"id": "b"}}, "b"),
        (SimpleNamespace(metadata="id"), None),
        (object(), None),
        (None, None),
        (Array(), None),
    ],
)
def test_the_id_of_a_passage(item, expected):
    assert identifier_of(item, KEYS) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, 0.5),
        (1, 1.0),
        (Decimal("0.25"), 0.25),
        (True, None),
        ("1", None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
        (Array(), None),
        (None, None),
    ],
)
def test_a_number(value, expected):
    assert number(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(0, 0), (7, 7), (-1, None), (True, None), (1.0, None), (2**63, None), (Array(), None)]
)
def test_a_whole_number(value, expected):
    assert whole(value) == expected


def test_an_identity_from_a_mapping():
    assert identity_of({"subject": 7, "tenant": "acme", "roles": ["admin", None]}) == Identity(
        subject="7", tenant="acme", roles=("admin",)
    )
    assert identity_of({"roles": "admin"}) == Identity(roles=("admin",))
    assert identity_of(None) is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("alice", "identity: expected an Identity or a mapping, found str"),
        ({"user": "alice"}, "identity: expected subject, tenant and roles, found 'user'"),
        ({"roles": 7}, "identity.roles: expected a list of texts, found int"),
    ],
)
def test_what_is_no_identity_is_named(value, message):
    with pytest.raises(ValueError, match=message):
        identity_of(value)


def test_the_fields_of_an_identity_are_looked_at_too():
    """A dataclass checks nothing: a hook may fill it with anything."""
    odd = Identity(subject=5, tenant=["x"], roles="ab")
    assert identity_of(odd) == Identity(subject="5", tenant=None, roles=("ab",))
