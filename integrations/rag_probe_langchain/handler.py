"""The callback handler: thin, inline, never raising. State is the process's, so that an instance costs nothing."""

# ruff: noqa: ANN401, ARG002 - the signatures are LangChain's
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from rag_probe.current import register_resolver
from rag_probe.faults import log_once
from rag_probe.policy import CapturePolicy, policy_from_environment
from rag_probe_langchain.begin import begin, begin_model
from rag_probe_langchain.current import resolve
from rag_probe_langchain.finish import fail, finish
from rag_probe_langchain.generation import generation_ended
from rag_probe_langchain.options import IdentityOf, Options, OutcomeOf
from rag_probe_langchain.retrieval import retrieval_ended
from rag_probe_langchain.steps import step_ended
from rag_probe_langchain.tokens import Tokenizer, tokenizer_of
from rag_probe_langchain.tools import tool_ended

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import LLMResult
    from opentelemetry.trace import TracerProvider

P = ParamSpec("P")


def guarded(callback: Callable[P, None]) -> Callable[P, None]:
    """A fault of ours is logged once per kind and never reaches the app."""

    @wraps(callback)
    def safe(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            callback(*args, **kwargs)
        except Exception as error:  # the chain goes on unharmed: that is the whole point
            log_once(callback.__name__, error)

    return safe


class RagProbeCallbackHandler(BaseCallbackHandler):
    """Turns the callback runs of a LangChain app into OpenTelemetry spans of RAG stages.

    Add it with `config={"callbacks": [RagProbeCallbackHandler()]}`; nothing else changes. Make one per request or one
    for all. A question is recorded under the options of the handler that heard its outermost run; a second handler that
    hears the same runs adds nothing.
    """

    run_inline = True
    """Never through an executor; and async managers of models drop handlers that are not."""
    scope: ClassVar[str] = "rag_probe.langchain"

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        policy: CapturePolicy | None = None,
        tokenizer: Tokenizer | Callable[[str], int] | None = None,
        outcome: OutcomeOf | None = None,
        identity: IdentityOf | None = None,
    ) -> None:
        """By default: the process's provider, the environment's policy, tokens estimated, outcomes inferred."""
        self._options = Options(
            provider=tracer_provider,
            policy=policy or policy_from_environment(),
            tokenizer=tokenizer_of(tokenizer),
            outcome=outcome,
            identity=identity,
            scope=self.scope,
        )

    @guarded
    def on_chain_start(self, serialized: object, inputs: object, *, run_id: UUID, **kwargs: Any) -> None:
        """Open a step."""
        begin(self._options, "chain", run_id, inputs, kwargs)

    @guarded
    def on_chain_end(self, outputs: object, *, run_id: UUID, inputs: object = None, **kwargs: Any) -> None:
        """End a step; a streamed one tells its input only now."""
        finish(run_id, lambda run, at: step_ended(run, outputs, at), outputs, inputs)

    @guarded
    def on_chain_error(self, error: BaseException, *, run_id: UUID, inputs: object = None, **kwargs: Any) -> None:
        """End a step that raised."""
        fail(run_id, error, inputs=inputs)

    @guarded
    def on_retriever_start(self, serialized: object, query: str, *, run_id: UUID, **kwargs: Any) -> None:
        """Open a retrieval."""
        begin(self._options, "retriever", run_id, query, kwargs)

    @guarded
    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **kwargs: Any) -> None:
        """End a retrieval with what it returned."""
        finish(run_id, lambda run, _: retrieval_ended(run, documents))

    @guarded
    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """End a retrieval that raised."""
        fail(run_id, error)

    @guarded
    def on_chat_model_start(
        self, serialized: object, messages: list[list[BaseMessage]], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Open a call of a chat model."""
        begin_model(self._options, "chat", run_id, messages[0] if messages else (), kwargs)

    @guarded
    def on_llm_start(self, serialized: object, prompts: list[str], *, run_id: UUID, **kwargs: Any) -> None:
        """Open a call of a completion model."""
        begin_model(self._options, "text_completion", run_id, prompts[0] if prompts else "", kwargs)

    @guarded
    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """End a model call with what it wrote."""
        finish(run_id, lambda run, _: generation_ended(run, response), response)

    @guarded
    def on_llm_error(
        self, error: BaseException, *, run_id: UUID, response: LLMResult | None = None, **kwargs: Any
    ) -> None:
        """End a model call that raised, with the part that it wrote."""
        fail(run_id, error, lambda run, _: generation_ended(run, response))

    @guarded
    def on_tool_start(self, serialized: dict[str, Any] | None, input_str: str, *, run_id: UUID, **kwargs: Any) -> None:
        """Open a call of a tool."""
        kwargs["name"] = (serialized or {}).get("name") or kwargs.get("name")
        run = begin(self._options, "tool", run_id, kwargs.get("inputs") or input_str, kwargs)
        if run is not None:
            run.call_id = kwargs.get("tool_call_id")

    @guarded
    def on_tool_end(self, output: object, *, run_id: UUID, **kwargs: Any) -> None:
        """End a call of a tool."""
        finish(run_id, lambda run, at: tool_ended(run, output, at))

    @guarded
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """End a call of a tool that raised."""
        fail(run_id, error, lambda run, at: tool_ended(run, None, at))


register_resolver(resolve)
