"""Hypothesis strategies for stages in their normal form: a column is empty or knows something."""

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
    Filtering,
    Generation,
    Identity,
    Node,
    PermissionCheck,
    Rerank,
    Retrieval,
    Root,
    ToolCall,
    Verdicts,
)

words = st.text(min_size=1, max_size=12)
numbers = st.integers(min_value=0, max_value=2**31)
floats = st.floats(allow_nan=False, allow_infinity=False)
maybe_words = st.none() | words
maybe_numbers = st.none() | numbers


def ids(max_size=6):
    return st.lists(words, max_size=max_size).map(tuple)


def column(draw, size, values):
    """Nothing, or one value or gap per item, with at least one value."""
    if not size or draw(st.booleans()):
        return ()
    drawn = tuple(draw(st.lists(st.none() | values, min_size=size, max_size=size)))
    return drawn if any(value is not None for value in drawn) else ()


def some(strategy, empty):
    """`strategy` in normal form: a value that says nothing is None."""
    return st.none() | strategy.filter(lambda value: value != empty)


contents = some(st.builds(Content, length=maybe_numbers, digest=maybe_words, text=maybe_words), Content())
budgets = some(st.builds(Budget, limit=maybe_numbers, used=maybe_numbers, tokenizer=maybe_words), Budget())


@st.composite
def chunks(draw):
    names = draw(ids())
    size = len(names)
    text = [column(draw, size, words) for _ in range(6)]
    extra = draw(st.none() | st.integers(1, 500)) if names else None
    return Chunks(
        ids=names,
        scores=column(draw, size, floats),
        documents=text[0],
        revisions=text[1],
        tenants=text[2],
        id_rules=text[3],
        parents=text[4],
        texts=text[5],
        count=None if extra is None else size + extra,
    )


retrievals = st.builds(
    Retrieval,
    name=maybe_words,
    query=contents,
    top_k=maybe_numbers,
    documents=st.none() | chunks(),
    candidates=st.none() | st.builds(Chunks, ids=ids()),
)


@st.composite
def reranks(draw, steps=maybe_words):
    names = draw(ids())
    return Rerank(step=draw(steps), ids=names, scores=column(draw, len(names), floats))


@st.composite
def filterings(draw):
    dropped = draw(ids())
    return Filtering(
        step=draw(maybe_words), kept=draw(ids()), dropped=dropped, reasons=column(draw, len(dropped), words)
    )


@st.composite
def permissions(draw):
    names = draw(ids())
    size = len(names)
    return PermissionCheck(
        step=draw(maybe_words),
        ids=names,
        decisions=tuple(draw(st.lists(st.sampled_from(["allow", "deny"]), min_size=size, max_size=size))),
        reasons=column(draw, size, words),
        policy=draw(maybe_words),
    )


ranges = st.tuples(numbers, numbers).map(sorted).map(tuple)


@st.composite
def contexts(draw, steps=maybe_words):
    names, dropped = draw(ids()), draw(ids())
    size = len(names)
    kept = tuple(tuple(draw(st.lists(ranges, max_size=2))) for _ in names)
    return ContextAssembly(
        step=draw(steps),
        ids=names,
        tokens=column(draw, size, numbers),
        truncated=column(draw, size, st.booleans()),
        kept=kept if any(kept) else (),
        duplicate_of=column(draw, size, words),
        dropped=dropped,
        dropped_reasons=column(draw, len(dropped), words),
        budget=draw(budgets),
        tokenizer=draw(maybe_words),
    )


generations = st.builds(
    Generation,
    operation=st.sampled_from(["chat", "text_completion", "generate_content"]),
    role=maybe_words,
    model=maybe_words,
    response_model=maybe_words,
    provider=maybe_words,
    input_tokens=maybe_numbers,
    output_tokens=maybe_numbers,
    cached_tokens=maybe_numbers,
    cache_write_tokens=maybe_numbers,
    reasoning_tokens=maybe_numbers,
    finish_reasons=st.lists(words, max_size=2).map(tuple),
    cache_hit=st.none() | st.booleans(),
    prompt=contents,
    output=contents,
    context=st.none() | contexts(steps=st.none()),
)

tools = st.builds(ToolCall, name=maybe_words, call_id=maybe_words)


@st.composite
def citations(draw):
    names = draw(ids())
    size = len(names)
    return Citations(
        ids=names,
        markers=column(draw, size, words),
        starts=column(draw, size, numbers),
        ends=column(draw, size, numbers),
        valid=column(draw, size, st.booleans()),
    )


answers = st.builds(
    Answer,
    outcome=st.none() | st.sampled_from(["answered", "partial", "clarification", "abstained", "error"]),
    content=contents,
    confidence=st.none() | floats,
    citations=st.none() | citations(),
).filter(lambda answer: answer != Answer())

