"""Whole requests, every usual case taken at a glance and none: the span trees are the same (issue B, speed)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda, RunnableParallel

from rag_probe.policy import CapturePolicy
from rag_probe.wire import columns
from rag_probe.wire import context as wire
from rag_probe_langchain import answer, context, documents, finish, flow, identity, keyed, retrieval, rows, steps
from rag_probe_langchain.citing.citable import Citable
from rag_probe_langchain.reading import facts
from tests.scenarios.recording import Recording, ticking

from .apps import TEXTS, Scripted, Search, as_text


def nothing(*_):
    return None


def repaired(found):
    return rows.Rows(*zip(*map(rows._repaired, found), strict=True)) if found else rows.Rows((), (), ())


def looked_at(run, _outputs):
    return run.inside_mark


GLANCES = (
    (documents, "plain", nothing),
    (documents, "rows_of", repaired),
    (identity, "rows_of", repaired),
    (keyed, "at_once", nothing),
    (steps, "_thinned", nothing),
    (steps, "is_plumbing", looked_at),
    (finish, "is_plumbing", looked_at),
    (flow, "is_thinned", nothing),
    (retrieval, "_usual", nothing),
    (context, "_at_a_glance", nothing),
    (context, "_are_probes", nothing),
    (answer, "_usual", nothing),
    (Citable, "counted", nothing),
    (facts, "_usual", nothing),
    (wire, "_put_usual", nothing),
    (wire, "are_short", nothing),
    (wire, "are_counts", nothing),
    (columns, "_is_plain", nothing),
    (columns, "are_short", nothing),
)


@contextmanager
def with_care() -> Iterator[None]:
    with ExitStack() as stack:
        for module, name, instead in GLANCES:
            stack.enter_context(patch.object(module, name, instead))
        yield


BODIES = [
    *(f"{text} This is said of all that is sold here, and of nothing else." for text in TEXTS.values()),
    "Größere Pakete dürfen nicht zurückgegeben werden, außer wenn sie beschädigt sind, und zwar überall.",
    "Of two lines\nthe second one is behind the first one, which is the usual order of lines.",
    TEXTS["gift"],
    "tiny",
    "",
    "a lone \udc00 surrogate in a text that is otherwise long enough to be found in any prompt",
]
PRICED = {"document": "d.md", "tenant": "t", "revision": 1}
usual = st.tuples(st.sampled_from("abcdef"), st.sampled_from(BODIES), st.just(PRICED))
odd = st.tuples(
    st.sampled_from(["a", "1", "é", "", None, "x" * 300]),
    st.sampled_from(BODIES),
    st.dictionaries(
        st.sampled_from(["id", "source", "tenant", "score", "relevance_score"]),
        st.sampled_from(["a", "é", "", 1, 0.5, True, None, float("nan"), 2**70]),
    ),
)
found = st.lists(usual, max_size=6, unique_by=lambda row: row[0]) | st.lists(usual | odd, max_size=5)


def popped(found):
    del found[-1:]
    return found


def summed(found):
    return [Document(id=each.id, page_content=each.page_content[:60], metadata=each.metadata) for each in found]


def rescored(found):
    for place, each in enumerate(found):
        each.metadata["relevance_score"] = place / 7
    return found[::-1]


STEPS = {
    "first": lambda found: found[1:],
    "turned": lambda found: found[::-1],
    "twice": lambda found: found + found[:1],
    "popped": popped,
    "copied": lambda found: [each.model_copy() for each in found],
    "summed": summed,
    "rescored": rescored,
    "cleared": lambda found: [],
    "scored": lambda found: [(each, place / 9) for place, each in enumerate(found)],
}
WRITTEN = {
    "plain": as_text,
    "joined": lambda found: "".join(each.page_content for each in found),
    "numbered": lambda found: "\n".join(f"[{place}] {each.page_content}" for place, each in enumerate(found, 1)),
    "json": lambda found: json.dumps([each.page_content for each in found]),
    "cut": lambda found: as_text(found)[: len(as_text(found)) * 2 // 3],
    "everything": lambda found: "\n".join(BODIES[:6]),
}
ANSWERS = ["So it is [1].", "[a] and [b]; [2][1]", "See [1, 2].", "x[0], `[1]` and [99]", '{"answer": "x [1]"}', ""]
requests = st.fixed_dictionaries(
    {
        "found": found,
        "more": st.none() | found,
        "steps": st.lists(st.sampled_from(sorted(STEPS)), max_size=3),
        "written": st.sampled_from(sorted(WRITTEN)),
        "answer": st.sampled_from([*ANSWERS, " ".join(f"w [{place % 7}]." for place in range(300))]),
        "policy": st.builds(CapturePolicy, content=st.booleans(), max_items=st.sampled_from([200, 2])),
    }
)


def bare(step):
    def stepped(found):
        return step([each[0] if isinstance(each, tuple) else each for each in found])

    return stepped


def passages(rows):
    return [
        Document.model_construct(id=name, page_content=text, metadata=dict(metadata)) for name, text, metadata in rows
    ]


def recorded(asked):
    """The span tree of a request, made anew."""
    chain = Search(found=passages(asked["found"]))
    if asked["more"] is not None:
        searches = RunnableParallel(one=chain, two=Search(found=passages(asked["more"])))
        chain = searches | RunnableLambda(lambda found: found["one"] + found["two"]).with_config(run_name="joined")
    for name in asked["steps"]:
        chain = chain | RunnableLambda(bare(STEPS[name])).with_config(run_name=name)
    chain = chain | bare(WRITTEN[asked["written"]]) | Scripted(answers=[asked["answer"]])
    recording = Recording(policy=asked["policy"])
    with ticking():
        chain.invoke("What may be sent back?", {"callbacks": [recording.handler], "max_concurrency": 1})
    return recording.tree(parallel=True)


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(requests)
def test_whole_requests_say_the_same_at_a_glance_and_with_care(asked):
    at_a_glance = recorded(asked)
    with with_care():
        assert recorded(asked) == at_a_glance
