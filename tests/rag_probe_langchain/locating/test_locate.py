"""Locating chunks in a prompt (checklist 83, 98, 99; must-handle 14, 17, 18, 21)."""

import html
import json
import random
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rag_probe_langchain.locating.locate import LONGEST_PROMPT, locate

LEAVE = "Employees may take up to twelve weeks of parental leave. Requests go to the manager four weeks ahead."
SALE = "Items bought in the sale can be returned within seven days, unless the seal was broken by the customer."
PARKING = "Parking permits are issued by the facilities desk on the ground floor, Monday to Friday until noon."


def indices(located):
    return [found.index for found in located.found]


def shown(prompt, located):
    return [prompt[found.start : found.end] for found in located.found]


class TestWhole:
    def test_order_is_the_prompts_order(self):
        prompt = f"Use only this:\n\n{SALE}\n\n{LEAVE}\n\nQuestion: how long?"
        located = locate(prompt, [LEAVE, SALE, PARKING])
        assert indices(located) == [1, 0]
        assert shown(prompt, located) == [SALE, LEAVE]
        assert located.complete
        assert [found.kept for found in located.found] == [((0, len(SALE)),), ((0, len(LEAVE)),)]
        assert not any(found.truncated for found in located.found)

    @pytest.mark.parametrize(
        "write",
        [
            lambda number, text: f"[{number}] {text}",
            lambda number, text: f"Document {number * 97} (id: doc-{number}, score: 0.{number}):\n{text}",
            lambda number, text: f'<doc id="{number}">{text}</doc>',
            lambda number, text: f"- {text}",
            lambda number, text: f"{text} ",
            lambda number, text: f"“{text}”",
        ],
    )
    def test_headers_and_wrappers(self, write):
        chunks = [LEAVE, SALE, PARKING] + [f"Rule number {n} of the handbook says nothing new." for n in range(20)]
        order = random.Random(7).sample(range(len(chunks)), len(chunks))
        prompt = "Context: " + "\n".join(write(n, chunks[n]) for n in order)
        assert indices(locate(prompt, chunks)) == order

    def test_whitespace_around_a_chunk_does_not_count(self):
        located = locate(f"Context:\n{LEAVE}\n", [f"\n\n {LEAVE}\t\n"])
        assert located.found[0].kept == ((0, len(LEAVE) + 5),)

    @pytest.mark.parametrize("chunk", ["", " ", "\n\t", "\u00a0"])
    def test_a_blank_chunk_is_never_found(self, chunk):
        assert locate("a \n\t \u00a0 prompt", [chunk]).found == ()

    def test_no_chunks(self):
        assert locate("a prompt", []).found == ()
        assert locate("", [LEAVE]).found == ()

    def test_a_short_chunk_counts_only_alone(self):
        assert locate("If there is no answer, say so.", ["no"]).found == ()
        assert indices(locate("Context:\n[1] no\n[2] yes\n", ["yes", "no"])) == [1, 0]

    def test_astral_characters_are_one_code_point(self):
        prompt = f"🙂🙂 {LEAVE}"
        assert locate(prompt, [LEAVE]).found[0].start == 3

    def test_lone_surrogates_are_text(self):
        chunk = LEAVE + "\ud800"
        assert indices(locate(f"x\n{chunk}\n{SALE}", [SALE, chunk])) == [1, 0]


