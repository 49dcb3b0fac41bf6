"""What validating nodes said, and of which draft: rebuilt from the store alone (issue C, validation apart)."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Send
from pydantic import BaseModel

from rag_probe.policy import CapturePolicy
from rag_probe.protocols import Selection
from rag_probe_langgraph.checkpoints import of_saver
from rag_probe_langgraph.checkpoints.drafts import Drafts
from rag_probe_langgraph.checkpoints.verdicts import passed_in

from .stores import Kept, kept, read

BAD, GOOD = "You have ninety days.", "You have thirty days."
CONFIG: Any = {"configurable": {"thread_id": "t"}}


class State(TypedDict, total=False):
    question: str
    draft: str
    feedback: str
    valid: Any
    answer: str


class Judgement(BaseModel):
    grounded: bool
    why: str = ""


class Word(Enum):
    PASS = "accept"


@dataclass
class Grade:
    binary_score: str


def loop(saver: Any, texts: list[str], verdicts: list[Any], channel: str = "draft", state: Any = State) -> Any:
    """draft → validate, and back until a verdict is right → send."""
    drafts, said = iter(texts), iter(verdicts)

    def validate(state: Any) -> Any:
        return {"valid": next(said), "feedback": f"about {state[channel]}"}

    built = StateGraph(state)
    built.add_node("write", lambda state: {channel: next(drafts)})
    built.add_node("validate", validate)
    built.add_node("send", lambda state: {"answer": state[channel]})
    built.add_edge(START, "write")
    built.add_edge("write", "validate")
    built.add_conditional_edges(
        "validate", lambda state: "send" if passed_in(state["valid"]) else "write", ["send", "write"]
    )
    built.add_edge("send", END)
    return built.compile(checkpointer=saver)


def run(app: Any, **given: Any) -> Any:
    (path,) = ran(app, **given)
    return path


def ran(app: Any, **given: Any) -> list[Any]:
    app.invoke({"question": "How long?", **given}, CONFIG)
    return read(Kept(app.checkpointer, None))


def rows(path: Any) -> list[Any]:
    return [(each.node, each.step, each.passed, each.draft and each.draft.text, each.final) for each in path.verdicts]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("said", [[False, True], ["no", "YES "], [Judgement(grounded=False), Judgement(grounded=True)]])
def test_each_pass_of_a_loop_is_a_verdict_about_the_draft_that_it_read(kind, said, tmp_path):
    with kept(kind, tmp_path) as store:
        app = loop(store.saver, [BAD, GOOD], said)
        app.invoke({"question": "How long?", "valid": False}, CONFIG)  # what went in is no verdict
        (path,) = read(store)
    assert rows(path) == [("validate", 2, False, BAD, False), ("validate", 4, True, GOOD, True)]
    assert path.answer.content.text == GOOD
    assert "verdicts" not in path.not_captured


def test_the_same_draft_refused_twice_is_two_verdicts():
    path = run(loop(InMemorySaver(), [BAD, BAD, GOOD], [False, False, True]))
    assert [(step, passed, text) for _, step, passed, text, _ in rows(path)] == [
        (2, False, BAD),
        (4, False, BAD),
        (6, True, GOOD),
    ]


def test_content_held_back_leaves_length_and_digest_by_the_rules_of_the_answers():
    app = loop(InMemorySaver(), [BAD, GOOD], [False, True])
    app.invoke({"question": "How long?"}, CONFIG)
    policy = CapturePolicy(digest_key=b"key")
    (path,) = of_saver(app.checkpointer, policy=policy).paths(Selection())
    assert [each.draft for each in path.verdicts] == [policy.content_of(BAD), policy.content_of(GOOD)]
    assert path.verdicts[1].draft == path.answer.content
    (bare,) = of_saver(app.checkpointer).paths(Selection())
    assert [(each.draft.digest, each.draft.text, each.final) for each in bare.verdicts] == [
        (None, None, False),
        (None, None, True),
    ]


def test_a_mapping_says_which_channel_holds_verdicts_and_which_drafts(tmp_path):
    mapping = tmp_path / "map.yaml"
    mapping.write_text("question: question\ndraft: answer\nvalid: verdict\n", encoding="utf-8")
    with kept("sqlite", tmp_path) as store:
        loop(store.saver, [BAD, GOOD], ["fail", "pass"]).invoke({"question": "How long?"}, CONFIG)
        (path,) = read(store, mapping)
    assert rows(path) == [("validate", 2, False, BAD, False), ("validate", 4, True, GOOD, True)]


def sequence(*nodes: Any, state: Any = State, saver: Any = None) -> Any:
    """Nodes one after the other."""
    built = StateGraph(state)
    built.add_sequence(list(nodes))
    built.add_edge(START, nodes[0][0] if isinstance(nodes[0], tuple) else nodes[0].__name__)
    return built.compile(checkpointer=saver or InMemorySaver())


def writes(**values: Any) -> Any:
    return lambda state: values


PROSE = ("validate", writes(valid="the secret draft is too long"))


def test_what_is_no_verdict_says_so_without_its_text_where_a_mapping_expects_one(tmp_path):
    mapping = tmp_path / "map.yaml"
    mapping.write_text("question: question\nanswer: answer\nvalid: verdict\n", encoding="utf-8")
    with kept("sqlite", tmp_path) as store:
        sequence(("write", writes(answer=BAD)), PROSE, saver=store.saver).invoke({"question": "How long?"}, CONFIG)
        (path,) = read(store, mapping)
    assert path.verdicts is None
    assert "verdicts" in path.not_captured
    (warning,) = [line for line in path.warnings if "verdict" in line]
    assert warning.startswith("'valid' holds no verdict but str: expected true or false, or one of pass, ")


def test_a_person_s_words_in_a_channel_that_is_only_named_like_a_verdict_are_no_verdict():
    path = run(sequence(("write", writes(answer=BAD)), PROSE), valid="")
    assert path.verdicts is None
    assert "verdicts" not in path.not_captured
    assert path.warnings == ()


def test_a_channel_that_held_verdicts_and_words_does_not_pass_for_a_whole_list():
    app = sequence(("write", writes(answer=BAD)), ("judge", writes(valid="fail")), PROSE)
    path = run(app, valid="")
    assert [each.passed for each in path.verdicts] == [False]
    assert "verdicts" in path.not_captured
    (warning,) = [line for line in path.warnings if "'valid' holds no verdict but str" in line]
    assert "secret" not in warning
    assert path.answer.content.text == BAD


def test_by_its_name_alone_nothing_is_a_verdict_before_there_is_a_draft():
    """A grade of passages, and a flag that a node resets."""
    path = run(sequence(("grade", writes(valid=True)), ("write", writes(answer=GOOD))))
    assert path.verdicts is None
    assert "verdicts" not in path.not_captured
    assert run(sequence(("write", writes(answer=GOOD)), ("reset", writes(valid=None)))).verdicts is None


def test_what_stands_beside_it_in_the_same_step_is_not_what_it_read():
    built = StateGraph(State)
    built.add_node("write", writes(answer=BAD))
    built.add_node("validate", writes(valid=False))
    built.add_node("another", writes(answer=GOOD))
    built.add_edge(START, "write")
    for node in ("validate", "another"):
        built.add_edge("write", node)
    assert rows(run(built.compile(checkpointer=InMemorySaver()))) == [("validate", 2, False, BAD, False)]


def test_a_node_that_drafts_and_judges_at_once_judged_its_own_draft_unless_there_was_another():
    once = sequence(("write", writes(answer=GOOD, valid=True)))
    assert rows(run(once)) == [("write", 1, True, GOOD, True)]
    twice = sequence(("write", writes(answer=BAD)), ("mend", writes(valid=True, answer=GOOD)))
    assert rows(run(twice)) == [("mend", 2, True, None, None)]


def test_a_task_that_is_sent_its_input_judges_the_draft_in_it():
    class Sending(TypedDict, total=False):
        question: str
        answer: str
        approved: bool

    built = StateGraph(Sending)
    built.add_node("write", writes(answer=BAD))
    built.add_node("check", lambda given: {"approved": given["answer"] == GOOD})
    built.add_edge(START, "write")
    built.add_conditional_edges("write", lambda state: [Send("check", {"answer": GOOD})], ["check"])
    assert rows(run(built.compile(checkpointer=InMemorySaver()))) == [("check", 2, True, GOOD, False)]


def test_a_validation_inside_a_subgraph_is_said_once():
    inner = sequence(("validate", writes(valid=False)), ("mend", writes(answer=GOOD)), ("again", writes(valid=True)))
    built = StateGraph(State)
    built.add_node("write", writes(answer=BAD))
    built.add_node("review", inner)
    built.add_sequence([("send", writes(feedback="sent"))])
    for edge in ((START, "write"), ("write", "review"), ("review", "send")):
        built.add_edge(*edge)
    saver = InMemorySaver()
    assert rows(run(built.compile(checkpointer=saver))) == [
        ("validate", 1, False, BAD, False),
        ("again", 3, True, GOOD, True),
    ]


def test_nodes_that_return_their_whole_state_say_nothing_by_it():
    drafts = iter([BAD, GOOD])

    def write(state: Any) -> Any:
        return {**state, "answer": next(drafts)}

    def validate(state: Any) -> Any:
        return {**state, "valid": state["answer"] == GOOD}

    built = StateGraph(State)
    built.add_node("write", write)
    built.add_node("polish", lambda state: {**state})
    built.add_node("validate", validate)
    built.add_node("send", lambda state: {**state})
    for edge in ((START, "write"), ("write", "polish"), ("polish", "validate")):
        built.add_edge(*edge)
    built.add_conditional_edges("validate", lambda state: "send" if state["valid"] else "write", ["send", "write"])
    path = run(built.compile(checkpointer=InMemorySaver()))
    assert rows(path) == [("validate", 3, False, BAD, False), ("validate", 6, True, GOOD, True)]


def test_the_last_message_of_a_model_is_a_draft():
    class Talk(TypedDict, total=False):
        messages: Annotated[list[Any], add_messages]
        approved: bool

    app = sequence(("write", writes(messages=[AIMessage(GOOD)])), ("check", writes(approved=True)), state=Talk)
    app.invoke({"messages": [HumanMessage("How long?")]}, CONFIG)
    (path,) = read(Kept(app.checkpointer, None))
    assert rows(path) == [("check", 2, True, GOOD, True)]


def test_a_list_that_grows_by_a_draft_is_read_where_a_mapping_says_so():
    class Growing(TypedDict, total=False):
        question: str
        drafts: Annotated[list[str], operator.add]
        valid: bool

    app = sequence(
        ("write", writes(drafts=[BAD])), ("more", writes(drafts=[GOOD])), ("check", writes(valid=True)), state=Growing
    )
    app.invoke({"question": "How long?"}, CONFIG)
    source = of_saver(
        app.checkpointer, policy=CapturePolicy(content=True), roles={"drafts": "answer", "valid": "verdict"}
    )
    (path,) = source.paths(Selection())
    assert [(each.step, each.draft.text) for each in path.verdicts] == [(3, GOOD)]


def test_somebodys_edit_of_a_draft_is_what_is_judged():
    built = StateGraph(State)
    built.add_sequence([("write", writes(answer=BAD)), ("validate", writes(valid=True))])
    built.add_edge(START, "write")
    app = built.compile(checkpointer=InMemorySaver(), interrupt_before=["validate"])
    app.invoke({"question": "How long?"}, CONFIG)
    app.update_state(CONFIG, {"answer": GOOD})
    app.invoke(None, CONFIG)
    (path,) = read(Kept(app.checkpointer, None))
    assert [(each.node, each.draft.text, each.final) for each in path.verdicts] == [("validate", GOOD, True)]


def test_with_a_mapping_no_verdict_at_all_is_a_fact():
    app = sequence(("write", writes(answer=GOOD)))
    app.invoke({"question": "How long?"}, CONFIG)
    (path,) = of_saver(app.checkpointer, roles={"answer": "answer", "valid": "verdict"}).paths(Selection())
    assert path.verdicts == ()
    (path,) = of_saver(app.checkpointer).paths(Selection())
    assert path.verdicts is None


def test_of_a_sparse_history_verdicts_are_not_captured():
    """`durability="exit"`: the state holds the last one, and nobody knows about which draft."""
    app = loop(InMemorySaver(), [BAD, GOOD], [False, True])
    app.invoke({"question": "How long?"}, CONFIG, durability="exit")
    (path,) = read(Kept(app.checkpointer, None))
    assert path.partial
    assert path.verdicts is None
    assert "verdicts" in path.not_captured


@pytest.mark.parametrize(
    ("value", "passed"),
    [
        (True, True),
        (False, False),
        ("Yes", True),
        (" revise\n", False),
        (Word.PASS, True),
        (Grade("no"), False),
        ({"binary_score": "yes", "why": "it cites the rule"}, True),
        (Judgement(grounded=True), True),
        ({"passed": False, "urgent": True}, False),
        ({"grounded": True, "useful": True}, None),
        ({"valid": True, "passed": True}, None),
        ({}, None),
        (1, None),
        (0.9, None),
        ("yes, but", None),
        ([True], None),
        (None, None),
    ],
)
def test_what_a_value_says(value, passed):
    assert passed_in(value) is passed


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=3),
    max_leaves=6,
)


@given(anything)
def test_a_hostile_value_is_one_or_none(value):
    assert passed_in(value) in (True, False, None)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b"]), st.booleans()), max_size=12))
def test_a_task_never_reads_what_its_own_step_wrote(found):
    """Whatever is written in whatever step: what a step reads was left by the steps before it."""
    drafts = Drafts()
    steps = sorted(found, key=lambda each: each[0])
    written: dict[int, set[int]] = {}
    for at, (step, channel, named) in enumerate(steps, 1):
        drafts.begin("", str(step))
        before = {write for other, writes in written.items() if other < step for write in writes}
        assert drafts.read is None or drafts.read.write in before
        assert drafts.read is not None or not before
        drafts.wrote(channel, f"text {at}", named=named)
        written.setdefault(step, set()).add(at)
