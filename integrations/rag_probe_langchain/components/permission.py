"""The check that the permission components share: ask, record each decision, hand on what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig

from rag_probe import stage
from rag_probe.recorders import PermissionRecorder
from rag_probe_langchain.components.naming import names_of
from rag_probe_langchain.components.verdicts import Allow, Verdict, averdicts, verdicts


def permitted(
    allow: Allow, documents: Sequence[Document], config: RunnableConfig, step: str, policy: str | None
) -> list[Document]:
    """The documents that may be seen, in their order. When `allow` raises, nothing is handed on."""
    with stage("permission", step, policy=policy) as check:
        return _noted(check, documents, verdicts(allow, documents, config))


async def apermitted(
    allow: Allow, documents: Sequence[Document], config: RunnableConfig, step: str, policy: str | None
) -> list[Document]:
    """The same, for an `allow` that may be a coroutine function."""
    async with stage("permission", step, policy=policy) as check:
        return _noted(check, documents, await averdicts(allow, documents, config))


def _noted(check: PermissionRecorder, documents: Sequence[Document], said: Iterable[Verdict]) -> list[Document]:
    """Each as it comes: those before an `allow` that raises were decided."""
    allowed: list[Document] = []
    for document, name, verdict in zip(documents, names_of(documents), said, strict=True):
        note = check.allow if verdict.allowed else check.deny
        note(name, verdict.reason)
        if verdict.allowed:
            allowed.append(document)
    return allowed
