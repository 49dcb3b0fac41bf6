"""Threads in the midst of a step: what hangs under it, what begins anew (issue B: threads without context)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import anyio
import pytest
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import ContextThreadPoolExecutor

from rag_probe import stage, tell
from tests.rag_probe_langchain.apps import Search, passages
from tests.scenarios.recording import Recording

SEARCH = Search(found=passages())


def inner(question: str) -> None:
    """A retrieval, a stage and something that the app tells."""
    SEARCH.invoke(question)
    with stage("filter", "freshness") as noted:
        noted.keep("returns")
    tell.confidence(0.5)


def asked(recording: Recording, step: Any) -> dict[str, list[str]]:
    """Names of spans by the root that they stand under."""
    outer = RunnableLambda(step).with_config(run_name="outer")
    if asyncio.iscoroutinefunction(step):
        asyncio.run(outer.ainvoke("?", {"callbacks": [recording.handler]}))
    else:
        outer.invoke("?", {"callbacks": [recording.handler]})
    recording.tree(parallel=True)
    roots = {span.context.trace_id: span.name for span in recording.spans if span.parent is None}
    found: dict[str, list[str]] = {name: [] for name in roots.values()}
    for span in recording.spans:
        if span.parent is not None:
            found[roots[span.context.trace_id]].append(span.name)
    return {name: sorted(below) for name, below in found.items()}


def with_a_copy(question: str) -> str:
    with ThreadPoolExecutor(1) as threads:
        threads.submit(copy_context().run, inner, question).result()
    return question


def with_langchain_s_own_pool(question: str) -> str:
    with ContextThreadPoolExecutor(1) as threads:
        threads.submit(inner, question).result()
    return question


async def to_thread(question: str) -> str:
    await asyncio.to_thread(inner, question)
    return question


async def by_anyio(question: str) -> str:
    await anyio.to_thread.run_sync(inner, question)
    return question


async def as_a_task(question: str) -> str:
    async def work() -> None:
        inner(question)

    await asyncio.create_task(work())
    return question


@pytest.mark.parametrize("step", [with_a_copy, with_langchain_s_own_pool, to_thread, by_anyio, as_a_task])
def test_with_the_context_everything_hangs_under_the_step(step: Callable[..., Any]) -> None:
    recording = Recording()
    assert asked(recording, step) == {"invoke_workflow outer": ["rag.filter freshness", "retrieval"]}
    (root,) = [span for span in recording.spans if span.parent is None]
    assert (root.attributes or {})["rag.answer.confidence"] == 0.5


def test_in_a_bare_thread_nobody_knows_the_step() -> None:
    """Without the handler nothing is recorded there, and what is told about no question is left out."""

    def bare(question: str) -> str:
        with ThreadPoolExecutor(1) as threads:
            threads.submit(inner, question).result()
        return question

    recording = Recording()
    assert asked(recording, bare) == {"invoke_workflow outer": []}
    (root,) = recording.spans
    assert "rag.answer.confidence" not in (root.attributes or {})


def test_in_a_bare_thread_the_config_carries_the_step_along() -> None:
    """LangChain's own way: it names the parent, so that runs hang under it; `stage` and `tell` need the context."""

    def configured(question: str, config: RunnableConfig) -> str:
        with ThreadPoolExecutor(1) as threads:
            threads.submit(SEARCH.invoke, question, config).result()
        return question

    assert asked(Recording(), configured) == {"invoke_workflow outer": ["retrieval"]}


def test_in_a_bare_thread_a_handler_of_its_own_begins_a_question_of_its_own() -> None:
    recording = Recording()

    def separate(question: str) -> str:
        with ThreadPoolExecutor(1) as threads:
            threads.submit(SEARCH.invoke, question, {"callbacks": [recording.handler]}).result()
        return question

    assert asked(recording, separate) == {"invoke_workflow outer": [], "retrieval": []}
