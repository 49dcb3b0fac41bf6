"""A retriever that hands on only what the caller may see."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables import RunnableConfig, ensure_config, patch_config
from pydantic import ConfigDict

from rag_probe_langchain.components.permission import apermitted, permitted
from rag_probe_langchain.components.verdicts import Allow


class PermissionRetriever(BaseRetriever):
    """Searches with `retriever`, asks `allow` about each passage, and hands on those that may be seen.

    ```
    def allow(document, config):
        tenant = config["configurable"]["tenant"]
        return document.metadata["tenant"] == tenant or (False, "foreign_tenant")

    retriever = PermissionRetriever(retriever=store.as_retriever(), allow=allow, policy="v7")
    ```
    Each decision is recorded with its reason, a short code. What `retriever` found are the candidates: a foreign
    passage among them is seen, though nobody got it. An `allow` that raises, or answers neither yes nor no, fails the
    search: nothing passes unchecked.
    """

    retriever: RetrieverLike
    """A retriever, or any runnable from a query to documents."""
    allow: Allow
    """`allow(document)` or `allow(document, config)`: a bool, or `(bool, reason)`; may be a coroutine function."""
    policy: str | None = None
    """The version of the rules, recorded beside each decision."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002, ANN401
        """Search and check."""
        return super().invoke(input, config, caller=ensure_config(config), **kwargs)

    async def ainvoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002, ANN401
        """Search and check."""
        return await super().ainvoke(input, config, caller=ensure_config(config), **kwargs)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, caller: RunnableConfig | None = None
    ) -> list[Document]:
        config = ensure_config(caller)
        found = self.retriever.invoke(query, patch_config(config, callbacks=run_manager.get_child()))
        return permitted(self.allow, found, config, self.get_name(), self.policy)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, caller: RunnableConfig | None = None
    ) -> list[Document]:
        config = ensure_config(caller)
        found = await self.retriever.ainvoke(query, patch_config(config, callbacks=run_manager.get_child()))
        return await apermitted(self.allow, found, config, self.get_name(), self.policy)
