"""Which passages stand in a prompt: the context of a model call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from rag_probe.stages import Budget, ContextAssembly, Range
from rag_probe_langchain.documents import Documents
from rag_probe_langchain.found import Found
from rag_probe_langchain.locate import locate
from rag_probe_langchain.request import Request
from rag_probe_langchain.run import Ids


class Seen(NamedTuple):
    """The passages in a prompt."""

    stage: ContextAssembly
    first: Found | None
    """Where the first of them stands."""


def assemble(prompt: str, last: Ids | None, request: Request) -> Seen | None:
    """Locate every text that this question has seen, denied ones too: what is in the prompt counts, not what should be.

    None, nothing concluded: when the search was cut short, and when no passage is recognised although some should be
    there (contracts 7).
    """
    texts = list(request.documents.owners)
    located = locate(prompt, texts, request.asked or "")
    if not located.complete or not (located.found or last == ()):
        return None
    return Seen(_stage(located.found, texts, last or (), request), located.found[0] if located.found else None)


def _stage(found: Sequence[Found], texts: Sequence[str], last: Ids, request: Request) -> ContextAssembly:
    ids, repeats = _names([texts[item.index] for item in found], request.documents, last)
    kept = [_kept(item, name, texts[item.index], request.documents) for item, name in zip(found, ids, strict=True)]
    tokens = tuple([_tokens(item, texts[item.index], request) for item in found])
    cut = tuple([ranges is not None for ranges in kept])
    return _dropping(
        ContextAssembly(
            ids=ids,
            tokens=tokens,
            truncated=cut,
            kept=tuple([ranges or () for ranges in kept]) if any(kept) else (),
            duplicate_of=repeats,
            budget=budget_of(request, sum(tokens)),
        ),
        last,
        request,
    )


def _names(texts: Sequence[str], documents: Documents, last: Ids) -> tuple[Ids, tuple[str | None, ...]]:
    """The id of each found text, and the earlier passage that it repeats.

    Where several passages share a text, those of the last known set come first, each once.
    """
    ids: list[str] = []
    repeats: list[str | None] = []
    first: dict[str, str] = {}
    for text in texts:
        owners = documents.owners[text]
        name = owners[0]
        if len(owners) > 1:
            turn = sorted(owners, key=lambda owner: owner not in last)
            name = next((owner for owner in turn if owner not in ids), turn[0])
        repeats.append(first.get(text))
        first.setdefault(text, name)
        ids.append(name)
    return tuple(ids), tuple(repeats) if any(repeats) else ()


def _kept(item: Found, name: str, text: str, documents: Documents) -> tuple[Range, ...] | None:
    """The ranges of the passage's longest text that are there, `()` where that cannot be said; None for all of it."""
    whole = documents.whole.get(name, text)
    if whole is text or whole == text:
        return item.kept if item.truncated else None
    at = whole.find(text)
    return () if at < 0 else tuple([(start + at, end + at) for start, end in item.kept])


def _tokens(item: Found, text: str, request: Request) -> int:
    count = request.options.tokenizer.count
    if not item.truncated:
        return count(text)
    return sum(count(text[start:end]) for start, end in item.kept)


def _dropping(stage: ContextAssembly, last: Ids, request: Request) -> ContextAssembly:
    """With what was lost on the way; nothing is said of a set of which no passage is there at all."""
    present = set(stage.ids)
    dropped = tuple([name for name in dict.fromkeys(last) if name not in present])
    if not dropped or not present.intersection(last):
        return stage
    told = request.builder
    reasons = {} if told is None else dict(zip(told.dropped, told.dropped_reasons, strict=False))
    column = tuple([reasons.get(name) for name in dropped])
    return replace(stage, dropped=dropped, dropped_reasons=column if any(column) else ())


def budget_of(request: Request, used: int) -> Budget:
    """The told limit beside what our tokenizer counted; a limit in other tokens stands alone, with their name."""
    ours = request.options.tokenizer.name
    told = request.told.budget
    if told is None:
        return Budget(used=used, tokenizer=ours)
    if told.tokenizer in (None, ours):
        return Budget(limit=told.limit, used=used if told.used is None else told.used, tokenizer=ours)
    return told
