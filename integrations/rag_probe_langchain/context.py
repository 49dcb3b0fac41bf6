"""Which passages stand in a prompt: the context of a model call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, filterfalse, islice
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from rag_probe.stages import Budget, ContextAssembly, Range
from rag_probe_langchain.costs import priced
from rag_probe_langchain.documents import Documents
from rag_probe_langchain.locating.escapes import Escape, escapes_in, spellings
from rag_probe_langchain.locating.found import Found
from rag_probe_langchain.locating.in_order import LEAST, in_order
from rag_probe_langchain.locating.locate import Located, locate
from rag_probe_langchain.request import Request
from rag_probe_langchain.run import Ids
from rag_probe_langchain.tokens import Tokenizer, counts

_PROBE: Final = 24
"""Characters at either end of a text by which it is looked for where nobody expects it; with fewer than `LEAST`, all of
it is."""
_FIRST_OF: Final[Callable[[str], str]] = itemgetter(slice(_PROBE))
_LAST_OF: Final[Callable[[str], str]] = itemgetter(slice(-_PROBE, None))
_APART: Final = "\0"
"""Between texts that are squeezed together; one that has it itself is only looked at more closely."""

Turns: TypeAlias = Mapping[str, int]


class Seen(NamedTuple):
    """The passages in a prompt."""

    stage: ContextAssembly
    first: Range | None
    """Where the first of them stands."""


def assemble(prompt: str, last: Ids | None, request: Request, tokenizer: Tokenizer | None = None) -> Seen | None:
    """Locate the last known set, and every other text that this question has seen: a denied one may have leaked.

    None, nothing concluded: when the search was cut short, and when no passage is recognised although some should be
    there (contracts 7).
    """
    documents, tokenizer, last = request.documents, tokenizer or request.options.tokenizer, last or ()
    seen = _at_a_glance(prompt, last, request, tokenizer)
    if seen is not None:
        return seen
    texts = documents.texts_of(last)
    located = locate(prompt, texts, request.asked or "")
    if len(texts) < len(documents.owners) and located.complete:
        others = _strays(_rest(prompt, located), texts, documents)
        if others:
            texts += others
            located = locate(prompt, texts, request.asked or "")
    if len(located.found) < len(texts) and documents.reread(last):
        return assemble(prompt, last, request, tokenizer)
    if not located.complete or not (located.found or last == ()):
        return None
    first = (located.found[0].start, located.found[0].end) if located.found else None
    return Seen(_stage(located.found, texts, last, request, tokenizer), first)


def _at_a_glance(prompt: str, last: Ids, request: Request, tokenizer: Tokenizer) -> Seen | None:
    """The usual prompt: all of the last known set and nothing else, uncut, each once, in order; else None."""
    documents = request.documents
    texts = documents.alone(last)
    glance = in_order(prompt, texts) if texts else None
    if texts is None or glance is None:
        return None
    if len(texts) < len(documents.owners) and _strays(glance.rest, texts, documents):
        return None
    return Seen(_whole(last, texts, request, tokenizer), (glance.start, glance.end))


def _rest(prompt: str, located: Located) -> str:
    """The prompt without what was found in it."""
    pieces: list[str] = []
    at = 0
    for item in located.found:
        if item.start - at >= LEAST:
            pieces.append(prompt[at : item.start])
        at = max(at, item.end)
    pieces.append(prompt[at:])
    return "\n".join(pieces)


def _strays(rest: str, texts: Sequence[str], documents: Documents) -> list[str]:
    """Texts beside `texts` that seem to stand where none of those was found: a hint, which `locate` has to confirm.

    However they may be written there: in other lines, or by an escape that `locate` knows.
    """
    others = list(filterfalse(set(texts).__contains__, documents.owners))
    ends = [*map(_FIRST_OF, others), *map(_LAST_OF, others)]
    escapes, rest = escapes_in(rest), _squeezed(rest)
    if (
        escapes
        or any(map(rest.__contains__, _squeezed(_APART.join(ends)).split(_APART)))
        or not _are_probes(ends)
        or list(map(str.strip, others)) != others
    ):
        return [text for text in others if _may_stand(text, rest, escapes)]
    return []


def _are_probes(ends: Sequence[str]) -> bool:
    """Whether each is enough to look for, and a single line, as those of most texts are."""
    return min(map(len, ends), default=0) >= LEAST and "\n" not in "".join(ends)


def _may_stand(text: str, rest: str, escapes: Sequence[Escape]) -> bool:
    text = text.strip()
    head, tail = text[:_PROBE].partition("\n")[0], text[-_PROBE:].rpartition("\n")[2]
    if len(head) < LEAST or len(tail) < LEAST:
        return True
    forms = (head, tail, *spellings(head, escapes), *spellings(tail, escapes))
    return any(map(rest.__contains__, map(_squeezed, forms)))


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _whole(ids: Ids, texts: Sequence[str], request: Request, tokenizer: Tokenizer) -> ContextAssembly:
    """All of `texts`, uncut and each once."""
    tokens = counts(tokenizer, texts)
    whole = (False,) * len(ids)
    if request.builder is not None or request.told.budget is not None:
        return priced(ContextAssembly(ids=ids, tokens=tokens, truncated=whole), request, tokenizer.name)
    budget = Budget(used=sum(tokens), tokenizer=tokenizer.name) if tokens else None
    return ContextAssembly(ids=ids, tokens=tokens, truncated=whole, budget=budget)


def _stage(
    found: Sequence[Found], texts: Sequence[str], last: Ids, request: Request, tokenizer: Tokenizer
) -> ContextAssembly:
    documents, turns = request.documents, _turns(last, request)
    found = _one_a_place(found, texts, documents, turns)
    there = [texts[item.index] for item in found]
    ids, repeats = _names(there, documents, turns)
    kept = [_kept(item, name, text, documents) for item, name, text in zip(found, ids, there, strict=True)]
    dropped, reasons = _dropped(ids, last, request)
    stage = ContextAssembly(
        ids=ids,
        tokens=_tokens(found, there, tokenizer),
        truncated=tuple([ranges is not None for ranges in kept]),
        kept=tuple([ranges or () for ranges in kept]) if any(kept) else (),
        duplicate_of=repeats,
        dropped=dropped,
        dropped_reasons=reasons,
    )
    return priced(stage, request, tokenizer.name)


def _tokens(found: Sequence[Found], there: Sequence[str], tokenizer: Tokenizer) -> tuple[int, ...]:
    """What is there of each text, in tokens; `()` when they could not be counted."""
    pieces = [
        [text[start:end] for start, end in item.kept] if item.truncated else [text]
        for item, text in zip(found, there, strict=True)
    ]
    figures = counts(tokenizer, list(chain.from_iterable(pieces)))
    each = iter(figures)
    return tuple([sum(islice(each, len(parts))) for parts in pieces]) if figures else ()


def _turns(last: Ids, request: Request) -> Turns:
    """Whom a shared text is taken for: a passage that the app says it used, then one of the last known set."""
    names = last if request.builder is None else (*request.builder.ids, *last)
    return {name: turn for turn, name in enumerate(dict.fromkeys(names))}


def _one_a_place(found: Sequence[Found], texts: Sequence[str], documents: Documents, turns: Turns) -> Sequence[Found]:
    """Without those that share their place: texts that differ in nothing but blanks, printed once, are one passage."""
    if len({(item.start, item.end) for item in found}) == len(found):
        return found
    best: dict[Range, Found] = {}
    for item in sorted(found, key=lambda item: _rank(item, texts, documents, turns)):
        best.setdefault((item.start, item.end), item)
    return [best[place] for place in sorted(best)]


def _rank(item: Found, texts: Sequence[str], documents: Documents, turns: Turns) -> int:
    owners = documents.owners[texts[item.index]]
    names = (owners,) if isinstance(owners, str) else owners
    return min([turns.get(name, len(turns)) for name in names])


def _names(there: Sequence[str], documents: Documents, turns: Turns) -> tuple[Ids, tuple[str | None, ...]]:
    """The id of each text that is there, and the earlier passage that it repeats.

    Where several passages share a text, the preferred ones come first, each once.
    """
    ids: list[str] = []
    taken: set[str] = set()
    waiting: dict[str, tuple[str, Iterator[str]]] = {}
    for text in there:
        owners = documents.owners[text]
        if not isinstance(owners, str):
            if text not in waiting:
                queue = sorted(owners, key=lambda owner: turns.get(owner, len(turns)))
                waiting[text] = queue[0], iter(queue)
            first, others = waiting[text]
            owners = next((owner for owner in others if owner not in taken), first)
        taken.add(owners)
        ids.append(owners)
    if len(set(there)) == len(there):
        return tuple(ids), ()
    earlier: dict[str, str] = {}
    repeats: list[str | None] = []
    for text, name in zip(there, ids, strict=True):
        repeats.append(earlier.get(text))
        earlier.setdefault(text, name)
    return tuple(ids), tuple(repeats)


def _kept(item: Found, name: str, text: str, documents: Documents) -> tuple[Range, ...] | None:
    """The ranges of the passage's longest text that are there, `()` where that cannot be said; None for all of it."""
    whole = documents.whole.get(name, text)
    if whole is text or whole == text:
        return item.kept if item.truncated else None
    at = whole.find(text)
    return () if at < 0 else tuple([(start + at, end + at) for start, end in item.kept])


def _dropped(ids: Ids, last: Ids, request: Request) -> tuple[Ids, tuple[str | None, ...]]:
    """What was lost on the way, and why; nothing is said of a set of which no passage is there at all."""
    present = set(ids)
    dropped = tuple([name for name in dict.fromkeys(last) if name not in present])
    if not dropped or present.isdisjoint(last):
        return (), ()
    told = request.builder
    reasons = {} if told is None else dict(zip(told.dropped, told.dropped_reasons, strict=False))
    column = tuple([reasons.get(name) for name in dropped]) if reasons else ()
    return dropped, column if any(column) else ()
