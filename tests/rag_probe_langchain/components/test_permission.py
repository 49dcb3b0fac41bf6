"""The permission components: what passes, what is recorded, what fails closed (issue B, checklist 62)."""

from __future__ import annotations

import asyncio
import threading

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from rag_probe import attributes as a
from rag_probe_langchain import PermissionCompressor, PermissionRetriever
from tests.rag_probe_langchain.apps import Scripted, Search, as_text, passages, rag
from tests.rag_probe_langchain.recorded import Recorder, assert_well_formed

QUESTION = "How long do I have?"
CONFIG = {"configurable": {"roles": ["customer"]}}


def customers_only(document):
    return document.id != "staff" or (False, "role_not_granted")


async def customers_only_async(document):
    await asyncio.sleep(0)
    return customers_only(document)


class Checker:
    """A callable object."""

    def __call__(self, document):
        return customers_only(document)


class AsyncChecker:
    async def __call__(self, document):
        return customers_only(document)


def by_config(document, config):
    roles = config["configurable"]["roles"]
    return "people" in roles or document.id != "staff" or (False, "role_not_granted")


async def by_config_async(document, *, config):
    return by_config(document, config)


CHECKS = {
    "function": customers_only,
    "object": Checker(),
    "config": by_config,
    "coroutine": customers_only_async,
    "async object": AsyncChecker(),
    "async config": by_config_async,
    "gives a coroutine": lambda document: customers_only_async(document),
}
ASYNC = {"coroutine", "async object", "async config", "gives a coroutine"}


def wrapped(allow, **options):
    return PermissionRetriever(retriever=Search(found=passages()), allow=allow, policy="v7", **options)


def compressing(allow):
    return ContextualCompressionRetriever(
        base_compressor=DocumentCompressorPipeline(transformers=[PermissionCompressor(allow=allow, policy="v7")]),
        base_retriever=Search(found=passages()),
    )


def run(app, how, config):
    if how == "async":
        return asyncio.run(app.ainvoke(QUESTION, {**CONFIG, **config}))
    return app.invoke(QUESTION, {**CONFIG, **config})


def ways():
    for name in CHECKS:
        for how in ("sync", "async"):
            if how == "async" or name not in ASYNC:
                yield name, how


@pytest.mark.parametrize("make", [wrapped, compressing])
@pytest.mark.parametrize(("check", "how"), list(ways()))
def test_what_may_be_seen_passes_and_each_decision_is_recorded(make, check, how):
    recorder = Recorder()
    search = make(CHECKS[check])
    chain = (
        {"context": search | as_text, "question": lambda question: question}
        | RunnableLambda(lambda both: f"{both['context']}\n{both['question']}")
        | Scripted(answers=["Thirty days."])
    )
    run(chain, how, recorder.config)
    decided = recorder.one("rag.permission")
    assert decided[a.PERMISSION_IDS] == ("returns", "sale", "gift", "staff", "old")
    assert decided[a.PERMISSION_DECISIONS] == ("allow", "allow", "allow", "deny", "allow")
    assert decided[a.PERMISSION_REASONS] == ("role_not_granted",)
    assert decided[a.PERMISSION_POLICY] == "v7"
    outer, inner = (span.attributes for span in recorder.named("retrieval"))
    if a.RETRIEVAL_CANDIDATES not in outer:
        outer, inner = inner, outer
    assert outer[a.RETRIEVAL_CANDIDATES] == inner[a.RETRIEVAL_IDS] == ("returns", "sale", "gift", "staff", "old")
    assert outer[a.RETRIEVAL_IDS] == ("returns", "sale", "gift", "old")
    call = recorder.one("chat")
    assert call[a.CONTEXT_IDS] == ("returns", "sale", "gift", "old")
    assert a.CONTEXT_DROPPED not in call
    assert recorder.named("rag.filter") == []
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("make", [wrapped, compressing])
def test_the_check_stands_under_the_retrieval_even_without_a_chain(make, how):
    recorder = Recorder()
    found = run(make(customers_only), how, recorder.config)
    assert [each.id for each in found] == ["returns", "sale", "gift", "old"]
    names = recorder.names()
    assert names[0] == "retrieval"
    assert min(names[1:]).startswith("  rag.permission Permission")
    assert max(names[1:]) == "  retrieval"
    assert_well_formed(recorder.spans)


