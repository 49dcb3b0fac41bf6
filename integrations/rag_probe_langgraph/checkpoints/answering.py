"""What a turn answered: by the rules of the handler, over what the turn wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from rag_probe.current import Told
from rag_probe.measured import number
from rag_probe.stages import Answer, Citations
from rag_probe.wire.answer import OUTCOMES
from rag_probe_langchain.answer import answer_of, answer_text
from rag_probe_langgraph.checkpoints.evidence import Evidence
from rag_probe_langgraph.checkpoints.roles import role_of, says_answers


class Answered(NamedTuple):
    """None where nobody can tell; and which of its fields were inferred."""

    answer: Answer | None
    inferred: tuple[str, ...] = ()
    text: str | None = None
    """Of the answer, also where it is held back."""


_NOTHING: Final = Answered(None)


def answered(evidence: Evidence, error: str | None, *, waiting: bool, whole: bool) -> Answered:
    """Nothing yet while the graph waits.

    Silence says nothing of a turn that is not whole, nor where no channel is read as the answer, or one holds it in
    another form than text: it may stand where nobody can read it.
    """
    if error is not None:
        return Answered(Answer(outcome="error"))
    if waiting:
        return _NOTHING
    output = dict(evidence.output)
    evidence.request.told = Told(
        outcome=OUTCOMES.get(str(output.pop("outcome", ""))), confidence=number(output.pop("confidence", None))
    )
    read = answer_of(evidence.request, output)
    if not whole and read.answer.content is None:
        return _NOTHING
    answer = replace(read.answer, citations=_resolved(read.answer.citations, evidence))
    unseen = not says_answers(evidence.roles) or _is_structure(evidence)
    if answer.content is None and "answer.outcome" in read.inferred and unseen:
        told = replace(answer, outcome=None)
        return _NOTHING if told == Answer() else Answered(told)
    return Answered(answer, read.inferred, answer_text(evidence.request, output))


def _is_structure(evidence: Evidence) -> bool:
    """Whether something stands in a channel of answers that is no text, such as fields of a structured answer."""
    return any(value and role_of(channel, evidence.roles) == "answer" for channel, value in evidence.output.items())


def _resolved(citations: Citations | None, evidence: Evidence) -> Citations | None:
    """`[2]` counts the passages of a prompt; where no channel holds that prompt, nobody knows what it points at."""
    if citations is None or evidence.context is not None:
        return citations
    return citations if evidence.request.documents.whole.keys() >= set(citations.ids) else None
