"""A prompt that goes on from what earlier calls wrote, as when an answer is refined, or put together from several.

What an earlier call saw is behind that text: it did not fall on the way, and the answer may rest on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rag_probe.stages import ContextAssembly
from rag_probe_langchain.known import union
from rag_probe_langchain.request import Made
from rag_probe_langchain.run import Ids

_SHORTEST: Final = 12
"""Characters below which a text may stand in a prompt by chance."""


def with_earlier(own: ContextAssembly, prompt: str, made: Sequence[Made], started: int) -> ContextAssembly | None:
    """The context with the passages behind earlier texts in `prompt` first; None when there are none, nearly always.

    `started`: when the call was made that got the prompt. Asked only where some of the last known set is missing from
    the prompt, and some of it is there.
    """
    if not (own.dropped and own.ids and made):
        return None
    seen = union([one.context for one in made if one.context and _stands(one, own, prompt, started)])
    earlier = tuple([name for name in seen if name not in own.ids])
    if not earlier:
        return None
    unknown = (None,) * len(earlier)
    reasons = own.dropped_reasons or (None,) * len(own.dropped)
    left = [row for row in zip(own.dropped, reasons, strict=True) if row[0] not in earlier]
    return replace(
        own,
        ids=earlier + own.ids,
        tokens=unknown + own.tokens if own.tokens else (),
        truncated=unknown + own.truncated if own.truncated else (),
        kept=((),) * len(earlier) + own.kept if own.kept else (),
        duplicate_of=unknown + own.duplicate_of if own.duplicate_of else (),
        dropped=tuple([name for name, _ in left]),
        dropped_reasons=tuple([reason for _, reason in left]) if own.dropped_reasons else (),
    )


def reduced(prompt: str, last: Ids | None, made: Sequence[Made], started: int) -> ContextAssembly | None:
    """The context of a prompt in which no passage of `last` stands, but what two calls or more made of shares of it."""
    none = ContextAssembly()
    there = [one.context for one in made if one.context and _stands(one, none, prompt, started)]
    seen = union(there)
    if len(set(there)) < 2 or len(seen) < sum(map(len, set(there))) or not set(seen) <= set(last or ()):
        return None
    return ContextAssembly(ids=seen)


def is_echo(text: str, prompt: str, made: Sequence[Made]) -> bool:
    """Whether a short text that a model wrote stood in its own `prompt`, as one of the words to choose from does.

    Not where it stood there as what an earlier call had written.
    """
    text = text.strip()
    if not 0 < len(text) < _SHORTEST or not _stands_apart(text, prompt):
        return False
    return not any(one.text.strip() == text and not one.echo for one in made)


def _stands(one: Made, own: ContextAssembly, prompt: str, started: int) -> bool:
    """A short text has to be a message or the end of a line, of a call that was over and saw nothing of this one's."""
    text = one.text.strip()
    if len(text) >= _SHORTEST:
        return text in prompt
    if not text or one.echo or one.ended > started or not set(own.ids).isdisjoint(one.context or ()):
        return False
    return _stands_apart(text, prompt)


def _stands_apart(text: str, prompt: str) -> bool:
    return re.search(rf"(?:^|: ?|\n)[ \t]*{re.escape(text)}[ \t]*(?:\n|$)", prompt) is not None