class TestRepeatsAndOverlap:
    def test_twice_in_the_prompt_is_found_twice(self):
        history = f"Context:\n{LEAVE}\n{SALE}\nQuestion: a\nAnswer: b\nContext: {SALE}\n\nQuestion: c"
        assert indices(locate(history, [LEAVE, SALE])) == [0, 1, 1]

    def test_a_repeat_far_from_the_row_is_found(self):
        prose = "Some words of instruction that fill the prompt. " * 20
        prompt = f"{LEAVE}\n\n{SALE}\n\n{prose}as said ({LEAVE}) before"
        assert indices(locate(prompt, [LEAVE, SALE])) == [0, 1, 0]

    def test_identical_chunks_take_turns(self):
        located = locate(f"{LEAVE}\n{SALE}\n{LEAVE}", [LEAVE, SALE, LEAVE])
        assert indices(located) == [0, 1, 2]

    def test_identical_chunks_share_one_place(self):
        located = locate(f"{LEAVE}\n{SALE}", [LEAVE, SALE, f"{LEAVE}\n"])
        assert [(found.index, found.start) for found in located.found] == [(0, 0), (2, 0), (1, len(LEAVE) + 1)]
        assert located.found[1].kept == ((0, len(LEAVE) + 1),)

    def test_a_chunk_inside_another_is_explained_by_it(self):
        parent = f"{PARKING} {LEAVE} {SALE}"
        assert indices(locate(f"Context: {parent}", [LEAVE, parent])) == [1]
        assert indices(locate(f"Context: {parent}\n\n{LEAVE}", [LEAVE, parent])) == [1, 0]
        assert indices(locate(f"{parent}\n\n{SALE}\n\n{parent}", [LEAVE, SALE, parent])) == [2, 1, 2]

    def test_the_beginning_of_a_longer_chunk(self):
        longer = f"{LEAVE} More on that below."
        assert indices(locate(f"{longer}\n\n{LEAVE}\n\n{longer}", [LEAVE, longer])) == [1, 0, 1]

    def test_sliding_windows_printed_one_by_one(self):
        text = " ".join(f"word{n}" for n in range(200))
        windows = [text[start : start + 400] for start in range(0, 1200, 300)]
        assert indices(locate("\n---\n".join(windows), windows)) == [0, 1, 2, 3]

    def test_sliding_windows_printed_as_one(self):
        text = " ".join(f"word{n}" for n in range(200))
        windows = [text[start : start + 400] for start in range(0, 1200, 300)]
        located = locate(f"Context: {text[:1300]}\nQuestion", windows)
        assert indices(located) == [0, 1, 2, 3]
        assert not any(found.truncated for found in located.found)


class TestChanged:
    """checklist 83: what was lost in truncation is seen as lost."""

    def test_the_end_cut_off(self):
        prompt = f"Context:\n{SALE[:59]}…\n\n{LEAVE}"
        located = locate(prompt, [LEAVE, SALE])
        assert [(found.index, found.truncated) for found in located.found] == [(1, True), (0, False)]
        assert located.found[0].kept == ((0, 59),)
        assert shown(prompt, located)[0] == SALE[:59]

    def test_the_beginning_cut_off(self):
        located = locate(f"…{SALE[50:]}\n{LEAVE}", [SALE, LEAVE])
        assert located.found[0].kept == ((50, len(SALE)),)

    def test_the_middle_cut_out(self):
        prompt = f"{SALE[:40]} [… 20 characters left out …] {SALE[63:]}\n\n{LEAVE}"
        located = locate(prompt, [SALE, LEAVE])
        assert located.found[0].kept == ((0, 40), (63, len(SALE)))
        assert shown(prompt, located)[0].endswith(SALE[63:])

    def test_head_and_tail_far_apart_are_not_one_chunk(self):
        located = locate(f"{SALE[:40]}\n{LEAVE}\n{SALE[60:]}", [SALE, LEAVE])
        assert located.found[0].kept == ((0, 40),)

    def test_offsets_are_the_chunks_own(self):
        located = locate(f"{SALE[:59]}…", [f"\n  {SALE}\n"])
        assert located.found[0].kept == ((0, 62),)

    @pytest.mark.parametrize(
        "write",
        [
            lambda text: " ".join(text.split()),
            lambda text: "\n".join("    " + line for line in text.split("\n")),
            lambda text: text.replace(" ", "\n"),
            lambda text: text.replace("\n", "\r\n"),
        ],
    )
    def test_whitespace_in_another_form(self, write):
        chunks = [text.replace(". ", ".\n\n").replace(", ", ",\n  ") for text in (LEAVE, SALE, PARKING)]
        prompt = "Context:\n" + "\n\n".join(map(write, chunks))
        located = locate(prompt, chunks)
        assert indices(located) == [0, 1, 2]
        assert [found.kept for found in located.found] == [((0, len(chunk)),) for chunk in chunks]
        assert not any(found.truncated for found in located.found)

    def test_whitespace_changed_and_cut(self):
        chunk = SALE.replace(" ", "  ")
        cut = chunk.index("seal")
        located = locate(f"Context: {' '.join(chunk[:cut].split())} ...", [chunk])
        start, end = located.found[0].kept[0]
        assert (start, chunk[start:end].split()) == (0, chunk[:cut].split())
        assert located.found[0].truncated

    @pytest.mark.parametrize("write", [str, json.dumps, lambda docs: json.dumps(docs, ensure_ascii=False)])
    def test_documents_dumped_as_they_are(self, write):
        chunks = [f"{LEAVE}\n\nÜber \"{SALE}\" & 'more'", PARKING]
        prompt = write([{"page_content": chunk} for chunk in chunks])
        located = locate(prompt, chunks)
        assert indices(located) == [0, 1]
        assert not any(found.truncated for found in located.found)

    def test_documents_in_markup(self):
        chunks = [f'{LEAVE} Ask <HR> & "Legal".', f"{SALE} R&D", PARKING]
        prompt = "".join(f"<doc>{html.escape(chunk)}</doc>" for chunk in chunks)
        located = locate(prompt, chunks)
        assert indices(located) == [0, 1, 2]
        assert not any(found.truncated for found in located.found)


