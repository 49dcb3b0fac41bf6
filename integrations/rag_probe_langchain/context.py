"""Which passages stand in a prompt: the context of a model call, and the step that built it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rag_probe.stages import Budget, ContextAssembly, Range
from rag_probe_langchain.documents import Documents
from rag_probe_langchain.locate import Found, locate
from rag_probe_langchain.request import Request
from rag_probe_langchain.run import Ids


class Seen(NamedTuple):
    """The passages in a prompt. `stage` is None when that cannot be said."""

    stage: ContextAssembly | None
    found: tuple[Found, ...]
    texts: Sequence[str]


def assemble(prompt: str, last: Ids | None, request: Request) -> Seen:
    """Locate every text that this question has seen, denied ones too: what is in the prompt counts, not what should be.

    Nothing is concluded when the search was cut short, or when none of the passages is recognised although some should be (contracts 7).
    """
    texts = list(request.documents.texts)
    located = locate(prompt, texts, request.asked or "")
    if not located.complete or (not located.found and last != ()):
        return Seen(None, (), texts)
    return Seen(_stage(located.found, texts, last, request), located.found, texts)


def _stage(found: Sequence[Found], texts: Sequence[str], last: Ids | None, request: Request) -> ContextAssembly:
    ids, repeats = _names(found, texts, request.documents, last or ())
    cut = [item.truncated for item in found]
    tokens = tuple([_tokens(item, texts[item.index], request) for item in found])
    present = set(ids)
    dropped = tuple([name for name in last or () if name not in present])
    if dropped and len(dropped) == len(last or ()):  # none of the last known set is there: it is another context
        dropped = ()
    told = request.builder
    reasons = dict(zip(told.dropped, told.dropped_reasons, strict=False)) if told is not None else {}
    return ContextAssembly(
        ids=ids,
        tokens=tokens,
        truncated=tuple(cut),
        kept=_kept(found) if any(cut) else (),
        duplicate_of=repeats,
        dropped=dropped,
        dropped_reasons=tuple(reasons.get(name) for name in dropped) if reasons else (),
        budget=_budget(sum(tokens), request),
    )


def _kept(found: Sequence[Found]) -> tuple[tuple[Range, ...], ...]:
    return tuple(item.kept if item.truncated else () for item in found)


def _names(
    found: Sequence[Found], texts: Sequence[str], documents: Documents, last: Ids
) -> tuple[Ids, tuple[str | None, ...]]:
    """The id of each found text, one of the last known set where several passages share it, and the earlier one it repeats."""
    wanted = set(last)
    first: dict[str, str] = {}
    ids: list[str] = []
    repeats: list[str | None] = []
    for item in found:
        owners = documents.texts[texts[item.index]]
        name = next(iter(owners))
        if len(owners) > 1:
            turn = [
                *(owner for owner in owners if owner in wanted),
                *(owner for owner in owners if owner not in wanted),
            ]
            name = next((owner for owner in turn if owner not in ids), turn[0])
        repeats.append(first.get(texts[item.index]))
        first.setdefault(texts[item.index], name)
        ids.append(name)
    return tuple(ids), tuple(repeats) if any(repeats) else ()


def _tokens(item: Found, text: str, request: Request) -> int:
    count = request.options.tokenizer.count
    if not item.truncated:
        return count(text)
    return sum(count(text[start:end]) for start, end in item.kept)


def _budget(used: int, request: Request) -> Budget:
    told = request.told.budget
    named = request.builder.budget if request.builder is not None else None
    limit = named.limit if named is not None and named.limit is not None else told.limit if told is not None else None
    return Budget(limit=limit, used=used, tokenizer=request.options.tokenizer.name)
