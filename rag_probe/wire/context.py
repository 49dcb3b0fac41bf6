"""ContextAssembly as attributes: on the span of the model call whose prompt it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.stages import Budget, ContextAssembly, Range
from rag_probe.wellformed import well_formed
from rag_probe.wire.columns import (
    are_counts,
    are_short,
    get,
    get_column,
    get_count,
    get_ids,
    get_list,
    put_columns,
    put_count,
    put_known,
)

_SELDOM: Final[Callable[[ContextAssembly], tuple[object, ...]]] = attrgetter(
    "kept", "duplicate_of", "dropped", "dropped_reasons", "tokenizer", "count", "dropped_count"
)
_UNKNOWN: Final = _SELDOM(ContextAssembly())


def encode_context(stage: ContextAssembly, cap: int) -> dict[str, Value]:
    """Prompt order; kept ranges flattened, each with the place of its passage."""
    out: dict[str, Value] = {a.STAGE: "context"}
    put_context(out, stage, cap)
    put_known(out, (a.STEP_NAME, stage.step))
    return out


def ids_of_context(attributes: Attributes, step: str) -> dict[str, Value]:
    """Of a context that `put_context` wrote, the ids alone, as the stage of the step that built it."""
    out: dict[str, Value] = {a.STAGE: "context", a.STEP_NAME: well_formed(step)}
    if a.CONTEXT_IDS in attributes:
        out[a.CONTEXT_IDS] = attributes[a.CONTEXT_IDS]
    if a.CONTEXT_COUNT in attributes:
        out[a.CONTEXT_COUNT] = attributes[a.CONTEXT_COUNT]
    return out


def put_context(out: dict[str, Value], stage: ContextAssembly, cap: int) -> None:
    """Write the context beside another stage's attributes."""
    if not _put_usual(out, stage, cap):
        _put_all(out, stage, cap)


def _put_usual(out: dict[str, Value], stage: ContextAssembly, cap: int) -> bool:
    """Write the context of the usual prompt: passages that fit under the cap, each with its tokens, and their sum.

    False, and nothing written, for any other, and where something has to be mended before it may leave.
    """
    budget, ids, tokens, truncated = stage.budget, stage.ids, stage.tokens, stage.truncated
    if budget is None or _SELDOM(stage) != _UNKNOWN or budget.limit is not None or not 0 < len(ids) <= cap:
        return False
    if not len(tokens) == len(truncated) == len(ids):
        return False
    if not (are_short([*ids, budget.tokenizer]) and are_counts([*tokens, *truncated, budget.used])):
        return False
    out.update(
        {
            a.CONTEXT_IDS: ids,
            a.CONTEXT_TOKENS: tokens,  # type: ignore[dict-item]  # just checked, as what follows
            a.CONTEXT_TRUNCATED: truncated,  # type: ignore[dict-item]
            a.BUDGET_USED: budget.used,  # type: ignore[dict-item]
            a.BUDGET_TOKENIZER: budget.tokenizer,  # type: ignore[dict-item]
        }
    )
    return True


def _put_all(out: dict[str, Value], stage: ContextAssembly, cap: int) -> None:
    put_columns(
        out,
        cap,
        (a.CONTEXT_IDS, stage.ids),
        (a.CONTEXT_TOKENS, stage.tokens),
        (a.CONTEXT_TRUNCATED, stage.truncated),
        (a.CONTEXT_DUPLICATE_OF, stage.duplicate_of),
        (a.CONTEXT_DROPPED, stage.dropped),
        (a.CONTEXT_DROPPED_REASONS, stage.dropped_reasons),
    )
    put_count(out, a.CONTEXT_COUNT, len(stage.ids), stage.count, cap)
    if stage.kept:
        _put_kept(out, stage.kept[:cap])
    if stage.dropped:
        put_count(out, a.CONTEXT_DROPPED_COUNT, len(stage.dropped), stage.dropped_count, cap)
    if stage.budget is not None:
        put_budget(out, stage.budget)
    if stage.tokenizer is not None:
        put_known(out, (a.CONTEXT_TOKENIZER, stage.tokenizer))


