"""How passages are fitted into the words that a context may take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from langchain_core.documents import Document

from rag_probe_langchain.tokens import Tokenizer

WORDS: Final = Tokenizer("words", lambda text: len(text.split()))
"""What the budget is counted in; the callback is given it too, so that limit and use are in one unit."""
SMALLEST: Final = 8
"""Words under which a cut passage is not worth its place."""


def fit(passages: Iterable[Document], limit: int) -> Iterator[Document]:
    """The passages in their order; the first that does not fit is cut, or left out when too little would remain."""
    left = limit
    for passage in passages:
        words = list(re.finditer(r"\S+", passage.page_content))
        if len(words) <= left:
            yield passage
        elif left >= SMALLEST:
            yield passage.model_copy(update={"page_content": passage.page_content[: words[left - 1].end()]})
        left = max(0, left - len(words))
