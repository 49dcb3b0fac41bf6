"""A security-operations assistant for several tenants: one LangChain chain, observed by one callback.

The chain is what you would write without rag-probe. Three calls are for the evidence path only: `stage("permission")`
gives the reason of each denial, `tell.budget` the room that the context had, and `tell.outcome` says that the text
shown is no answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from operator import itemgetter
from typing import Any, Final, TypeAlias

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import Runnable, RunnablePassthrough

from rag_probe import stage, tell
from rag_probe_demo.budget import WORDS, fit
from rag_probe_demo.corpus import TODAY, load_passages
from rag_probe_demo.prompts import NO_ANSWER, PROMPT, as_context
from rag_probe_demo.retrievers import Bm25Retriever

SORRY: Final = "I cannot answer that from the documents you may see. The security desk can: extension 7000."

POLICIES: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "access-v6": {
        "analyst": frozenset({"public", "internal"}),
        "lead": frozenset({"public", "internal"}),
        "contractor": frozenset({"public", "internal"}),
    },
    "access-v7": {
        "analyst": frozenset({"public", "internal"}),
        "lead": frozenset({"public", "internal", "restricted"}),
        "contractor": frozenset({"public"}),
    },
}
"""Which labels a role may read. Version 7 granted leads what is restricted and revoked contractors' internal grant."""

State: TypeAlias = dict[str, Any]
"""What flows through the chain: `question`, then `passages`, `context` and `draft`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """On whose behalf the assistant answers."""

    subject: str
    tenant: str
    role: str

    def refusal(self, passage: Document, policy: str) -> str | None:
        """Why this caller may not see the passage; None when they may."""
        if passage.metadata["tenant"] not in {self.tenant, "shared"}:
            return "foreign_tenant"
        return None if passage.metadata["label"] in POLICIES[policy][self.role] else "role_not_granted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What can be set, and therefore set wrong, stage by stage."""

    index_day: date = TODAY
    """When the index was last built."""
    top_k: int = 4
    search_policy: str | None = "access-v7"
    """The policy by which the search itself leaves passages out; None searches everything."""
    check_policy: str = "access-v7"
    """The policy of the check that follows: the second line, should the first one fail."""
    budget: int = 120
    """Words that the context may take."""
    pinned: tuple[str, ...] = ()
    """Ids of passages that go into every context, found or not."""


@dataclass(frozen=True)
class SecurityAssistant:
    """The assistant for one caller."""

    model: BaseChatModel
    caller: Caller
    settings: Settings = Settings()

    def chain(self) -> Runnable[State, str]:
        """Takes `{"question": …}`, gives the text to show."""
        prompt = PROMPT.partial(role="the assistant of a security desk", refusals=[])
        return (
            RunnablePassthrough.assign(passages=itemgetter("question") | self.search)
            | RunnablePassthrough.assign(passages=self.permitted)
            | RunnablePassthrough.assign(passages=self.current)
            | RunnablePassthrough.assign(passages=self.with_pinned)
            | RunnablePassthrough.assign(context=self.context)
            | RunnablePassthrough.assign(draft=prompt | self.model | StrOutputParser())
            | self.answer
        ).with_config(run_name="security assistant")

    @cached_property
    def passages(self) -> list[Document]:
        """What the index holds: the documents of all tenants."""
        return load_passages(("northwind", "halcyon", "shared"), self.settings.index_day)

    @property
    def search(self) -> Bm25Retriever:
        """Search that leaves out what the caller may not see."""
        policy = self.settings.search_policy
        return Bm25Retriever(
            passages=self.passages,
            visible=lambda passage: policy is None or self.caller.refusal(passage, policy) is None,
            k=self.settings.top_k,
            metadata={"top_k": self.settings.top_k},
        )

    def permitted(self, state: State) -> list[Document]:
        """Check every passage again, and record each decision with its reason."""
        allowed: list[Document] = []
        with stage("permission", policy=self.settings.check_policy) as check:
            for passage in state["passages"]:
                reason = self.caller.refusal(passage, self.settings.check_policy)
                if reason is None:
                    check.allow(passage.id)
                    allowed.append(passage)
                else:
                    check.deny(passage.id, reason)
        return allowed

    def current(self, state: State) -> list[Document]:
        """Leave out superseded and withdrawn revisions."""
        return [passage for passage in state["passages"] if passage.metadata["status"] == "current"]

    def with_pinned(self, state: State) -> list[Document]:
        """Put the pinned passages first."""
        return [passage for passage in self.passages if passage.id in self.settings.pinned] + state["passages"]

    def context(self, state: State) -> str:
        """As many passages as the budget has words for, best first."""
        tell.budget(limit=self.settings.budget, tokenizer=WORDS.name)
        return as_context(fit(state["passages"], self.settings.budget))

    def answer(self, state: State) -> str:
        """The draft, or a friendly text in its place."""
        if state["draft"] != NO_ANSWER:
            return state["draft"]
        tell.outcome("abstained")
        return SORRY
