"""The answer, and which model call produced it (contracts 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rag_probe.stages import Answer, Content, ContextAssembly, Generation
from rag_probe_collector.assembly.record import Ran, Record

_ANSWER_ROLE: Final = "answer"


class Origin(NamedTuple):
    """Index of the generation that produced the answer, and whether that is a guess."""

    generation: int | None
    guessed: bool = False


def origin_of(answer: Answer | None, generations: Sequence[Ran[Generation]]) -> Origin:
    """The call marked as the answer's; else the only one that could be; else the last whose output the answer equals.

    A call inside a retrieval, one that failed, or one with another role never is. Where texts, digests and lengths do
    not tell, the last one that saw passages is taken, as a guess, or the last of all.
    """
    marked = [index for index, ran in enumerate(generations) if ran.stage.role == _ANSWER_ROLE]
    if marked:
        return Origin(marked[-1])
    possible = [
        index
        for index, ran in enumerate(generations)
        if ran.within is None and ran.stage.role is None and ran.span.error is None
    ]
    if len(possible) <= 1:
        return Origin(possible[0] if possible else None)
    content = answer.content if answer is not None else None
    if content is not None:
        for same in (_same_text, _same_digest):
            matches = [index for index in possible if same(content, generations[index].stage.output)]
            if matches:
                return Origin(matches[-1])
        matches = [index for index in possible if _same_length(content, generations[index].stage.output)]
        if matches:
            return Origin(matches[-1], guessed=True)
    saw = [index for index in possible if (context := generations[index].stage.context) is not None and context.ids]
    return Origin((saw or possible)[-1], guessed=True)


def context_of(record: Record, origin: Origin) -> ContextAssembly | None:
    """What stood in the prompt of the answering call; else what the last context step before it says."""
    if origin.generation is None:
        return None
    ran = record.of(Generation)[origin.generation]
    if ran.stage.context is not None:
        return ran.stage.context
    before = [step.stage for step in record.of(ContextAssembly) if step.span.start <= ran.span.start]
    return before[-1] if before else None


def answer_from(generation: Generation) -> Answer:
    """The answer where the root says nothing of it: what the last call wrote, all of it inferred."""
    output = generation.output
    if output is None or output.length is None:
        return Answer(content=output)
    return Answer(outcome="answered" if output.length else "abstained", content=output)


def _same_text(answer: Content, output: Content | None) -> bool:
    return answer.text is not None and output is not None and output.text == answer.text


def _same_digest(answer: Content, output: Content | None) -> bool:
    return answer.digest is not None and output is not None and output.digest == answer.digest


def _same_length(answer: Content, output: Content | None) -> bool:
    return answer.length is not None and output is not None and output.length == answer.length
