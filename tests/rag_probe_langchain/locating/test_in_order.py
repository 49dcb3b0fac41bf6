"""What is known at a glance is what a search would have found."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rag_probe_langchain.locating.in_order import LEAST, in_order
from rag_probe_langchain.locating.locate import locate

words = st.lists(st.sampled_from(["goods", "sale", "thirty", "days", "Gift", "never"]), min_size=16, max_size=24)
texts = st.lists(words.map(" ".join), min_size=1, max_size=4)
between = st.sampled_from(["\n\n", "\n[1] ", " ", "", "\n- id: 7\n"])


@settings(max_examples=300)
@given(texts, st.data())
def test_it_agrees_with_the_search(chunks, data):
    order = data.draw(st.permutations(chunks) | st.just(chunks) | st.lists(st.sampled_from(chunks), max_size=6))
    prompt = "Answer from:" + "".join(data.draw(between) + text for text in order) + "\nHow long?"
    glance = in_order(prompt, chunks)
    if glance is None:
        return
    found = locate(prompt, chunks).found
    assert [item.index for item in found] == list(range(len(chunks)))
    assert not any(item.truncated for item in found)
    assert (found[0].start, found[0].end) == (glance.start, glance.end)
    ends = [0, *[item.end for item in found]]
    around = [prompt[end:start] for end, start in zip(ends, [*[item.start for item in found], None], strict=True)]
    inner = [piece for piece in around[1:-1] if len(piece) >= LEAST]
    assert glance.rest == "\n".join([around[0], *inner, around[-1]])


ONE, TWO = (" ".join([word] * 20) for word in ("one", "two"))


def test_it_knows_the_usual_prompt():
    glance = in_order(f"System.\n\n[1] {ONE}\n\n[2] {TWO}\n\nQuestion?", [ONE, TWO])
    assert glance is not None
    assert glance.rest == "System.\n\n[1] \n\n\nQuestion?"


def test_what_stands_between_is_left_where_it_may_hold_something():
    glance = in_order(f"{ONE}\n\nSee {TWO[:40]}\n\n{TWO}", [ONE, TWO])
    assert glance is None or TWO[:40] in glance.rest
    glance = in_order(f"{ONE}\n\nAnother passage\n\n{TWO}", [ONE, TWO])
    assert glance is not None
    assert glance.rest == "\n\n\nAnother passage\n\n\n"


def test_it_leaves_everything_else_to_the_search():
    for prompt, wanted in (
        (f"{TWO} {ONE}", [ONE, TWO]),
        (f"{ONE} {ONE} {TWO}", [ONE, TWO]),
        (f"{ONE} {TWO[:40]}", [ONE, TWO]),
        (f"{ONE} short", [ONE, "short"]),
        (f"{ONE} {TWO}", [ONE + " ", TWO]),
        (ONE + "x" * 400_000, [ONE]),
        (ONE, []),
    ):
        assert in_order(prompt, wanted) is None


def test_texts_that_begin_alike_are_left_to_the_search():
    goods = " ".join(["goods"] * 16)
    chunks = [goods, goods, goods, f"{goods} sale"]
    assert in_order("".join("\n\n" + text for text in chunks), chunks) is None
