"""The ids under which a component records passages."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.documents import Document

from rag_probe.faults import log_once
from rag_probe.policy import policy_from_environment
from rag_probe_langchain.current import resolve
from rag_probe_langchain.identity import identify


def names_of(documents: Sequence[Document]) -> tuple[str, ...]:
    """As the question around knows them, else by the same rules; one for each, and nothing raises."""
    current = resolve()
    try:
        policy = policy_from_environment() if current is None else current.policy
        known = [None if current is None else current.name_of(document) for document in documents]
        if None not in known:
            return tuple(filter(None, known))
        return identify(documents, policy, 0).ids
    except Exception as fault:  # an odd document of the app's, which goes its way all the same
        log_once("the ids of passages", fault)
        return tuple([f"#{place}" for place in range(1, len(documents) + 1)])