class TestPartsAreObservations:
    def test_a_short_part_is_none(self):
        assert locate(f"{SALE[:30]}…\n{LEAVE}", [SALE, LEAVE]).found[0].index == 1
        assert len(locate(f"{SALE[:45]}…\n{LEAVE}", [SALE, LEAVE]).found) == 2

    def test_half_of_a_short_chunk_is_one(self):
        chunk = "Sale items: seven days, sealed only."
        assert locate("Sale items: seven day…", [chunk]).found[0].kept == ((0, 21),)
        assert locate("Sale items: …", [chunk]).found == ()

    def test_a_common_header_tells_nothing(self):
        header = "Acme Employee Handbook, edition 2024, all rights reserved.\n"
        chunks = [header + LEAVE, header + SALE]
        assert locate(f"{header}{PARKING}", chunks).found == ()
        assert indices(locate(f"{header}{SALE[:50]}…", chunks)) == [1]

    def test_a_common_footer_tells_nothing(self):
        footer = "\n© Acme Corp. Confidential. Do not distribute outside of Acme."
        chunks = [LEAVE + footer, SALE + footer]
        assert locate(f"{PARKING}{footer}", chunks).found == ()

    def test_the_question_is_no_part_of_a_chunk(self):
        question = "How do I apply for parental leave in the Berlin office?"
        faq = f"{question} Fill in form seven and hand it to your manager."
        prompt = f"{SALE}\n\nQuestion: {question}"
        assert indices(locate(prompt, [faq, SALE], question)) == [1]
        assert indices(locate(f"{faq[:90]}…\n{prompt}", [faq, SALE], question)) == [0, 1]

    def test_a_short_question_hides_nothing(self):
        assert locate(f"{SALE[:70]}…", [SALE], "sale").found[0].kept == ((0, 70),)