def put_dropped(out: dict[str, Value], dropped: Sequence[str], reasons: Sequence[str | None], cap: int | None) -> None:
    """Write what fell in place of what `out` says of it."""
    for name in [name for name in out if name.startswith(a.CONTEXT_DROPPED)]:
        del out[name]
    put_columns(out, cap, (a.CONTEXT_DROPPED, dropped), (a.CONTEXT_DROPPED_REASONS, reasons))
    if dropped:
        put_count(out, a.CONTEXT_DROPPED_COUNT, len(dropped), None, cap)


def put_budget(out: dict[str, Value], budget: Budget | None) -> None:
    """Write what is known of the budget; it may be told where no passage was found."""
    if budget is not None:
        put_known(
            out,
            (a.BUDGET_LIMIT, budget.limit),
            (a.BUDGET_USED, budget.used),
            (a.BUDGET_TOKENIZER, budget.tokenizer),
        )


def decode_context(attributes: Attributes) -> ContextAssembly | None:
    """The inverse of `encode_context` and `put_context`; None without a list of ids."""
    ids = get_ids(attributes, a.CONTEXT_IDS, a.CONTEXT_COUNT)
    if ids is None:
        return None
    size = len(ids)
    dropped = get_list(attributes, a.CONTEXT_DROPPED, str) or ()
    return ContextAssembly(
        step=get(attributes, a.STEP_NAME, str),
        ids=ids,
        tokens=get_column(attributes, a.CONTEXT_TOKENS, size, int),
        truncated=get_column(attributes, a.CONTEXT_TRUNCATED, size, bool),
        kept=_get_kept(attributes, size),
        duplicate_of=get_column(attributes, a.CONTEXT_DUPLICATE_OF, size, str),
        dropped=dropped,
        dropped_reasons=get_column(attributes, a.CONTEXT_DROPPED_REASONS, len(dropped), str),
        budget=decode_budget(attributes),
        tokenizer=get(attributes, a.CONTEXT_TOKENIZER, str),
        count=get_count(attributes, a.CONTEXT_COUNT, size),
        dropped_count=get_count(attributes, a.CONTEXT_DROPPED_COUNT, len(dropped)),
    )


def decode_budget(attributes: Attributes) -> Budget | None:
    """The inverse of `put_budget`; None when nothing is known."""
    limit = get(attributes, a.BUDGET_LIMIT, int)
    used = get(attributes, a.BUDGET_USED, int)
    tokenizer = get(attributes, a.BUDGET_TOKENIZER, str)
    if limit is None and used is None and tokenizer is None:
        return None
    return Budget(limit=limit, used=used, tokenizer=tokenizer)


def _put_kept(out: dict[str, Value], kept: Sequence[Sequence[Range]]) -> None:
    flat = [(start, end, place) for place, ranges in enumerate(kept) for start, end in ranges]
    if flat:
        starts, ends, places = zip(*flat, strict=True)
        out[a.CONTEXT_KEPT_START], out[a.CONTEXT_KEPT_END], out[a.CONTEXT_KEPT_AT] = starts, ends, places


def _get_kept(attributes: Attributes, size: int) -> tuple[tuple[Range, ...], ...]:
    starts = get_list(attributes, a.CONTEXT_KEPT_START, int) or ()
    ends = get_list(attributes, a.CONTEXT_KEPT_END, int) or ()
    places = get_list(attributes, a.CONTEXT_KEPT_AT, int) or ()
    if not starts or not len(starts) == len(ends) == len(places):
        return ()
    kept: list[list[Range]] = [[] for _ in range(size)]
    for start, end, place in zip(starts, ends, places, strict=True):
        if not (0 <= place < size and 0 <= start <= end):
            return ()
        kept[place].append((start, end))
    return tuple(tuple(ranges) for ranges in kept)
