"""A store's returns assistant: a LangGraph graph that checks its own drafts, observed by one callback.

    retrieve → filter → draft → validate ─ accepted → end
                          ↑         │
                          └ refused ┘  (once)

The graph is what you would write without rag-probe. One call is for the evidence path only: `tell.outcome`
says that the text shown is no answer.
"""

# langgraph's own types are incomplete:
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Annotated, Any, Final, TypeAlias, TypedDict

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from rag_probe import tell
from rag_probe_demo.corpus import TODAY, load_passages
from rag_probe_demo.prompts import NO_ANSWER, PROMPT, REFUSED, as_context
from rag_probe_demo.retrievers import Bm25Retriever, Shortlist

SORRY: Final = "Our return terms do not say. A colleague will write to you within one working day."
DRAFTS: Final = 2
_CITATION: Final = re.compile(r"\[([^\]\s]+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What can be set, and therefore set wrong, stage by stage."""

    top_k: int = 4
    today: date = TODAY
    """The day by which the filter judges whether terms are in force."""


class Question(TypedDict):
    """What the graph is asked."""

    question: str


class State(Question):
    """What flows through the graph."""

    passages: list[Document]
    drafts: Annotated[list[str], operator.add]
    answer: str


Update: TypeAlias = dict[str, Any]
"""What a node changes of the state."""


@dataclass(frozen=True)
class ReturnsAssistant:
    """The assistant for every customer alike."""

    model: BaseChatModel
    settings: Settings = Settings()

    def graph(self) -> CompiledStateGraph[State, None, Question, State]:
        """Takes `{"question": …}`, gives a state whose `answer` is the text to show."""
        graph = StateGraph(State, input_schema=Question)
        graph.add_node("retrieve", self.retrieve)
        graph.add_node("filter", self.in_force)
        graph.add_node("draft", self.draft)
        graph.add_node("validate", self.validate)
        graph.add_edge(START, "retrieve")
        graph.add_edge("retrieve", "filter")
        graph.add_edge("filter", "draft")
        graph.add_edge("draft", "validate")
        graph.add_conditional_edges("validate", _next, ["draft", END])
        return graph.compile(name="returns assistant")

    @cached_property
    def search(self) -> Shortlist:
        """The best few of a wide search."""
        return Shortlist(base=Bm25Retriever(passages=load_passages(["store"])), k=self.settings.top_k)

    def retrieve(self, state: State) -> Update:
        """Find passages."""
        return {"passages": self.search.invoke(state["question"])}

    def in_force(self, state: State) -> Update:
        """Leave out terms that no longer or do not yet hold."""
        today = self.settings.today.isoformat()
        terms = [(passage, passage.metadata) for passage in state["passages"]]
        return {"passages": [each for each, of in terms if of["status"] == "current" and of["valid_from"] <= today]}

    def draft(self, state: State) -> Update:
        """Write an answer; a refused draft comes back with the reason."""
        note = f"{REFUSED} cite a passage for every sentence, and no other source."
        refusals = [message for text in state["drafts"] for message in (AIMessage(text), HumanMessage(note))]
        prompt = PROMPT.invoke(
            {
                "role": "the returns assistant of a store",
                "context": as_context(state["passages"]),
                "question": state["question"],
                "refusals": refusals,
            }
        )
        return {"drafts": [self.model.invoke(prompt).text]}

    def validate(self, state: State) -> Update:
        """Accept a draft that cites, and only what it was given; rather say nothing than send a bad last one."""
        draft = state["drafts"][-1]
        cited = set(_CITATION.findall(draft))
        if cited and cited <= {passage.id for passage in state["passages"]}:
            return {"answer": draft}
        if draft == NO_ANSWER or len(state["drafts"]) == DRAFTS:
            tell.outcome("abstained")
            return {"answer": SORRY}
        return {}


def _next(state: State) -> str:
    return END if "answer" in state else "draft"