tags = st.builds(
    CaseTags,
    experiment=maybe_words,
    case_id=maybe_words,
    case_run=maybe_words,
    repetition=st.none() | st.integers(0, 999_999),
    configuration=maybe_words,
    dataset_version=maybe_words,
    corpus_version=maybe_words,
)


@st.composite
def told_verdicts(draw):
    passed = tuple(draw(st.lists(st.booleans(), min_size=1, max_size=4)))
    size = len(passed)
    extra = draw(st.none() | st.integers(1, 500))
    return Verdicts(
        passed=passed,
        nodes=column(draw, size, words),
        steps=column(draw, size, numbers),
        lengths=column(draw, size, numbers),
        digests=column(draw, size, words),
        count=None if extra is None else size + extra,
    )


identities = some(st.builds(Identity, subject=maybe_words, tenant=maybe_words, roles=ids()), Identity())
roots = st.builds(
    Root,
    tags=tags,
    identity=identities,
    question=contents,
    thread_id=maybe_words,
    answer=st.none() | answers,
    verdicts=st.none() | told_verdicts(),
    paused_at=maybe_words,
    resumed_at=maybe_words,
    resumed=st.none() | st.just(True),
)
nodes = st.builds(
    Node,
    name=words,
    step=maybe_numbers,
    task_id=maybe_words,
    checkpoint_id=maybe_words,
    checkpoint_ns=maybe_words,
    attempt=maybe_numbers,
    outcome=st.none() | st.sampled_from(["ok", "no_write", "interrupted", "answered", "error", "recovered", "pending"]),
)
told_nodes = st.builds(replace, nodes, asked=st.none() | contents, answered=st.none() | contents)
"""As they are in a path: what was asked and answered is never on the wire."""
stages = st.one_of(retrievals, reranks(), filterings(), permissions(), contexts(), generations, tools, answers)

milliseconds = st.floats(min_value=0, max_value=1e9)
nothing = st.none()
maybe_milliseconds = st.none() | milliseconds


def steps(strategy, costs=nothing):
    """Stages as they ran."""
    return st.builds(Step, strategy, maybe_milliseconds, maybe_words, costs)


def rows(strategy):
    """Not captured, or a few."""
    return st.none() | st.lists(strategy, max_size=3).map(tuple)


@st.composite
def ranked_chunks(draw):
    """A union of retrievals: ranks that are not the positions."""
    drawn = draw(chunks())
    ranks = tuple(draw(st.lists(st.integers(1, 99), min_size=len(drawn.ids), max_size=len(drawn.ids))))
    return replace(drawn, ranks=draw(st.sampled_from([(), ranks])), count=None)


paths = st.builds(
    EvidencePath,
    path_id=words,
    trace_id=words,
    trace_ids=ids(),
    thread_id=maybe_words,
    service=maybe_words,
    source=st.sampled_from(["langchain", "langgraph", "checkpoint", "result", "openinference"]),
    started_at=st.none() | st.integers(0, 2**63),
    tags=tags,
    identity=identities,
    question=contents,
    retrievals=rows(steps(st.builds(replace, retrievals, reranked=st.none() | reranks(steps=nothing)))),
    retrieved=st.none() | ranked_chunks(),
    reranked=rows(st.builds(Ranked, words, st.integers(1, 99), st.none() | floats)),
    filtered=st.none()
    | st.builds(
        Filtered, kept=ids(), dropped=st.lists(st.builds(Drop, words, maybe_words, maybe_words), max_size=3).map(tuple)
    ),
    permissions=rows(st.builds(Permission, words, st.sampled_from(["allow", "deny"]), maybe_words, maybe_words)),
    context=st.none() | contexts(),
    budget=budgets,
    answer=st.none() | answers,
    answer_generation=st.none() | st.integers(0, 3),
    citations=st.none() | citations(),
    generations=rows(steps(generations, st.none() | st.floats(0, 100))),
    tools=rows(steps(tools)),
    nodes=rows(st.builds(Step, nodes, maybe_milliseconds)),
    verdicts=rows(
        st.builds(Verdict, st.booleans(), maybe_words, maybe_numbers, st.none() | contents, st.none() | st.booleans())
    ),
    latency_ms=maybe_milliseconds,
    joined=st.dictionaries(
        st.sampled_from(["retrieved", "nodes.latency_ms"]), st.sampled_from(["checkpoint", "trace"])
    ).map(lambda found: tuple(found.items())),
    stage_latency_ms=st.dictionaries(st.sampled_from(["retrieval", "filter", "node:draft"]), milliseconds).map(
        lambda totals: tuple(totals.items())
    ),
    cost_usd=st.none() | st.floats(0, 100),
    error=maybe_words,
    inferred=ids(),
    not_captured=ids(),
    warnings=ids(),
    partial=st.booleans(),
)
