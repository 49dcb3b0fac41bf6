"""An app that nobody changed: instrumented for the length of a block, and put back as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer, Document
from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langchain_core.vectorstores import VectorStore
from opentelemetry import trace
from opentelemetry.context import get_current
from opentelemetry.trace import INVALID_SPAN, Tracer, set_span_in_context

from rag_probe_langchain import RagProbeInstrumentor
from tests.rag_probe_langchain.apps import ANSWER, Scripted, Search, allowed, as_text, not_old, passages, rag
from tests.rag_probe_langchain.recorded import Recorder, assert_nothing_open

_CLASSES = (BaseRetriever, BaseChatModel, BaseLLM, BaseDocumentCompressor, BaseDocumentTransformer, VectorStore)


@contextmanager
def instrumented(*kinds: Any, **options: Any) -> Iterator[Recorder]:
    """A recorder to which everything is written; afterwards all is as it was, and nothing is current."""
    recorder = Recorder(**options)
    options.pop("sampler", None)
    before, context = held(), get_current()
    instrumentors = [kind() for kind in kinds or (RagProbeInstrumentor,)]
    for each in instrumentors:
        each.instrument(tracer_provider=recorder.provider, **options)
    try:
        yield recorder
    finally:
        for each in instrumentors:
            each.uninstrument()
    after = held()
    assert {key: after.get(key) for key in before} == before
    assert not [key for key, value in after.items() if "_rag_probe_wraps" in getattr(value, "__dict__", {})]
    assert get_current() == context
    assert_nothing_open()


def held() -> dict[tuple[object, str], object]:
    """Every function of LangChain and LangGraph that may be wrapped, as it stands now."""
    modules = ("langchain_core.runnables.config", "langgraph._internal._runnable", "langgraph.pregel.main")
    owners: list[Any] = [*map(import_module, modules)]
    for base in _CLASSES:
        owners += [base, *_descendants(base)]
    return {
        (owner, name): value
        for owner in owners
        for name, value in vars(owner).items()
        if callable(value) or isinstance(value, classmethod)
    }


def _descendants(base: type) -> list[type]:
    found = type.__subclasses__(base)
    return [*found, *(each for child in found for each in _descendants(child))]


Work = Callable[[str], None]


def spans_of(tracer: Tracer) -> Work:
    """What a database client does: a span under the ambient one."""

    def work(name: str) -> None:
        with tracer.start_as_current_span(name):
            pass

    return work


class WorkingSearch(Search):
    """Does some work in its body."""

    work: Any

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        self.work("in the retriever")
        return super()._get_relevant_documents(query, run_manager=run_manager)


class WorkingModel(Scripted):
    """Does some work in its body; while it streams, before every word."""

    work: Any

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.work("in the model")
        return super()._generate(messages, *args, **kwargs)

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        self.work("in the model")
        for each in super()._stream(messages, *args, **kwargs):
            self.work("in the model, streaming")
            yield each


def working(work: Work) -> Any:
    """The app of apps.py, with some work in every body."""

    def recent(found: list[Document]) -> list[Document]:
        work("in a step")
        return not_old(found)

    def permitted(found: list[Document]) -> list[Document]:
        work("in a marked step")
        return allowed(found)

    marked = RunnableLambda(permitted).with_config(metadata={"rag.stage": "permission"})
    return rag(
        WorkingSearch(found=passages(), work=work),
        WorkingModel(answers=[ANSWER], work=work),
        RunnableLambda(recent) | marked,
    )


def working_tool(work: Work) -> StructuredTool:
    """A tool that searches, and works before it."""
    search = WorkingSearch(found=passages(), work=work)

    def look_up(query: str) -> str:
        """Look it up."""
        work("in the tool")
        return as_text(search.invoke(query))

    return StructuredTool.from_function(look_up)


@contextmanager
def nothing_current() -> Iterator[None]:
    """Whatever happens inside, no span of ours is left current."""
    before = trace.get_current_span()
    try:
        yield
    finally:
        assert trace.get_current_span() is before


def without_span() -> Any:
    """A context in which no span is current."""
    return set_span_in_context(INVALID_SPAN)
