"""What a model call cost, by the price table of `genai-prices` as of the day of the call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from genai_prices import Usage, calc_price
from genai_prices.types import PriceCalculation, TieredPrices

from rag_probe.stages import Generation

_HOUR: Final = 3_600_000_000_000
_MILLION: Final = 1_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class _Tokens(NamedTuple):
    """As billed: `input` includes what was read from and written to the provider's cache."""

    input: int
    output: int
    cached: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class _Rates:
    """USD per token of each kind; a price table's look-up takes 100 µs, these take 1."""

    input: Decimal
    output: Decimal
    cached: Decimal
    written: Decimal

    def cost(self, tokens: _Tokens) -> Decimal:
        read = self.input * (tokens.input - tokens.cached - tokens.written) + self.cached * tokens.cached
        return read + self.written * tokens.written + self.output * tokens.output


def cost_usd(generation: Generation, at: int) -> float | None:
    """USD for one call at `at` (nanoseconds since the epoch); None when model, provider or usage is unknown.

    An answer from the framework's own cache costs nothing. Usage that contradicts itself (more cached than read) is
    unknown.
    """
    if generation.cache_hit:
        return 0.0
    model = generation.response_model or generation.model
    tokens = _billed(generation)
    if model is None or tokens is None:
        return None
    hour = at // _HOUR
    rates = _rates(model, generation.provider, hour)
    if isinstance(rates, _Rates):
        return float(rates.cost(tokens))
    price = _price(model, generation.provider, hour, tokens) if rates else None
    return None if price is None else float(price.total_price)


def _billed(generation: Generation) -> _Tokens | None:
    if generation.input_tokens is None or generation.output_tokens is None:
        return None
    cached, written = generation.cached_tokens or 0, generation.cache_write_tokens or 0
    tokens = _Tokens(generation.input_tokens, generation.output_tokens, cached, written)
    return tokens if min(tokens) >= 0 and cached + written <= tokens.input else None


@lru_cache(maxsize=4096)
def _rates(model: str, provider: str | None, hour: int) -> _Rates | bool:
    """Rates per token; True for a price that depends on the size of the request, False for one that is unknown."""
    probe = _price(model, provider, hour, _Tokens(_MILLION, 0))
    if probe is None:
        return False
    if any(isinstance(price, TieredPrices) for price in vars(probe.model_price).values()):
        return True
    others = [
        _price(model, provider, hour, tokens)
        for tokens in (_Tokens(0, _MILLION), _Tokens(_MILLION, 0, _MILLION), _Tokens(_MILLION, 0, 0, _MILLION))
    ]
    totals = [price.total_price / _MILLION for price in (probe, *others) if price is not None]
    return _Rates(*totals) if len(totals) == len(_Tokens._fields) else True


def _price(model: str, provider: str | None, hour: int, tokens: _Tokens) -> PriceCalculation | None:
    try:
        when = _EPOCH + timedelta(hours=hour)
        usage = Usage(
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cache_read_tokens=tokens.cached or None,
            cache_write_tokens=tokens.written or None,
        )
        return calc_price(usage, model, provider_id=provider, genai_request_timestamp=when)
    except (LookupError, ValueError, OverflowError):  # no such model, no such usage, no such time
        return None
