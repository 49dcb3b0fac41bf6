"""Where an answer holds code, in which brackets are no citations."""

from __future__ import annotations

import re
from typing import Final

from rag_probe_langchain.locating.places import Range

_CODE: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`", re.DOTALL)


def code_ranges(text: str) -> list[Range]:
    """The fenced blocks and inline spans of Markdown code in `text`, in order. An open fence reaches to the end."""
    if "`" not in text and "~~~" not in text:
        return []
    return [match.span() for match in _CODE.finditer(text)]
