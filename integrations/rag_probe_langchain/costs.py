"""What the passages in a prompt cost, counted by whom, beside the budget that the app told."""

from __future__ import annotations

from dataclasses import replace

from rag_probe.stages import Budget, ContextAssembly
from rag_probe_langchain.request import Request


def priced(seen: ContextAssembly, request: Request, tokenizer: str) -> ContextAssembly:
    """`seen`, whose tokens `tokenizer` counted, with its budget.

    Where the app told the tokens of these very passages and what counted them, those count: its budget was kept by
    them. A limit in tokens of another tokenizer stands beside ours under its own name, and the two are never added.
    """
    told, budget = request.builder, request.told.budget
    tokens = _told_tokens(seen, told)
    if tokens is not None and told is not None and told.budget is not None and told.budget.tokenizer is not None:
        seen, tokenizer = replace(seen, tokens=tokens), told.budget.tokenizer
    unknown = bool(seen.ids) and not seen.tokens
    used = None if unknown else sum([count for count in seen.tokens if count is not None])
    if budget is None:
        return seen if unknown else replace(seen, budget=Budget(used=used, tokenizer=tokenizer))
    if told is not None and budget is told.budget and (budget.tokenizer is None or set(told.ids) != set(seen.ids)):
        budget = replace(budget, used=None)  # counted by nobody knows whom, or for another prompt
    if budget.tokenizer in (None, tokenizer):
        used = used if budget.used is None else budget.used
        return replace(seen, budget=replace(budget, used=used, tokenizer=tokenizer))
    return replace(seen, budget=budget, tokenizer=None if unknown else tokenizer)


def _told_tokens(seen: ContextAssembly, told: ContextAssembly | None) -> tuple[int, ...] | None:
    """The app's count for each passage in `seen`, cut or whole as it is there; None unless it told all of them."""
    if told is None or len(told.tokens) != len(told.ids):
        return None
    cut = told.truncated or (False,) * len(told.ids)
    known = {
        (name, bool(is_cut)): count
        for name, is_cut, count in zip(told.ids, cut, told.tokens, strict=False)
        if count is not None
    }
    counts = [known.get((name, bool(is_cut))) for name, is_cut in zip(seen.ids, seen.truncated, strict=True)]
    tokens = tuple([count for count in counts if count is not None])
    return tokens if tokens and len(tokens) == len(counts) else None
