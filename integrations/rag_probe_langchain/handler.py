"""The callback handler: thin, inline, never raising. State is the process's, so that an instance costs nothing."""

# ruff: noqa: ANN401, ARG002 - the signatures are LangChain's
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from rag_probe.current import register_resolver, register_steering
from rag_probe.ending import register_open
from rag_probe.faults import log_once
from rag_probe.policy import CapturePolicy, policy_from_environment
from rag_probe_langchain.begin import begin, begin_model
from rag_probe_langchain.current import resolve
from rag_probe_langchain.finish import end_open, fail, finish, finish_step, incomplete
from rag_probe_langchain.generation import generation_ended
from rag_probe_langchain.options import IdentityOf, Options, OutcomeOf
from rag_probe_langchain.retrieval import retrieval_ended
from rag_probe_langchain.run import Call
from rag_probe_langchain.searching import entered
from rag_probe_langchain.steering import is_control_flow
from rag_probe_langchain.tokens import Tokenizer, tokenizer_of
from rag_probe_langchain.tools import tool_ended

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import LLMResult
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider


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
        meter_provider: MeterProvider | None = None,
        policy: CapturePolicy | None = None,
        tokenizer: Tokenizer | Callable[[str], int] | None = None,
        outcome: OutcomeOf | None = None,
        identity: IdentityOf | None = None,
        beside: bool = False,
    ) -> None:
        """By default: the process's providers, the environment's policy, tokens estimated, outcomes inferred.

        `beside=True` where another instrumentation of LangChain writes the spans of workflows, models, tools and
        retrievers: then ours hang under its spans and hold the evidence alone.
        """
        self._options = Options(
            provider=tracer_provider,
            meter_provider=meter_provider,
            policy=policy or policy_from_environment(),
            tokenizer=tokenizer_of(tokenizer),
            outcome=outcome,
            identity=identity,
            scope=self.scope,
            beside=beside,
        )

    def on_chain_start(
        self,
        serialized: object,
        inputs: object,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Open a step."""
        try:
            begin(self._options, "chain", run_id, parent_run_id, name, inputs, tags, metadata)
        except Exception as error:  # here and below: the chain goes on unharmed, that is the whole point
            log_once("on_chain_start", error)

    def on_chain_end(self, outputs: object, *, run_id: UUID, inputs: object = None, **kwargs: Any) -> None:
        """End a step; a streamed one tells its input only now."""
        try:
            finish_step(run_id, outputs, inputs)
        except Exception as error:
            log_once("on_chain_end", error)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, inputs: object = None, **kwargs: Any) -> None:
        """End a step that raised."""
        try:
            fail(run_id, error, incomplete, inputs=inputs)
        except Exception as fault:
            log_once("on_chain_error", fault)

    def on_retriever_start(
        self,
        serialized: object,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Open a retrieval."""
        try:
            begin(self._options, "retriever", run_id, parent_run_id, name, query, tags, metadata)
            entered(run_id.int)
        except Exception as error:
            log_once("on_retriever_start", error)

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **kwargs: Any) -> None:
        """End a retrieval with what it returned."""
        try:
            finish(run_id, retrieval_ended, documents)
        except Exception as error:
            log_once("on_retriever_end", error)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """End a retrieval that raised."""
        try:
            fail(run_id, error, incomplete)
        except Exception as fault:
            log_once("on_retriever_error", fault)

    def on_chat_model_start(
        self,
        serialized: object,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Open a call of a chat model."""
        try:
            prompt = messages[0] if messages else ()
            parameters = kwargs.get("invocation_params")
            begin_model(self._options, "chat", run_id, parent_run_id, prompt, tags, metadata, parameters)
        except Exception as error:
            log_once("on_chat_model_start", error)

    def on_llm_start(
        self,
        serialized: object,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Open a call of a completion model."""
        try:
            prompt = prompts[0] if prompts else ""
            parameters = kwargs.get("invocation_params")
            begin_model(self._options, "text_completion", run_id, parent_run_id, prompt, tags, metadata, parameters)
        except Exception as error:
            log_once("on_llm_start", error)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """End a model call with what it wrote."""
        try:
            finish(run_id, generation_ended, response)
        except Exception as error:
            log_once("on_llm_end", error)

    def on_llm_error(
        self, error: BaseException, *, run_id: UUID, response: LLMResult | None = None, **kwargs: Any
    ) -> None:
        """End a model call that raised, with the part that it wrote."""
        try:
            fail(run_id, error, generation_ended, response)
        except Exception as fault:
            log_once("on_llm_error", fault)

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Open a call of a tool."""
        try:
            name = (serialized or {}).get("name") or kwargs.get("name")
            call = Call("execute_tool", id=kwargs.get("tool_call_id"))
            begin(self._options, "tool", run_id, parent_run_id, name, inputs or input_str, tags, metadata, call)
        except Exception as error:
            log_once("on_tool_start", error)

    def on_tool_end(self, output: object, *, run_id: UUID, **kwargs: Any) -> None:
        """End a call of a tool."""
        try:
            finish(run_id, tool_ended, output)
        except Exception as error:
            log_once("on_tool_end", error)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """End a call of a tool that raised."""
        try:
            fail(run_id, error, tool_ended)
        except Exception as fault:
            log_once("on_tool_error", fault)


register_resolver(resolve)
register_open(end_open)
register_steering(is_control_flow)
