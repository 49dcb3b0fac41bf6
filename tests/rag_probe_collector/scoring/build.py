"""Cases and paths in as few words as a test needs, and strategies for random ones."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from rag_probe.path import Drop, EvidencePath, Filtered, Permission, Ranked, Step, Verdict
from rag_probe.stages import (
    Answer,
    Budget,
    CaseTags,
    Chunks,
    Citations,
    Content,
    ContextAssembly,
    Generation,
    Node,
    Rerank,
    Retrieval,
)
from rag_probe_collector.metrics.facts import observe
from rag_probe_collector.metrics.labels import prepare
from rag_probe_collector.register import Case, Claim, Corpus, Entry, Passage, Requirement, Review
from rag_probe_collector.scoring import Reviews, score

PATH_ID = "t:s"


def case(allowed="", gold="", answerable=None, **more):
    """`case("a b", "a")`: ids are words."""
    gold_ids = frozenset(gold.split())
    return Case(
        id="q",
        segment="s",
        question="?",
        allowed_ids=frozenset(allowed.split()),
        gold_ids=gold_ids,
        answerable=bool(gold_ids) if answerable is None else answerable,
        **more,
    )


def needs(*groups, start=None, end=None, **more):
    """A requirement with the groups `"a b"`, `"c"`."""
    passages = (tuple(Passage(id=each, start=start, end=end, **more) for each in group.split()) for group in groups)
    return Requirement(id=f"needs {groups[0]}", groups=tuple(passages))


def path(retrieved=None, context=None, cited=None, outcome="answered", text="yes", **more):
    """Ids are words, or a stage is given whole; None is not captured."""
    if isinstance(retrieved, str):
        retrieved = Chunks(ids=tuple(dict.fromkeys(retrieved.split())))
    if isinstance(context, str):
        context = ContextAssembly(ids=tuple(context.split()))
    if isinstance(cited, str):
        cited = Citations(ids=tuple(cited.split()))
    known = {
        "path_id": PATH_ID,
        "trace_id": "t",
        "tags": CaseTags(case_id="q"),
        "retrieved": retrieved,
        "context": context,
        "citations": cited,
        "answer": Answer(outcome=outcome, content=Content(length=len(text), text=text), citations=cited),
    }
    return EvidencePath(**{**known, **more})


def retrieval(documents, candidates=None, reranked=None, **columns):
    chunks = Chunks(ids=tuple(documents.split()), **columns)
    other = None if candidates is None else Chunks(ids=tuple(candidates.split()))
    ranking = None if reranked is None else Rerank(ids=tuple(reranked.split()))
    return Step(Retrieval(documents=chunks, candidates=other, reranked=ranking))


def filtered(kept, dropped=""):
    return Filtered(kept=tuple(kept.split()), dropped=tuple(Drop(each, "old", "f") for each in dropped.split()))


def permissions(allow="", deny=""):
    return (
        *(Permission(each, "allow") for each in allow.split()),
        *(Permission(each, "deny", "foreign_tenant") for each in deny.split()),
    )


def context(ids, **more):
    return ContextAssembly(ids=tuple(ids.split()), **more)


def corpus(*entries):
    """`("a", "doc", "r1", "current")` each."""
    rows = [
        Entry(id=name, document=document, revision=revision, status=status)
        for name, document, revision, status in entries
    ]
    return Corpus(name="corpus", entries={row.id: row for row in rows})


def counts(supported, total, **more):
    return Review(case_id="q", path_id=PATH_ID, reviewer="mira", supported_claims=supported, total_claims=total, **more)


def claims(*found, **more):
    return Review(**{"case_id": "q", "path_id": PATH_ID, "reviewer": "mira", "claims": tuple(found), **more})


def claim(context=True, citation=True, correct=True, cited="a", **more):
    return Claim(
        claim="x",
        supported_by_supplied_context=context,
        supported_by_attached_citation=citation,
        correct_against_current_rules=correct,
        cited_span_id=cited,
        **more,
    )


def scored(labelled, found, *reviews, manifest=None, key=None):
    return score(prepare(labelled, manifest), found, Reviews(reviews, key))


def facts(labelled, found, review=None, manifest=None):
    return observe(prepare(labelled, manifest), found, review)


def broken(labelled, found, *reviews, **more):
    row = scored(labelled, found, *reviews, **more)
    return (row.broken_stage, row.mechanism)


names = st.sampled_from("abcdef")
verdicts = st.builds(
    Verdict,
    st.booleans(),
    st.none() | names,
    st.none() | st.integers(1, 9),
    st.none() | st.sampled_from([Content(length=3, text="yes"), Content(length=2, text="no"), Content(length=2)]),
    st.none() | st.booleans(),
)
ids = st.lists(names, max_size=5).map(" ".join)
maybe_ids = st.none() | ids
outcomes = st.sampled_from(["answered", "partial", "clarification", "abstained", "error"])


@st.composite
def labelled(draw):
    """Labels that the loader would accept, with and without requirements."""
    allowed = draw(st.sets(names))
    gold = draw(st.sets(st.sampled_from(sorted(allowed)))) if allowed else set()
    plain = case(" ".join(allowed), " ".join(gold))
    if not draw(st.booleans()):
        return plain
    groups = st.lists(ids.filter(bool), min_size=1, max_size=3)
    found = draw(st.lists(groups.map(lambda each: needs(*each)), min_size=1, max_size=3))
    found = tuple(replace(each, id=str(at)) for at, each in enumerate(found))
    return replace(plain, requirements=found, answerable=True)


@st.composite
def answered(draw):
    """Paths with any gap, any order, any nonsense."""
    documents = draw(maybe_ids)
    known = draw(st.booleans())
    return path(
        documents,
        draw(maybe_ids),
        draw(maybe_ids),
        draw(outcomes),
        retrievals=(retrieval(documents, draw(maybe_ids)),) if documents is not None and known else None,
        reranked=draw(
            st.none()
            | st.lists(names, max_size=3).map(lambda each: tuple(Ranked(one, at) for at, one in enumerate(each, 1)))
        ),
        filtered=draw(st.none() | st.builds(filtered, ids, ids)),
        permissions=draw(st.none() | st.builds(permissions, ids, ids)),
        budget=draw(st.none() | st.just(Budget(limit=10))),
        generations=draw(st.none() | st.just((Step(Generation(model="m", context=context("a"))),))),
        nodes=draw(st.none() | st.just((Step(Node(name="n")),))),
        verdicts=draw(st.none() | st.lists(verdicts, max_size=3).map(tuple)),
        inferred=draw(st.sampled_from([(), ("answer.outcome",), ("context", "citations")])),
        error=draw(st.none() | st.just("ValueError")),
    )


reviews = (
    st.none()
    | st.builds(counts, st.integers(0, 3), st.just(3))
    | st.lists(st.builds(claim, *[st.none() | st.booleans()] * 3, st.none() | names), min_size=1, max_size=3).map(
        lambda found: claims(*found)
    )
)
