"""What validating tasks said of drafts: true or false in a channel, one verdict for each time that a task said it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, cast

from langchain_core.messages import BaseMessage

from rag_probe.path import Verdict
from rag_probe_langchain.reading.prompt_text import message_text
from rag_probe_langchain.scan import mapping
from rag_probe_langgraph.checkpoints.drafts import Draft
from rag_probe_langgraph.checkpoints.evidence import Evidence, Said
from rag_probe_langgraph.checkpoints.roles import VERDICTS, role_of
from rag_probe_langgraph.checkpoints.tasks import EDIT, Task

_WORDS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("pass", "passed", "yes", "approve", "approved", "accept", "accepted", "valid"), True),
    **dict.fromkeys(("fail", "failed", "no", "reject", "rejected", "revise", "invalid"), False),
}
_EXPECTED: Final = f"expected true or false, or one of {', '.join(_WORDS)}, alone or as one field"


def passed_in(value: object) -> bool | None:
    """Whether a value says that a draft may go on; None when it is no verdict, or more than one."""
    match value:
        case bool():
            return value
        case Enum():
            return passed_in(cast(object, value.value))
        case str():
            return _WORDS.get(value.strip().lower())
        case _:
            return _field(mapping(value) or {})


def _field(entries: Mapping[object, object]) -> bool | None:
    """The field that is named as one, else the only one that may be one."""
    found = {
        str(name): passed
        for name, each in entries.items()
        if isinstance(each, (bool, str, Enum)) and (passed := passed_in(each)) is not None
    }
    named = [passed for name, passed in found.items() if name in VERDICTS]
    chosen = named or list(found.values())
    return chosen[0] if len(chosen) == 1 else None


def read_verdict(evidence: Evidence, channel: str, value: object, *, given: bool) -> bool:
    """Take a write as a verdict; False where it must be read as something else.

    By its name alone a channel of passages holds no verdicts. What went into the graph is where the channel begins.
    """
    passed = passed_in(value)
    blank = value is None or (isinstance(value, str) and not value.strip())
    if passed is not None and given:
        evidence.held[channel] = passed
    elif passed is not None:
        evidence.saying[channel] = passed
    elif not given and not blank:
        if channel not in evidence.roles and not isinstance(value, str):
            return False
        evidence.odd[channel] = type(value).__name__
    if passed is None:
        evidence.unmapped[channel] = None
    return True


def begin(evidence: Evidence, task: Task) -> None:
    """The writes of this task are next."""
    evidence.saying = {}
    evidence.drafts.begin(task.saved.namespace, task.saved.id)


def settle(evidence: Evidence, task: Task) -> None:
    """What the task said, about the draft that it read."""
    if not evidence.saying:
        return
    passes_on = any(role_of(write.channel, evidence.roles) == "question" for write in task.writes)
    draft = _judged(evidence, task)
    for channel, passed in evidence.saying.items():
        if draft is None and channel not in evidence.roles:
            evidence.unmapped[channel] = None  # nothing was drafted yet: by its name alone this is no verdict
            continue
        row = Said(channel, passed, task.node or "unknown", task.saved.step, draft)
        if not _is_old(evidence, row, task, passes_on=passes_on):
            evidence.note(channel, "verdict")
            evidence.verdicts.append(row)
        evidence.held[channel] = passed
    if passes_on:
        evidence.drafts.hand_on()


def verdicts_of(evidence: Evidence, answer: str | None, *, whole: bool) -> tuple[Verdict, ...] | None:
    """Those of the path; none at all is known only where a mapping says which channel would hold them."""
    named = whole and "verdict" in evidence.roles.values() and not odd(evidence)
    rows = tuple([_verdict(said, evidence, answer) for said in evidence.verdicts])
    return rows if rows or named else None


def odd(evidence: Evidence) -> Mapping[str, str]:
    """Channels of verdicts that held something else, and what: a mapping says that they are, or they held some too.

    Of one that is only named like them, what it holds says whether it is: a person's words are simply no verdict.
    """
    also = {said.channel for said in evidence.verdicts}
    return {channel: kind for channel, kind in evidence.odd.items() if channel in evidence.roles or channel in also}


def oddities(evidence: Evidence) -> list[str]:
    """A line for each of those."""
    return [f"{channel!r} holds no verdict but {kind}: {_EXPECTED}" for channel, kind in odd(evidence).items()]


def _judged(evidence: Evidence, task: Task) -> Draft | None:
    """What the task was sent, else what it read, else its own; None where there was no draft.

    Where it wrote another in the place of what it read, nobody can tell which it judged: the text is then blank.
    """
    drafts = evidence.drafts
    read = drafts.read if task.sent is None else _sent(evidence, task.sent.given)
    own = drafts.own(read)
    if own is None or read is None:
        return read or own
    return read if own.text == read.text else own._replace(text="")


def _sent(evidence: Evidence, given: object) -> Draft | None:
    """The draft in a task's own input."""
    for name, value in (mapping(given) or {}).items():
        if role_of(str(name), evidence.roles) == "answer" and isinstance(value, (str, BaseMessage)):
            text = value if isinstance(value, str) else message_text(value)
            return Draft(text, str(name), named=True, write=0)
    return None


def _is_old(evidence: Evidence, row: Said, task: Task, *, passes_on: bool) -> bool:
    """Whether a task only wrote again what the channel held already.

    So does a node around a subgraph, and one that returns its whole state, the question in it, unless it is one that
    judges and the draft is a new one.
    """
    changed = evidence.held.get(row.channel) is not row.passed
    around = task.outcome is None and task.node != EDIT
    judge = (row.channel, row.node)
    old = not changed and (around or (passes_on and (judge not in evidence.judges or _is_last(evidence, row))))
    if not old:
        evidence.judges.add(judge)
    return old


def _is_last(evidence: Evidence, row: Said) -> bool:
    last = next((said for said in reversed(evidence.verdicts) if said.channel == row.channel), None)
    return last is not None and last.draft == row.draft


def _verdict(said: Said, evidence: Evidence, answer: str | None) -> Verdict:
    text = said.draft.text if said.draft is not None and said.draft.text else None
    return Verdict(
        passed=said.passed,
        node=said.node,
        step=None if said.step is None else said.step + 1,
        draft=None if text is None else evidence.request.options.policy.content_of(text),
        final=None if text is None or answer is None else text.strip() == answer.strip(),
    )
