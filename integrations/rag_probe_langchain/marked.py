"""A step that the app marked as a stage: what went in and came out is read as that stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.stages import ContextAssembly, Filtering, PermissionCheck, Rerank, Stage
from rag_probe.wire import encode
from rag_probe_langchain.context import assemble
from rag_probe_langchain.known import minimal, narrowed, passed
from rag_probe_langchain.marks import POLICY, text_of
from rag_probe_langchain.retrieval import retrieval_ended
from rag_probe_langchain.run import Ids, Mark, Run
from rag_probe_langchain.scan import Found, texts_in


def marked(
    run: Run, mark: Mark, before: Mapping[str, Ids], after: Sequence[Found], outputs: object, ended: int
) -> dict[str, Value]:
    """The stage as attributes; its name alone where the step shows no passages or the app told the decisions itself."""
    if mark == "retrieval":
        return retrieval_ended(run, after[0].passages if after else None, ended)
    stage = _stage(run, mark, before, after, outputs)
    if stage is None:
        return {a.STAGE: mark, a.STEP_NAME: run.name}
    return encode(stage, run.request.options.policy.max_items)


def _stage(run: Run, mark: Mark, before: Mapping[str, Ids], after: Sequence[Found], outputs: object) -> Stage | None:
    source = minimal(list(before.values()))
    kept = _kept(run, before, after)
    if mark == "context":
        return _context(run, source, kept, outputs)
    if kept is None or not before or run.denied is not None:
        return None
    narrowed(run.parent, run.request, kept)
    passed(run.parent, run.request, kept, source)
    return decided(run, mark, tuple(dict.fromkeys(source)), kept)


def decided(run: Run, mark: Mark, source: Ids, kept: Ids) -> Stage:
    """What a step made of `source`, as the stage that it is marked as."""
    left = set(kept)
    match mark:
        case "permission":
            return PermissionCheck(
                step=run.name,
                ids=source,
                decisions=tuple(["allow" if name in left else "deny" for name in source]),
                policy=text_of(run.metadata, POLICY),
            )
        case "filter":
            return Filtering(step=run.name, kept=kept, dropped=tuple([name for name in source if name not in left]))
        case "rerank":
            return reranked(run, kept)
        case "retrieval" | "context":
            raise AssertionError(mark)
        case _:
            assert_never(mark)


def _context(run: Run, source: Ids, kept: Ids | None, outputs: object) -> ContextAssembly | None:
    """Of a step that builds the text, what stands in it; of one that only picks passages, those."""
    if kept is not None:
        left = set(kept)
        return ContextAssembly(step=run.name, ids=kept, dropped=tuple([name for name in source if name not in left]))
    for text in texts_in(outputs):
        seen = assemble(text, source, run.request)
        if seen is not None:
            return replace(seen.stage, step=run.name)
    return None


def _kept(run: Run, before: Mapping[str, Ids], after: Sequence[Found]) -> Ids | None:
    documents = run.request.documents
    for key, passages in after:
        if passages or not key or key in before:
            return documents.now(passages)
    return None


def reranked(run: Run, ids: Ids) -> Rerank:
    """The passages in their new order, with the latest scores; of one that stands there twice, none is known."""
    run.request.documents.scores.rescored.clear()
    known = run.request.documents.scores.latest
    places = Counter(ids)
    scores = tuple([known.get(name) if places[name] == 1 else None for name in ids])
    return Rerank(step=run.name, ids=ids, scores=scores if any(score is not None for score in scores) else ())
