"""A case travels with its question, within the process and to others, and ends where its block ends."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry import baggage
from opentelemetry.context import attach, detach, get_current
from opentelemetry.propagate import extract, inject

from rag_probe import attributes as a
from rag_probe import case, current_identity, current_tags
from rag_probe.cases import NO_TAGS
from rag_probe.stages import CaseTags, Identity

texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=80).filter(
    lambda text: text == text.strip()
)


def known(tags):
    return replace(tags, case_run=None)


tags_to_set = st.fixed_dictionaries(
    {"case_id": texts, "experiment": texts},
    optional={
        "repetition": st.integers(0, 10**9 - 1),
        "configuration": texts,
        "dataset_version": texts,
        "corpus_version": texts,
    },
)


@given(tags_to_set)
@example({"case_id": "a,b;c=d", "experiment": 'ü "%41+" \\', "configuration": "\N{SNOWMAN} \U0001f4a9 =,;%"})
def test_tags_arrive_in_another_process_as_they_were_set(fields):
    """contracts 3: by W3C baggage, as the API's own propagators write and read it."""
    headers = {}
    with case(**fields) as tags:
        inject(headers)
        assert current_tags() == tags
    assert headers["baggage"].isascii()
    assert current_tags(extract(headers, context=baggage.clear())) == tags
    assert known(tags) == CaseTags(**fields)


@given(st.text(st.characters(), max_size=300))
def test_what_baggage_would_change_is_refused_and_nothing_else(text):
    headers = {}
    try:
        block = case(text, experiment="e")
    except ValueError:
        return
    with block:
        inject(headers)
    assert current_tags(extract(headers, context=baggage.clear())).case_id == text


@pytest.mark.parametrize("repetition", [-1, True, 1.0, "1", 10**9])
def test_a_repetition_is_a_whole_number(repetition):
    with pytest.raises(ValueError, match="repetition: expected a whole number from 0"):
        case("c", experiment="e", repetition=repetition)


def test_the_longest_tags_together_fit_into_the_header(caplog):
    headers, longest = {}, "\U0001f4a9" * 85
    with case(
        longest,
        experiment=longest,
        configuration=longest,
        dataset_version=longest,
        corpus_version=longest,
        repetition=1,
    ) as tags:
        context = baggage.set_baggage("theirs", "x" * 4000, get_current())
        inject(headers, context)
    assert current_tags(extract(headers, context=baggage.clear())) == tags
    with pytest.raises(ValueError, match="case_id"):
        case("\U0001f4a9" * 86, experiment="e")


def test_each_block_is_a_run_of_its_own():
    block = case("c", experiment="e")
    with block as first:
        pass
    with block as second:
        pass
    assert first.case_run != second.case_run
    assert len(first.case_run) == 32


def test_outside_there_is_nothing():
    assert current_tags() is NO_TAGS
    assert current_identity() is None
    with case("c", experiment="e", identity=Identity(tenant="acme")):
        pass
    assert current_tags() is NO_TAGS
    assert current_identity() is None


def test_the_app_s_own_baggage_stays_and_tags_around_do_not_reach_in():
    token = attach(baggage.set_baggage("theirs", "1"))
    try:
        with case("outer", experiment="e", repetition=3, identity={"tenant": "acme"}) as outer:
            with case("inner", experiment="e") as inner:
                assert baggage.get_baggage("theirs") == "1"
                assert known(current_tags()) == CaseTags(case_id="inner", experiment="e")
                assert current_identity() is None
            assert current_tags() == outer
            assert inner.case_run != outer.case_run
            assert current_identity() == Identity(tenant="acme")
    finally:
        detach(token)


def test_the_identity_never_travels():
    headers = {}
    with case("c", experiment="e", identity=Identity(subject="alice", tenant="acme", roles=("admin",))):
        inject(headers)
    assert not any(word in str(headers) for word in ("alice", "acme", "admin"))


def test_a_failing_block_is_left_and_its_exception_passes():
    with pytest.raises(KeyError, match="theirs"), case("c", experiment="e"):
        raise KeyError("theirs")
    assert current_tags() is NO_TAGS


async def test_tasks_side_by_side_keep_their_own_case():
    """must-handle 2."""
    both = asyncio.Barrier(2)

    async def answer(name):
        async with case(name, experiment="e") as tags:
            await both.wait()
            assert current_tags() == tags
            await both.wait()
        assert current_tags() is NO_TAGS
        return tags.case_id

    assert await asyncio.gather(answer("a"), answer("b")) == ["a", "b"]


def test_a_pool_s_thread_sees_it_in_a_copied_context():
    with ThreadPoolExecutor(1) as pool, case("c", experiment="e") as tags:
        assert pool.submit(copy_context().run, current_tags).result() == tags
        assert pool.submit(current_tags).result() is NO_TAGS


def test_a_decorated_function_runs_under_a_new_run_each_time():
    @case("c", experiment="e", identity={"tenant": "acme"})
    def answer(question, *, loud=False):
        """Answers."""
        return question, loud, current_tags(), current_identity()

    first, second = answer("q", loud=True), answer("q")
    assert first[:2] == ("q", True)
    assert (first[2].case_id, first[3]) == ("c", Identity(tenant="acme"))
    assert first[2].case_run != second[2].case_run
    assert answer.__doc__ == "Answers."
    assert current_tags() is NO_TAGS


async def test_a_decorated_coroutine_runs_under_it():
    @case("c", experiment="e")
    async def answer():
        await asyncio.sleep(0)
        return current_tags()

    assert (await answer()).case_id == "c"
    assert current_tags() is NO_TAGS


def test_a_generator_is_refused_because_its_body_would_leak_into_its_consumer():
    with pytest.raises(TypeError, match="answers is a generator"):

        @case("c", experiment="e")
        def answers():
            yield 1


def test_left_in_another_context_it_says_nothing_and_changes_nothing(caplog):
    """A fixture or a web framework's dependency may enter and leave a block in two contexts."""
    block = case("c", experiment="e")
    Context().run(block.open)
    with case("d", experiment="e") as tags:
        block.close(None)
        assert current_tags() == tags
    assert current_tags() is NO_TAGS
    assert not caplog.records


hostile = st.one_of(st.text(st.characters(), max_size=400), st.integers(), st.none(), st.binary(max_size=3))


@given(st.dictionaries(st.sampled_from([a.CASE_ID, a.EXPERIMENT, a.CASE_RUN, a.REPETITION, "x"]), hostile))
def test_whatever_arrived_is_read_without_harm(entries):
    context = baggage.clear()
    for name, value in entries.items():
        context = baggage.set_baggage(name, value, context)
    tags = current_tags(context)
    for text in (tags.case_id, tags.experiment, tags.case_run):
        assert text is None or (len(text) <= 256 and text.encode())
    assert tags.repetition is None or 0 <= tags.repetition < 10**9


def test_a_value_that_case_would_not_send_is_dropped_not_cut():
    assert current_tags(baggage.set_baggage(a.CASE_ID, "x" * 257)) == NO_TAGS


@pytest.mark.parametrize("text", ["", " a", "a ", "a\n", "x" * 257, "\ud800", "\U0001f4a9" * 100, None, 7])
def test_a_refused_value_is_named(text):
    with pytest.raises(ValueError, match="experiment: expected text of 1 to 256 characters without blanks at its ends"):
        case("c", experiment=text)
