"""Token counts name what counted them (checklist 98)."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe_langchain.tokens import ESTIMATE, Tokenizer, tokenizer_of


@given(st.text())
def test_the_estimate_is_a_quarter_rounded_up(text):
    assert 4 * ESTIMATE.count(text) - 3 <= len(text) <= 4 * ESTIMATE.count(text)


def test_it_says_so():
    assert ESTIMATE.name == "estimate:chars/4"
    assert tokenizer_of(None) is ESTIMATE


def test_a_function_is_named_after_itself():
    def by_words(text: str) -> int:
        return len(text.split())

    class Named:
        name = "cl100k_base"

        def __call__(self, text: str) -> int:
            return len(text)

    assert tokenizer_of(by_words).name.endswith("by_words")
    assert tokenizer_of(by_words).count("a b") == 2
    assert tokenizer_of(Named()).name == "cl100k_base"
    assert tokenizer_of(mine := Tokenizer("mine", len)) is mine


def test_no_tokenizer_is_loaded_unasked():
    code = "import sys, rag_probe_langchain.tokens as t; t.ESTIMATE.count('x'); sys.exit('tiktoken' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["cl100k_base", 4])
def test_what_counts_nothing_is_refused_where_it_is_given(name):
    with pytest.raises(TypeError, match=r"^tokenizer=: expected a function .* found "):
        tokenizer_of(name)
