"""The permission check where LangChain has a compressor."""

# ruff: noqa: ARG002 - the signatures are LangChain's
from __future__ import annotations

from collections.abc import Sequence

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.runnables import ensure_config
from pydantic import ConfigDict

from rag_probe_langchain.components.permission import apermitted, permitted
from rag_probe_langchain.components.verdicts import Allow


class PermissionCompressor(BaseDocumentCompressor):
    """Hands on the passages that `allow` lets pass, as `PermissionRetriever` does.

    For a `ContextualCompressionRetriever` or a `DocumentCompressorPipeline`. The config that `allow` may ask for is
    the one of the chain around.
    """

    allow: Allow
    """`allow(document)` or `allow(document, config)`: a bool, or `(bool, reason)`; may be a coroutine function."""
    policy: str | None = None
    """The version of the rules, recorded beside each decision."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Those that may be seen, in their order."""
        return permitted(self.allow, documents, ensure_config(), type(self).__name__, self.policy)

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Those that may be seen, in their order."""
        return await apermitted(self.allow, documents, ensure_config(), type(self).__name__, self.policy)
