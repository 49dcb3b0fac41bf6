"""Which run is measured as what; `rag_probe.metering` does it."""

from __future__ import annotations

from typing import Final

from opentelemetry.context import Context

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.faults import error_type
from rag_probe.metering import Meter
from rag_probe_langchain.opening import operation_of
from rag_probe_langchain.request import StageSpan
from rag_probe_langchain.run import Run

_USAGE: Final = "gen_ai.usage."


def measure_run(meter: Meter, run: Run, said: Attributes, context: Context) -> None:
    """Measure a run that has ended. One that was ended from outside took nobody knows how long.

    Beside another instrumentation its durations and tokens are the other's to measure.
    """
    facts: dict[str, Value] = {a.AGENT_NAME: run.name, a.TOOL_NAME: run.name, **said}
    operation = operation_of(run)
    if operation is not None:
        facts[a.OPERATION] = operation
    if run.error is not None:
        facts[a.ERROR_TYPE] = error_type(run.error)
    if run.request.options.beside:
        facts = {name: value for name, value in facts.items() if name != a.OPERATION and not name.startswith(_USAGE)}
    seconds = None if run.partial else (run.ended - run.started) / 1e9
    meter.ended(facts, seconds, context, inner=run.retriever is not None)


def measure_stage(meter: Meter, stage: StageSpan, context: Context) -> None:
    """Measure a stage that is no run."""
    meter.ended(stage.attributes, (stage.ended - stage.started) / 1e9, context)
