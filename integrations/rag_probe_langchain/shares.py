"""Calls that are given a share of the last known set each, as in map and refine chains: the other shares did not fall.

Whether there are others shows when the question is over. Until then the span of a call waits whose prompt lacks some
of the set, which is seldom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Final

from rag_probe.attributes import Value
from rag_probe.stages import ContextAssembly
from rag_probe.wire.context import put_dropped
from rag_probe_langchain.request import Request, Share
from rag_probe_langchain.run import Ids, Run

_SHARES: Final = 1_000


def share(run: Run, last: Ids | None, own: Ids, lost: ContextAssembly, said: dict[str, Value]) -> None:
    """Note which passages of `last` a call was given as its `own`, and what it seems to have `lost`, as is `said`.

    Of a call too many, which cannot wait, nothing is said to have fallen.
    """
    request = run.request
    if run.parent is None or last is None:
        return
    if len(request.shares) >= _SHARES:
        put_dropped(said, (), (), None)
        return
    run.waits = True
    request.shares.append(Share(run, last, frozenset(own), lost.dropped, lost.dropped_reasons))


def settle_shares(request: Request, *, failed: bool) -> None:
    """The question is over: what another call was given did not fall, nor what one that `failed` never came to."""
    shares, request.shares = request.shares, []
    by_last: dict[Ids, list[Share]] = {}
    for each in shares:
        by_last.setdefault(each.last, []).append(each)
    for same in by_last.values():
        held = Counter(chain.from_iterable({each.ids for each in same}))
        for each in same:
            if _is_one_of_many(each, held):
                _correct(each, [] if failed else [name for name in each.dropped if name not in held])
    request.pending[:0] = [each.run for each in shares]


def _is_one_of_many(share: Share, held: Counter[str]) -> bool:
    """Whether others were given something else, and nothing of this."""
    return len(held) > len(share.ids) and all(held[name] == 1 for name in share.ids)


def _correct(share: Share, fell: Iterable[str]) -> None:
    final, fell = share.run.final, set(fell)
    if final is None:
        return
    reasons = share.reasons or (None,) * len(share.dropped)
    rows = [row for row in zip(share.dropped, reasons, strict=True) if row[0] in fell]
    names, column = tuple([name for name, _ in rows]), tuple([reason for _, reason in rows])
    put_dropped(final, names, column if any(column) else (), share.run.request.options.policy.max_items)
