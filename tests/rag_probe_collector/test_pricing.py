"""Costs, against the price table itself (must-handle 12, 13)."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from genai_prices import Usage, calc_price
from hypothesis import given
from hypothesis import strategies as st

from rag_probe.stages import Generation
from rag_probe_collector.pricing import cost_usd

NOW = time.time_ns()
HOUR = datetime.fromtimestamp(NOW // 3_600_000_000_000 * 3600, tz=UTC)
MODELS = [
    ("gpt-4o-mini", "openai"),
    ("gpt-4o-mini-2024-07-18", "openai"),
    ("claude-sonnet-4-5", "anthropic"),
    ("gemini-2.5-flash", "gcp.gemini"),
    ("gemini-2.5-pro", "google"),
    ("gpt-4o-mini", None),
]
tokens = st.integers(0, 1_500_000)


@given(st.sampled_from(MODELS), tokens, tokens, tokens, tokens)
def test_it_is_what_the_table_says(model, plain, cached, written, output):
    name, provider = model
    total = plain + cached + written
    usage = Usage(
        input_tokens=total, output_tokens=output, cache_read_tokens=cached or None, cache_write_tokens=written or None
    )
    expected = float(calc_price(usage, name, provider_id=provider, genai_request_timestamp=HOUR).total_price)
    used = Generation(
        model=name,
        provider=provider,
        input_tokens=total,
        output_tokens=output,
        cached_tokens=cached,
        cache_write_tokens=written,
    )
    assert cost_usd(used, NOW) == pytest.approx(expected, rel=1e-12)


def test_cached_tokens_are_part_of_the_input():
    """17,903 of which 17,817 cached is 17,903."""
    used = Generation(
        model="gpt-4o-mini", provider="openai", input_tokens=17_903, output_tokens=0, cached_tokens=17_817
    )
    assert cost_usd(used, NOW) == pytest.approx((86 * 0.15 + 17_817 * 0.075) / 1e6)


def test_the_frameworks_cache_costs_nothing():
    assert cost_usd(Generation(cache_hit=True), NOW) == 0


@pytest.mark.parametrize(
    "unknown",
    [
        Generation(model="gpt-4o-mini", provider="openai"),
        Generation(model="gpt-4o-mini", provider="openai", input_tokens=5),
        Generation(model="gpt-4o-mini", provider="openai", output_tokens=5),
        Generation(provider="openai", input_tokens=5, output_tokens=5),
        Generation(model="scripted", provider="rag-probe", input_tokens=5, output_tokens=5),
        Generation(model="no-such-model", provider="openai", input_tokens=5, output_tokens=5),
        Generation(model="gpt-4o-mini", provider="openai", input_tokens=19, output_tokens=5, cached_tokens=39_000),
        Generation(model="gpt-4o-mini", provider="openai", input_tokens=-5, output_tokens=5),
    ],
)
def test_what_is_unknown_is_not_zero(unknown):
    assert cost_usd(unknown, NOW) is None


@given(st.integers(-(2**63), 2**64), st.text(max_size=20), st.text(max_size=20))
def test_whatever_is_recorded_it_does_not_raise(at, model, provider):
    cost_usd(Generation(model=model, provider=provider, input_tokens=1, output_tokens=1), at)
