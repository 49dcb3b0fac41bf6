"""A chain's run: plumbing, unless what came out of it shows that it was a stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.stages import Filtering, PermissionCheck, Rerank, Stage
from rag_probe.wire import encode
from rag_probe_langchain.builder import SHORTEST
from rag_probe_langchain.documents import Documents
from rag_probe_langchain.flow import Change, changes
from rag_probe_langchain.known import arrived, minimal, narrowed, passed
from rag_probe_langchain.request import TextStep
from rag_probe_langchain.retrieval import retrieval_attributes
from rag_probe_langchain.run import Ids, Run
from rag_probe_langchain.scan import Found, lists_in, texts_in
from rag_probe_langchain.spans import stage_span


def step_ended(run: Run, outputs: object, ended: int) -> dict[str, Value]:
    """Record what the step did as spans inside its own or beside it; returns what a marked step says of itself."""
    documents = run.request.documents
    after = lists_in(outputs)
    if not after and not len(documents):
        return {}
    before = _before(documents, lists_in(run.inputs))
    if run.mark is not None and run.node is None:
        return marked(run, before, after)
    if run.mark is not None:
        _beside(run, run.mark, marked(run, before, after), ended)
    elif not run.inside_mark:
        _inferred(run, before, after, ended)
    if before and not run.generated:
        _texts(run, before, outputs, ended)
    return {}


def marked(run: Run, before: Mapping[str, Ids], after: list[Found]) -> dict[str, Value]:
    """The stage that the app says this is; without lists where the step shows none."""
    documents = run.request.documents
    out: dict[str, Value] = {a.STAGE: run.mark or "", a.STEP_NAME: run.name}
    if run.mark == "retrieval":
        chunks = documents.add(after[0].passages) if after else None
        if chunks is not None:
            arrived(run.request, chunks.ids)
            passed(run, chunks.ids)
        return retrieval_attributes(run, run.inputs, chunks)
    kept = next(
        (documents.now(found.passages) for found in after if found.passages or found.key in before or not found.key),
        None,
    )
    source = minimal(list(before.values()))
    if kept is None or not before or run.denied is not None:
        return out
    change = Change(source, kept, tuple(name for name in dict.fromkeys(source) if name not in set(kept)), moved=True)
    narrowed(run.request, kept)
    passed(run, kept, source)
    return encode(_stage(run, change), run.request.options.policy.max_items)


def _stage(run: Run, change: Change) -> Stage:
    name = run.name
    match run.mark:
        case "permission":
            ids = tuple(dict.fromkeys(change.before))
            allowed = set(change.after)
            return PermissionCheck(
                step=name, ids=ids, decisions=tuple("allow" if one in allowed else "deny" for one in ids)
            )
        case "rerank":
            return _rerank(run, change.after)
        case _:
            return Filtering(step=name, kept=change.after, dropped=change.dropped)


def _rerank(run: Run, ids: Ids) -> Rerank:
    scores = tuple(run.request.documents.scores.get(name) for name in ids)
    return Rerank(step=run.name, ids=ids, scores=scores if any(score is not None for score in scores) else ())


def _inferred(run: Run, before: Mapping[str, Ids], after: list[Found], ended: int) -> None:
    documents = run.request.documents
    sets: dict[str, Ids] = {}
    for key, passages in after:
        if passages and not before and not documents.knows(passages):
            _retrieved(run, passages, ended)
        elif passages or key in before or not key:
            sets[key] = documents.now(passages)
    for change in changes(before, sets, run.results or ()):
        _changed(run, change, ended)
    direct = sets.get("")
    if direct and before:
        narrowed(run.request, direct)


def _changed(run: Run, change: Change, ended: int) -> None:
    dropped = change.dropped
    if run.denied is not None:
        dropped = tuple(name for name in dropped if name not in run.denied)
    cap = run.request.options.policy.max_items
    if change.moved:
        _beside(run, "rerank", encode(_rerank(run, change.after), cap), ended)
    if dropped:
        stage = Filtering(step=run.name, kept=change.after, dropped=dropped)
        _beside(run, "filter", encode(stage, cap), ended)
    narrowed(run.request, change.after)
    passed(run, change.after, change.before)


def _retrieved(run: Run, passages: Sequence[object], ended: int) -> None:
    """A function that returned passages out of nothing: it searched, outside of LangChain's retrievers."""
    chunks = run.request.documents.add(passages)
    arrived(run.request, chunks.ids)
    passed(run, chunks.ids)
    attributes = retrieval_attributes(run, run.inputs, chunks)
    attributes[a.INFERRED] = ("retrievals",)
    _beside(run, "retrieval", attributes, ended)


def _beside(run: Run, kind: str, attributes: dict[str, Value], ended: int) -> None:
    above = run if run.node is not None else run.above
    name = "retrieval" if kind == "retrieval" else f"rag.{kind} {run.name}"
    stage_span(above, run.request, name, attributes, run.started, ended)


def _texts(run: Run, before: Mapping[str, Ids], outputs: object, ended: int) -> None:
    request = run.request
    made = [text for text in texts_in(outputs) if len(text) >= SHORTEST]
    if not made:
        return
    narrowed(request, minimal(list(before.values())))
    known = {step.text for step in request.texts}
    request.texts.extend(TextStep(text, run, ended) for text in made if text not in known)


def _before(documents: Documents, found: list[Found]) -> dict[str, Ids]:
    sets = {item.key: documents.before(item.passages) for item in found}
    return {key: ids for key, ids in sets.items() if ids}
