"""Tokens stand under the name of what counted them, and different units are never added (checklist 98, contracts 3)."""

from __future__ import annotations

from rag_probe import attributes as a
from rag_probe import stage, tell
from rag_probe_langchain.tokens import Tokenizer
from tests.rag_probe_langchain.apps import ANSWER, Scripted, Search, as_text, passages
from tests.rag_probe_langchain.recorded import Recorder

QUESTION = "How long do I have?"
FOUND = passages("returns", "sale", "gift")


def call(build, **options):
    recorder = Recorder(**options)
    (Search(found=FOUND) | build | Scripted(answers=[ANSWER])).invoke(QUESTION, recorder.config)
    return recorder.one("chat")


def told(found, ids=("returns", "sale"), tokenizer="words", cut=None):
    with stage("context", limit=40, tokenizer=tokenizer) as context:
        for name in ids:
            context.add(name, tokens=15, truncated=cut)


def test_the_apps_own_counts_of_these_passages_count():
    def build(found):
        told(found)
        return as_text(found[:2])

    seen = call(build)
    assert seen[a.CONTEXT_TOKENS] == (15, 15)
    assert (seen[a.BUDGET_LIMIT], seen[a.BUDGET_USED], seen[a.BUDGET_TOKENIZER]) == (40, 30, "words")
    assert a.CONTEXT_TOKENIZER not in seen


def test_counts_of_another_prompt_do_not():
    def build(found):
        told(found)
        return as_text(found)

    seen = call(build)
    assert seen[a.CONTEXT_TOKENS] == tuple(-(-len(each.page_content) // 4) for each in FOUND)
    assert seen[a.CONTEXT_TOKENIZER] == "estimate:chars/4"
    assert (seen[a.BUDGET_LIMIT], seen[a.BUDGET_TOKENIZER]) == (40, "words")
    assert a.BUDGET_USED not in seen


def test_counts_of_a_passage_that_was_cut_later_do_not():
    def build(found):
        told(found)
        return as_text(found[:1]) + "\n\n" + found[1].page_content[:45]

    seen = call(build)
    assert seen[a.CONTEXT_TOKENIZER] == "estimate:chars/4"
    assert a.BUDGET_USED not in seen or seen[a.BUDGET_USED] == 30


def test_counts_under_no_name_are_not_taken_for_anybodys():
    def build(found):
        told(found, tokenizer=None)
        return as_text(found[:2])

    seen = call(build)
    assert seen[a.CONTEXT_TOKENS] != (15, 15)
    assert (seen[a.BUDGET_LIMIT], seen[a.BUDGET_TOKENIZER]) == (40, "estimate:chars/4")
    assert seen[a.BUDGET_USED] == sum(seen[a.CONTEXT_TOKENS])


def test_a_limit_in_other_tokens_leaves_our_counts_their_name():
    def build(found):
        tell.budget(limit=50, tokenizer="words")
        return as_text(found)

    seen = call(build)
    assert seen[a.CONTEXT_TOKENIZER] == "estimate:chars/4"
    assert (seen[a.BUDGET_LIMIT], seen[a.BUDGET_TOKENIZER]) == (50, "words")
    assert a.BUDGET_USED not in seen
    counted = call(build, tokenizer=Tokenizer("words", lambda text: len(text.split())))
    assert counted[a.BUDGET_USED] == sum(counted[a.CONTEXT_TOKENS])
    assert a.CONTEXT_TOKENIZER not in counted


def test_texts_that_differ_in_blanks_only_and_stand_there_once_are_one_passage():
    twins = [*passages("returns"), passages("returns")[0].model_copy(update={"id": "twin"})]
    twins[1].page_content += "\n"
    recorder = Recorder()
    (Search(found=twins) | (lambda found: as_text(found[:1])) | Scripted(answers=[ANSWER])).invoke(
        QUESTION, recorder.config
    )
    assert recorder.one("chat")[a.CONTEXT_IDS] == ("returns",)
    assert recorder.one("chat")[a.CONTEXT_DROPPED] == ("twin",)
