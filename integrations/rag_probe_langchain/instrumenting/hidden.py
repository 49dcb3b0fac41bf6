"""What happens to passages inside a retriever and no callback tells: compressors, transformers, searches of a store."""

# ruff: noqa: ANN401 - the wrapped functions are LangChain's
from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutinefunction
from time import time_ns
from typing import Any, Final, NamedTuple

from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer
from langchain_core.vectorstores import VectorStore

from rag_probe.faults import log_once
from rag_probe.stages import Filtering, Rerank, Stage
from rag_probe.wire import encode
from rag_probe_langchain.bodies import retriever
from rag_probe_langchain.flow import verdict
from rag_probe_langchain.hits import note_hits
from rag_probe_langchain.instrumenting.families import Family
from rag_probe_langchain.instrumenting.wrapping import Function, Wrap
from rag_probe_langchain.known import passed
from rag_probe_langchain.parents import Source, origins, with_parents
from rag_probe_langchain.request import StageSpan
from rag_probe_langchain.run import Run
from rag_probe_langchain.scan import sequence


class _Given(NamedTuple):
    """A call inside a retriever's run, before its function runs."""

    run: Run
    step: str
    source: Source | None
    """The passages that it was given; None for a search."""
    started: int


def _observed(note: Callable[[_Given, object], None], *, given: bool) -> Wrap:
    """The function, and then `note`, if all that stands inside a retriever; `given`: it is given passages."""

    def wrap(function: Callable[..., Any]) -> Function:
        async def call_async(own: object, *args: Any, **kwargs: Any) -> Any:
            call = _before(own, args, kwargs, given)
            result = await function(own, *args, **kwargs)
            _after(note, call, result)
            return result

        def call(own: object, *args: Any, **kwargs: Any) -> Any:
            call = _before(own, args, kwargs, given)
            result = function(own, *args, **kwargs)
            _after(note, call, result)
            return result

        return call_async if iscoroutinefunction(function) else call

    return wrap


def _before(own: object, args: tuple[Any, ...], kwargs: dict[str, Any], given: bool) -> _Given | None:
    run = retriever()
    if run is None or not run.request.recording:
        return None
    try:
        source = None
        passages = sequence(args[0] if args else kwargs.get("documents")) if given else None
        if passages is not None:
            with run.request.lock:
                source = Source(passages, run.request.documents.before(passages))
        return _Given(run, type(own).__name__, source, time_ns())
    except Exception as error:  # the retriever goes on unharmed
        log_once("a step inside a retriever", error)
        return None


def _after(note: Callable[[_Given, object], None], call: _Given | None, result: object) -> None:
    if call is None:
        return
    try:
        with call.run.request.lock:
            note(call, result)
    except Exception as error:  # as above
        log_once("a step inside a retriever", error)


def _searched(call: _Given, result: object) -> None:
    passages = sequence(result)
    if passages is not None:
        note_hits(call.run, passages, call.started)


def _compressed(call: _Given, result: object) -> None:
    """A compressor or a transformer gave back what it made of its passages: it ranked them, or filtered."""
    passages, request = sequence(result), call.run.request
    if passages is None or call.source is None or not call.source.ids:
        return
    run, source, scores = call.run, call.source.ids, dict(request.documents.scores.latest)
    keys = request.options.policy.score_keys
    chunks = with_parents(request.documents.add(passages), passages, [call.source], keys).chunks
    after = origins(chunks)
    if after in (run.results or ()):  # what ran inside this very step did it, or it did nothing
        return
    told = {name: score for name, score in zip(after, chunks.scores, strict=False) if score is not None}
    request.documents.scores.latest.update(told)
    if set(after) <= set(source):
        rescored = any(scores.get(name) != score for name, score in told.items())
        reranked, left_out = verdict(source, after, rescored=rescored, ranks=True)
        if reranked:
            _record(call, Rerank(step=call.step, ids=after, scores=chunks.scores if rescored else ()))
        elif dropped := tuple([name for name in left_out if name not in (run.denied or ())]):
            _record(call, Filtering(step=call.step, kept=after, dropped=dropped))
    passed(run, request, after, source)


def _record(call: _Given, stage: Stage) -> None:
    request = call.run.request
    attributes = encode(stage, request.options.policy.max_items)
    request.touched = ended = time_ns()
    request.pending.append(StageSpan(call.run, attributes, call.started, ended))


_WORK: Final = _observed(_compressed, given=True)
_SEARCH: Final = _observed(_searched, given=False)
_SEARCHES: Final = (
    "similarity_search",
    "similarity_search_with_score",
    "similarity_search_with_relevance_scores",
    "similarity_search_by_vector",
    "max_marginal_relevance_search",
    "max_marginal_relevance_search_by_vector",
)

FAMILIES: Final = (
    Family(BaseDocumentCompressor, {"compress_documents": _WORK, "acompress_documents": _WORK}),
    Family(BaseDocumentTransformer, {"transform_documents": _WORK, "atransform_documents": _WORK}),
    Family(VectorStore, {prefix + name: _SEARCH for name in _SEARCHES for prefix in ("", "a")}),
)
