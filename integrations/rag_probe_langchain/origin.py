"""The state of a new question: who asks what, in which case, under which ambient context."""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.runnables.config import var_child_runnable_config
from opentelemetry import context as ambient
from opentelemetry import trace

from rag_probe.cases import current_identity, current_tags
from rag_probe.faults import log_once
from rag_probe.identifiers import identity_of
from rag_probe.metering import meter_of
from rag_probe.policy import CapturePolicy
from rag_probe.stages import NO_TAGS, CaseTags, Identity
from rag_probe_langchain.nodes import thread_of
from rag_probe_langchain.options import Options
from rag_probe_langchain.peers.looking import peers_of
from rag_probe_langchain.question import question_in
from rag_probe_langchain.request import Request, SpanWriter
from rag_probe_langchain.spans import writer_of
from rag_probe_langchain.tokens import tokenizer_of
from rag_probe_langchain.writing import Writer


def new_request(options: Options, inputs: object, metadata: Mapping[str, object], now: int) -> Request:
    """State for a root run that starts at `now` (nanoseconds since the epoch)."""
    context = ambient.get_current()
    provider = options.provider or trace.get_tracer_provider()
    writer = writer_of(provider, options)
    meter = meter_of(options.meter_provider, options.scope)
    unset = options.provider is None and isinstance(provider, trace.ProxyTracerProvider)
    if meter is None and (unset or isinstance(writer.tracer, trace.NoOpTracer)):
        return _unrecorded(options, writer, context, now)
    return Request(
        options=options,
        writer=writer,
        meter=meter,
        context=context,
        tags=current_tags(context),
        identity=_identity(options, inputs, metadata, context),
        thread=thread_of(metadata),
        asked=question_in(inputs),
        now=now,
        peers=peers_of(provider),
    )


def seek_thread(request: Request) -> None:
    """A chain's configuration, which names the conversation, is to be seen inside it only; looked for once."""
    request.sought = True
    config = var_child_runnable_config.get()
    configurable = None if config is None else config.get("configurable")
    if request.thread is None and configurable:
        request.thread = thread_of(configurable)


def unheard(policy: CapturePolicy) -> Request:
    """State for a question that no callback told of: its evidence lies in a store."""
    options = Options(
        provider=None,
        meter_provider=None,
        policy=policy,
        tokenizer=tokenizer_of(None),
        outcome=None,
        identity=None,
        scope="",
    )
    writer = Writer(trace.NoOpTracer())
    return Request(
        options=options,
        writer=writer,
        meter=None,
        context=ambient.Context(),
        tags=CaseTags(),
        identity=None,
        thread=None,
        asked=None,
        now=0,
    )


def _unrecorded(options: Options, writer: SpanWriter, context: ambient.Context, now: int) -> Request:
    """Nobody listens, and nobody will until the question is over: it is not even read."""
    request = Request(
        options=options,
        writer=writer,
        meter=None,
        context=context,
        tags=NO_TAGS,
        identity=None,
        thread=None,
        asked=None,
        now=now,
    )
    request.traced = request.recording = False
    return request


def _identity(
    options: Options, inputs: object, metadata: Mapping[str, object], context: ambient.Context
) -> Identity | None:
    if options.identity is not None:
        try:
            identity = identity_of(options.identity(inputs, metadata))
        except Exception as error:  # the app's own hook: its failure must not reach the app
            log_once("identity=", error)
            identity = None
        if identity is not None:
            return identity
    return current_identity(context)