def test_the_config_is_the_callers_in_a_chain_and_alone():
    search = wrapped(by_config)
    people = {"configurable": {"roles": ["people"]}}
    assert len(search.invoke(QUESTION, people)) == 5
    assert len(search.invoke(QUESTION, CONFIG)) == 4
    assert len((search | RunnableLambda(list)).invoke(QUESTION, people)) == 5
    assert [len(each) for each in search.batch([QUESTION] * 2, [people, CONFIG])] == [5, 4]
    assert len((compressing(by_config) | RunnableLambda(list)).invoke(QUESTION, people)) == 5


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("answer", [None, "yes", 1, (1, "x"), (False, 3), (True,), []])
@pytest.mark.parametrize("make", [wrapped, compressing])
def test_an_answer_that_is_none_lets_nothing_pass(make, answer, how):
    with pytest.raises(TypeError, match=r"allow: expected a bool or \(bool, reason\), found a"):
        run(make(lambda document: answer), how, {})


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("make", [wrapped, compressing])
def test_a_check_that_raises_lets_nothing_pass_and_is_an_error(make, how):
    def allow(document):
        if document.id == "gift":
            raise PermissionError("secret")
        return True

    recorder = Recorder()
    with pytest.raises(PermissionError):
        run(make(allow), how, recorder.config)
    check = recorder.one("rag.permission")
    assert check[a.ERROR_TYPE] == "PermissionError"
    decided = {"sync": ("returns", "sale"), "async": None}  # there they are asked in a thread, all at once
    assert check.get(a.PERMISSION_IDS) == decided[how]
    outer = [span for span in recorder.named("retrieval") if span.parent is None]
    assert [span.attributes[a.ERROR_TYPE] for span in outer] == ["PermissionError"]
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("make", [wrapped, compressing])
@pytest.mark.parametrize("allow", [customers_only_async, CHECKS["gives a coroutine"]])
def test_a_coroutine_in_a_sync_call_says_what_to_do(make, allow):
    with pytest.raises(TypeError, match="use ainvoke"):
        make(allow).invoke(QUESTION)


def test_everything_denied_is_an_empty_context():
    recorder = Recorder()
    rag(wrapped(lambda document: (False, "foreign_tenant")), steps=RunnableLambda(list)).invoke(
        QUESTION, recorder.config
    )
    assert recorder.one("chat")[a.CONTEXT_COUNT] == 0
    assert set(recorder.one("rag.permission")[a.PERMISSION_DECISIONS]) == {"deny"}


def test_passages_without_an_id_have_the_ids_that_the_retrieval_recorded():
    found = [
        Document(page_content=text, metadata={"source": "a.md", **more})
        for text, more in (("Goods can be sent back.", {"start_index": 0}), ("x" * 40, {}), ("short", {}))
    ]
    recorder = Recorder()
    search = PermissionRetriever(retriever=Search(found=found), allow=lambda document: "x" not in document.page_content)
    search.invoke(QUESTION, recorder.config)
    inner = next(span for span in recorder.named("retrieval") if a.RETRIEVAL_CANDIDATES not in span.attributes)
    ids = inner.attributes[a.RETRIEVAL_IDS]
    assert recorder.one("rag.permission")[a.PERMISSION_IDS] == ids
    assert (ids[0], ids[2]) == ("a.md#0", "#3")


@pytest.mark.parametrize("inner", [RunnableLambda(lambda query: passages()), Search(found=passages())])
def test_any_runnable_may_search(inner):
    search = PermissionRetriever(retriever=inner, allow=customers_only)
    assert [each.id for each in search.invoke(QUESTION)] == ["returns", "sale", "gift", "old"]


def test_coroutines_run_side_by_side_within_the_bound():
    running, most = 0, 0

    async def allow(document):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return True

    async def main():
        await wrapped(allow).ainvoke(QUESTION)
        unbound = most
        await wrapped(allow).ainvoke(QUESTION, {"max_concurrency": 2})
        return unbound

    assert asyncio.run(main()) == 5
    most = 0
    asyncio.run(wrapped(allow).ainvoke(QUESTION, {"max_concurrency": 2}))
    assert most == 2


def test_a_function_does_not_block_the_event_loop():
    threads = set()

    def allow(document):
        threads.add(threading.get_ident())
        return True

    asyncio.run(wrapped(allow).ainvoke(QUESTION))
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("make", [wrapped, compressing])
def test_without_a_handler_it_only_works(make, how, caplog):
    found = run(make(customers_only), how, {})
    assert [each.id for each in found] == ["returns", "sale", "gift", "old"]
    assert not caplog.records


def test_it_is_a_retriever_like_any_other():
    search = wrapped(customers_only, tags=["t"], metadata={"m": 1})
    assert search.with_config(run_name="x").invoke(QUESTION)
    assert next(iter(search.stream(QUESTION)))
    assert "retriever" in search.get_input_jsonschema()["title"].lower()
    assert search.model_copy(update={"policy": "v8"}).policy == "v8"