class TestBounds:
    def test_a_prompt_beyond_the_limit_is_not_complete(self):
        prompt = f"{LEAVE}\n" + "x " * (LONGEST_PROMPT // 2) + SALE
        located = locate(prompt, [LEAVE, SALE])
        assert indices(located) == [0]
        assert not located.complete

    @pytest.mark.parametrize(
        ("prompt", "chunks"),
        [
            ("a" * 400_000, ["a" * n for n in range(1, 200)]),
            ("a" * 400_000, ["a" * n + "b" for n in range(1, 200)]),
            ("ab " * 130_000, ["ab " * n + "c" for n in range(1, 200)]),
            ("ab " * 130_000, ["ab " * n for n in range(5, 200)]),
            (" " * 400_000, ["a" + " " * 1000 + "b" for _ in range(200)]),
            ("x\n" * 200_000, [f"x\n{n}" for n in range(200)]),
            ("no " * 130_000, ["no", "no no", "n"]),
            ("a b" * 1000, ["a" + " " * 400_000 + "b c d e f g h i j k l m n o p q r s t u v w x y z"]),
            ("\\" * 400_000, ["\\" * n + "\n" for n in range(20, 220)]),
            ("handbook page " * 28_000, ["handbook page " * 30 + f"{n}" for n in range(200)]),
        ],
    )
    def test_hostile_input_costs_bounded_time(self, prompt, chunks):
        started = time.process_time()
        locate(prompt, chunks, prompt[:1000])
        assert time.process_time() - started < 2


WORDS = ("leave", "sale", "parking", "of", "the", "Über", "manager", "seven", "🙂", "x")
separators = st.sampled_from(
    ["\n\n", "\n---\n", " | ", "\n[7] ", "\nSource: https://example.com/x?y=1\nText: ", "</d><d>"]
)


def words_of(chunk, count):
    """Text in which every few words tell where they are, so that nothing is ambiguous."""
    return " ".join(
        f"{WORDS[(chunk * 7 + at * 3) % 10]}{f'-{chunk}-{at}' if at % 3 == 0 else ''}" for at in range(count)
    )


@st.composite
def assembled(draw):
    """Chunks, the order in which the prompt has them, how many characters of each, and the prompt."""
    chunks = [words_of(n, count) for n, count in enumerate(draw(st.lists(st.integers(20, 60), min_size=1, max_size=8)))]
    order = draw(st.permutations(range(len(chunks))))
    order = order[: draw(st.integers(1, len(order)))]
    lengths = [draw(st.just(len(chunks[n])) | st.integers(70, len(chunks[n]))) for n in order]
    prompt = "Answer from this.\n\n"
    for n, length in zip(order, lengths, strict=True):
        prompt += draw(separators) + chunks[n][:length] + ("…" if length < len(chunks[n]) else "")
    return chunks, order, lengths, prompt + draw(separators) + "Question?"


@given(assembled())
def test_what_was_assembled_is_found_again(case):
    chunks, order, lengths, prompt = case
    located = locate(prompt, chunks)
    assert indices(located) == order
    for found, length in zip(located.found, lengths, strict=True):
        text = chunks[found.index]
        assert found.kept == ((0, len(text[:length].rstrip())),)
        assert prompt[found.start : found.end] == text[slice(*found.kept[0])]
        assert found.truncated == (found.kept[0][1] < len(text))


@given(assembled(), st.randoms())
def test_the_order_of_the_chunks_does_not_matter(case, shuffler):
    chunks, _, _, prompt = case
    shuffled = list(chunks)
    shuffler.shuffle(shuffled)
    texts = [chunks[found.index] for found in locate(prompt, chunks).found]
    assert [shuffled[found.index] for found in locate(prompt, shuffled).found] == texts


@given(assembled(), st.lists(st.text(max_size=60), max_size=4))
def test_further_chunks_do_not_matter(case, others):
    chunks, _, _, prompt = case
    assume(not any(other.strip() and other.strip() in prompt for other in others))
    before = locate(prompt, chunks).found
    assert [found for found in locate(prompt, chunks + others).found if found.index < len(chunks)] == list(before)


@given(assembled(), st.sampled_from([" ", "\n", "\n    ", " \t ", "\r\n"]))
def test_whitespace_does_not_matter(case, blank):
    chunks, _, _, prompt = case
    before = [(found.index, found.kept) for found in locate(prompt, chunks).found]
    after = locate(prompt.replace(" ", blank), chunks).found
    assert [(found.index, found.kept) for found in after] == before


alphabet = st.text(alphabet="ab \n.é\\&🙂", max_size=80)


@given(st.lists(alphabet, max_size=6), st.lists(alphabet | st.text(max_size=40), max_size=6))
def test_nothing_is_reported_that_is_not_there(pieces, chunks):
    prompt = "ab ".join([*pieces, *chunks[:2]])
    found = locate(prompt, chunks).found
    assert list(found) == sorted(found, key=lambda one: (one.start, one.index))
    for one in found:
        assert 0 <= one.start < one.end <= len(prompt)
        shown_there = "".join(prompt[one.start : one.end].split())
        for start, end in one.kept:
            kept = chunks[one.index][start:end]
            spelled = {"".join(text.split()) for text in (kept, repr(kept)[1:-1], json.dumps(kept)[1:-1])}
            spelled |= {"".join(kept.replace("&", "&amp;").split())}
            assert any(text in shown_there for text in spelled)
        assert not any(
            two.start <= one.start and one.end <= two.end and (two.start, two.end) != (one.start, one.end)
            for two in found
        )
