"""What comes from a trace never acts upon a terminal."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from rag_probe_collector.cli.terminal import plain, safe_json

anything = st.text(st.characters(codec=None), max_size=60) | st.text(
    alphabet="\x1b[31m\x07\x9b\u202e\r\nab", max_size=30
)


def acts(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in "\u200e\u200f\u202a\u202e\u2066"


@given(anything, st.none() | st.integers(1, 40))
def test_plain_text_is_one_harmless_line(text, limit):
    line = plain(text, limit)
    assert not any(acts(character) for character in line)
    assert limit is None or len(line) <= limit


def test_ordinary_text_stays_as_it_is():
    assert plain("Straße [doc-1] “ok” 日本") == "Straße [doc-1] “ok” 日本"
    assert plain("abcdef", 4) == "abc…"


@given(st.text(max_size=60) | anything)
def test_safe_json_is_the_same_json(text):
    document = (
        json.dumps({"text": text}, ensure_ascii=True)
        if any(0xD800 <= ord(c) < 0xE000 for c in text)
        else json.dumps({"text": text}, ensure_ascii=False)
    )
    assert json.loads(safe_json(document)) == {"text": text}
    assert not any(acts(character) for character in safe_json(document))
