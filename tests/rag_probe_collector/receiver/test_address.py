"""Addresses as people write them, and which of them stay on this machine (contracts 8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe_collector.errors import InputError
from rag_probe_collector.receiver import Address


@given(st.sampled_from(["127.0.0.1", "localhost", "::1", "2001:db8::1", "collector.example"]), st.integers(0, 65535))
def test_writing_and_parsing_are_inverses(host, port):
    assert Address.parse(str(Address(host, port))) == Address(host, port)


@pytest.mark.parametrize(
    "text", ["", "4317", ":4317", "localhost", "localhost:", "h:x", "h:-1", "h:65536", "::1:4317", "[h]:1", "h:\u0661"]
)
def test_anything_else_is_one_line_with_an_example(text):
    with pytest.raises(InputError, match="expected"):
        Address.parse(text)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_is_told(host):
    assert Address(host, 1).is_loopback


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "localhost.example"])
def test_anything_else_may_be_reached_by_others(host):
    assert not Address(host, 1).is_loopback
