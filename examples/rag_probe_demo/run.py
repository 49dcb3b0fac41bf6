"""Asks one app its questions and sends the evidence to wherever the OTEL_* variables point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from rag_probe import case, configure
from rag_probe.stages import Identity
from rag_probe_demo.budget import WORDS
from rag_probe_demo.questions import Question, load_questions
from rag_probe_demo.returns import ReturnsAssistant
from rag_probe_demo.returns import Settings as ReturnsSettings
from rag_probe_demo.security import Caller, SecurityAssistant
from rag_probe_demo.security import Settings as SecuritySettings
from rag_probe_langchain import RagProbeCallbackHandler
from rag_probe_langgraph import RagProbeGraphHandler

App: TypeAlias = Runnable[Mapping[str, str], object]


def security(question: Question, model: BaseChatModel) -> App:
    """The security desk's assistant, for the caller who asks."""
    caller = Caller(subject=question.subject or "unknown", tenant=question.tenant, role=question.roles[0])
    return cast("App", SecurityAssistant(model, caller, SecuritySettings(**question.settings)).chain())


def returns(question: Question, model: BaseChatModel) -> App:
    """The store's assistant, the same for every customer."""
    return cast("App", ReturnsAssistant(model, ReturnsSettings(**question.settings)).graph())


APPS: Final[Mapping[str, Callable[[Question, BaseChatModel], App]]] = {"security": security, "returns": returns}
HANDLERS: Final = {"security": RagProbeCallbackHandler, "returns": RagProbeGraphHandler}


def run(name: str, experiment: str, model: BaseChatModel) -> Iterator[str]:
    """Send telemetry, ask everything once; yields a line for every question that failed."""
    telemetry = configure(service_name=f"{name}-assistant")
    yield from ask(name, experiment, model, HANDLERS[name](tokenizer=WORDS))
    telemetry.shutdown(60)


def ask(name: str, experiment: str, model: BaseChatModel, handler: RagProbeCallbackHandler) -> Iterator[str]:
    """Ask everything once, each question tagged with its case; yields a line for every one that failed."""
    questions = load_questions(name)
    for question in questions.each:
        app = APPS[name](question, model)
        tags = case(
            question.case_id,
            experiment=experiment,
            dataset_version=questions.dataset_version,
            corpus_version=questions.corpus_version,
            identity=Identity(subject=question.subject, tenant=question.tenant, roles=question.roles),
        )
        try:
            with tags:
                app.invoke({"question": question.text}, {"callbacks": [handler]})
        except Exception as error:  # the trace holds the failure, and the next question is asked
            yield f"{question.case_id}: {type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
