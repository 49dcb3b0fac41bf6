"""A tenth of the traces, or none at all; cases always (issue B: sampling, OTEL_SDK_DISABLED, no SDK)."""

from __future__ import annotations

from collections import Counter

import pytest

from .arrived import STAGES, Arrived
from .programs import ran

pytestmark = pytest.mark.slow

SAMPLED = """
    import random
    from opentelemetry import trace
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased
    from rag_probe import case, configure
    from tests.running.desk import ask
    telemetry = configure()
    seeded = random.Random(7)

    class Seeded(RandomIdGenerator):
        def generate_trace_id(self):
            return seeded.getrandbits(128)

    telemetry.provider.id_generator = Seeded()
    tracer = trace.get_tracer("server")
    for number in range(200):
        with tracer.start_as_current_span("GET /ask"):
            ask(f"other {number}")
    for number in range(20):
        with case(f"case {number}", experiment="e"), tracer.start_as_current_span("GET /ask"):
            ask(f"case {number}")
    again = random.Random(7)
    limit = TraceIdRatioBased(0.1).bound
    print(*[number for number in range(200) if again.getrandbits(128) & (2**64 - 1) < limit])
"""


def test_a_tenth_of_the_others_and_every_case_whole_traces_only(arrived: Arrived) -> None:
    environ = {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.1"}
    said = ran(SAMPLED, {**arrived.environment(), **environ})
    sampled = said.split()
    assert 10 < len(sampled) < 35
    arrived.assert_answered([f"other {number}" for number in sampled] + [f"case {number}" for number in range(20)])
    traces = Counter(span.trace_id for span in arrived.spans())
    assert set(traces.values()) == {len(STAGES) + 1}
    assert sum(path.tags.case_id is not None for path in arrived.paths()) == 20


NOTHING = """
    from rag_probe import case, configure, stage, tell
    from tests.running.desk import ANSWER, CONFIG, ask
    from rag_probe_langchain import runs
    try:
        configure()
    except ModuleNotFoundError as error:
        print(error)
    with case("c", experiment="e"), stage("filter") as noted:
        noted.keep("a")
        assert ask("How long?") == ANSWER
        tell.confidence(0.5)
    assert not runs.OPEN
"""
WITHOUT_SDK = """
    import sys
    class Block:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[:2] in (["opentelemetry", "sdk"], ["opentelemetry", "exporter"]):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    sys.meta_path.insert(0, Block())
"""


@pytest.mark.parametrize(
    ("before", "environ", "said"),
    [
        ("", {"OTEL_SDK_DISABLED": "true"}, ""),
        ("", {"OTEL_TRACES_EXPORTER": "none"}, ""),
        ("", {"OTEL_TRACES_SAMPLER": "always_off"}, ""),
        (WITHOUT_SDK, {}, "configure needs opentelemetry.sdk: pip install 'rag-probe-otel[otlp]'"),
    ],
    ids=["disabled", "no exporter", "always off", "no SDK"],
)
def test_the_app_works_and_nothing_is_sent(arrived: Arrived, before: str, environ: dict[str, str], said: str) -> None:
    kept = [] if "SAMPLER" not in str(environ) else ["How long?"]  # a case is kept
    assert ran(before + NOTHING, {**arrived.environment(), **environ}).strip() == said
    assert arrived.questions() == kept


def test_to_the_console(arrived: Arrived) -> None:
    said = ran(NOTHING, {**arrived.environment(), "OTEL_TRACES_EXPORTER": "console"})
    assert said.count('"name": "invoke_workflow returns desk"') == 1
    assert arrived.spans() == []
