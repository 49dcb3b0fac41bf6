"""LangGraph's `TracePolicy`: what a node's own run may tell of its input and output, beside our own policy.

LangGraph hands a processed payload (`omit_payload` is the usual one) to its tracers only; a plain handler gets the raw
one and is not told. So the policy is looked for in the frames of LangGraph that call us, and where it changes a
payload, no text of it leaves with content on either: ids and counts do. As in LangGraph it is about the node's own run,
not about runs inside it, nor about the graph's; LangSmith's switches (`LANGSMITH_HIDE_INPUTS`, …) are its client's own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final, NamedTuple, cast

from rag_probe.faults import log_once

_START: Final = frozenset({"_start", "_astart"})
"""Of `langgraph._internal._runnable.RunnableSeq`, whose runs nodes are."""
_DEPTH: Final = 16


class Held(NamedTuple):
    """Whether the texts of a node's input and output are held back."""

    inputs: bool = False
    outputs: bool = False


NOT_HELD: Final = Held()


def policy_of_caller() -> object | None:
    """The policy of the node that starts now; None where it has none, or LangGraph's frames have changed."""
    frame = sys._getframe(1)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - there is no other way
    for _ in range(_DEPTH):
        outer = frame.f_back
        if outer is None:
            return None
        frame = outer
        if frame.f_code.co_name in _START:
            return getattr(frame.f_locals.get("self"), "trace_policy", None)
    return None


def held(policy: object, inputs: object, outputs: object) -> Held:
    """What `policy` records otherwise than it is; all of it where a processor fails."""
    return Held(_is_changed(policy, "process_inputs", inputs), _is_changed(policy, "process_outputs", outputs))


def _is_changed(policy: object, name: str, payload: object) -> bool:
    process: object = getattr(policy, name, None)
    if not callable(process):
        return False
    try:
        return cast("Callable[[object], object]", process)(payload) is not payload
    except Exception as error:  # the app's: LangGraph would record the raw payload, we do not
        log_once("TracePolicy", error)
        return True
