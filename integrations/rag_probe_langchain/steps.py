"""A chain's run: plumbing, unless what came out of it shows that it was a stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.stages import Filtering
from rag_probe.wire.decisions import encode_filtering, encode_plain_filtering
from rag_probe.wire.retrieval import encode_rerank
from rag_probe_langchain.builder import SHORTEST
from rag_probe_langchain.documents import Documents, bare
from rag_probe_langchain.fans import gather, settle
from rag_probe_langchain.flow import Change, changes, fallen, is_thinned
from rag_probe_langchain.known import found, minimal, narrowed, passed
from rag_probe_langchain.leftovers import without_leftovers
from rag_probe_langchain.marked import marked, reranked
from rag_probe_langchain.parents import Source, with_parents
from rag_probe_langchain.request import Request, TextStep
from rag_probe_langchain.retrieval import retrieval_attributes
from rag_probe_langchain.run import Ids, Inner, Run
from rag_probe_langchain.scan import Found, holds_none, lists_in, mapping, sequence, shape_of, texts_in
from rag_probe_langchain.spans import add_stage
from rag_probe_langchain.trace_policy import held


def is_plumbing(run: Run, outputs: object) -> bool:
    """The quick way out: whether nothing about passages can be learned from a step that returned this."""
    if run.inside_mark:
        return True
    if not holds_none(outputs):
        return False
    return shape_of(type(outputs)) == "opaque" or not run.request.documents.any or holds_none(run.inputs)


def step_ended(run: Run, outputs: object, ended: int) -> dict[str, Value]:
    """Record what the step turned out to be, beside it or under its node; returns what a marked step says of itself."""
    if run.fan is not None:
        settle(run)
    documents = run.request.documents
    if run.trace_policy is not None:
        run.held = held(run.trace_policy, run.inputs, outputs)
    if _thinned(run, outputs, ended):
        return {}
    after = lists_in(outputs)
    if run.node is not None:
        run.empty = outputs is None or mapping(outputs) == {}
        if documents.any and gather(run, after, outputs, ended):
            return {}
    if run.mark is not None:
        return _marked(run, after, outputs, ended)
    if run.inside_mark or not (after or documents.any):
        return {}
    before = _before(documents, run.inputs)
    if after:
        _inferred(run, before, after, ended)
    if before and not run.generated:
        _texts(run, before, outputs, ended)
    return {}


def _thinned(run: Run, outputs: object, ended: int) -> bool:
    """The usual filter at a glance: out of a list that was seen came some of its very passages, as they stood.

    False, and nothing done, where this has to be looked at; `_inferred` says the same of it.
    """
    passages = sequence(outputs)
    if not passages or run.mark is not None or run.node is not None or run.inside_mark or run.results is not None:
        return False
    documents = run.request.documents
    source, kept = documents.seen(run.inputs), documents.known(passages)
    if not kept or documents.scores.rescored or not is_thinned(source, kept):
        return False
    documents.remember(passages, kept)
    if kept == source:
        narrowed(run.parent, run.request, kept)
    else:
        _changed(run, Change(source, kept, fallen(source, kept), moved=False, late=False), ended)
    return True


def _marked(run: Run, after: Sequence[Found], outputs: object, ended: int) -> dict[str, Value]:
    assert run.mark is not None
    before = _before(run.request.documents, run.inputs)
    said = marked(run, run.mark, before, after, outputs, ended)
    if before and not run.generated:
        _texts(run, before, outputs, ended)
    if run.node is None:
        return said
    add_stage(run, said, ended)
    return {}


def _inferred(run: Run, before: Mapping[str, Ids], after: Sequence[Found], ended: int) -> None:
    sets = _after(run, before, after, ended)
    if not before and run.results is None:
        return
    if len(before) > 1 or (before and not all(sets.values())):
        before = without_leftovers(run, before, after)
    found = changes(before, sets, run.results or ())
    for change in found:
        _changed(run, change, ended)
    direct = sets.get("")
    if direct and before:
        _rescored(run, direct, ended)
        if not found or found[-1].after != direct:
            narrowed(run.parent, run.request, direct)


def _after(run: Run, before: Mapping[str, Ids], after: Sequence[Found], ended: int) -> dict[str, Ids]:
    """The lists that came out, by their keys; what is new in them was searched."""
    documents = run.request.documents
    called = run.kind == "tool" and not before and run.results is None
    sets: dict[str, Ids] = {}
    for key, passages in after:
        if not (passages or key in before or not key):
            continue
        ids = documents.known(passages)
        if ids is None or (called and passages):
            news = bare(passages) if called else documents.news(passages)
            if news:
                _retrieved(run, news, ended, added=bool(before) and len(news) < len(passages))
            ids = documents.now(passages)
        elif documents.seen(passages) is not ids:
            documents.remember(passages, ids)
        sets[key] = ids
    return sets


def _changed(run: Run, change: Change, ended: int) -> None:
    cap = run.request.options.policy.max_items
    dropped = tuple([name for name in change.dropped if name not in run.denied]) if run.denied else change.dropped
    if change.moved:
        add_stage(run, encode_rerank(reranked(run, change.after), cap), ended, late=change.late)
    if dropped:
        add_stage(run, _filtering(run.name, change.after, dropped, cap), ended, late=change.late)
    narrowed(run.parent, run.request, change.after)
    passed(run.parent, run.request, change.after, change.before)


def _filtering(step: str, kept: Ids, dropped: Ids, cap: int) -> dict[str, Value]:
    """All ids are well-formed, those that the app told too: identifiers.py made them."""
    if kept and max(len(kept), len(dropped)) <= cap:
        return encode_plain_filtering(step, kept, dropped)
    return encode_filtering(Filtering(step=step, kept=kept, dropped=dropped), cap)


def _rescored(run: Run, ids: Ids, ended: int) -> None:
    """Other scores in the same order are a reranking too."""
    rescored = run.request.documents.scores.rescored
    if rescored and not rescored.isdisjoint(ids):
        rescored.clear()
        add_stage(run, encode_rerank(reranked(run, ids), run.request.options.policy.max_items), ended)


def _retrieved(run: Run, news: Sequence[object], ended: int, *, added: bool) -> None:
    """A function that returned passages which nobody had seen has searched, outside of LangChain's retrievers.

    So has a tool with whatever it returned, call by call. Or it rewrote those that it was given: these are parents.
    What it `added` to passages that it was given, and made of none of them, nobody retrieved (checklist 29).
    """
    documents = run.request.documents
    given = [Source(passages, documents.before(passages)) for _, passages in lists_in(run.inputs) if passages]
    made = with_parents(documents.add(news), news, given, run.request.options.policy.score_keys)
    if added and not any(made.chunks.parents):
        return
    found(run.parent, run.request, Inner(news, made.chunks.ids, made.chunks.scores, run.started))
    passed(run.parent, run.request, made.chunks.ids)
    attributes = retrieval_attributes(run, run.inputs, made.chunks)
    attributes[a.INFERRED] = ("retrievals", "retrieved") if made.guessed else ("retrievals",)
    add_stage(run, attributes, ended)


def _texts(run: Run, before: Mapping[str, Ids], outputs: object, ended: int) -> None:
    """A step that made text of passages may have built a context: the next prompt will tell."""
    request = run.request
    made = [text for text in texts_in(outputs) if len(text) >= SHORTEST and not _is_known(request, text)]
    if made:
        narrowed(run.parent, request, minimal(list(before.values())))
        if not run.built:
            request.add_texts([TextStep(text, run, ended) for text in made])


def _is_known(request: Request, text: str) -> bool:
    return any(step.text == text for step in request.texts)


def _before(documents: Documents, inputs: object) -> dict[str, Ids]:
    ids = documents.seen(inputs)
    if ids:
        return {"": ids}
    return {key: ids for key, passages in lists_in(inputs) if (ids := documents.before(passages))}
