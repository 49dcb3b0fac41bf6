"""`configure` exports metrics when OTEL_METRICS_EXPORTER asks for it, and only then (issue B, Metrics)."""

from __future__ import annotations

import pytest

from .otlp_server import grpc_receiver, http_receiver, service
from .programs import run

DENY = """
        from opentelemetry import metrics
        from rag_probe import configure, stage
        handle = configure("shop")
        with stage("permission", policy="v7") as s:
            s.deny("b", "foreign_tenant")
"""


@pytest.fixture
def received():
    with http_receiver() as received:
        yield received


def denials(received):
    return [
        (point.as_int, {item.key: item.value.string_value for item in point.attributes})
        for point in received.metrics().get("rag.permission.denials", [])
    ]


DENIED = [(1, {"rag.permission.policy": "v7", "rag.reason": "foreign_tenant"})]


def test_at_exit_over_http(received):
    done = run(
        DENY,
        OTEL_METRICS_EXPORTER="otlp",
        OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint,
        OTEL_EXPORTER_OTLP_METRICS_HEADERS="x-team=search",
        OTEL_EXPORTER_OTLP_COMPRESSION="gzip",
    )
    assert (done.stderr, denials(received)) == ("", DENIED)
    assert {service(each.resource) for each in received.metric_requests[0].resource_metrics} == {"shop"}
    sent = [each for each in received.headers if each["path"] == "/v1/metrics"]
    assert {(each["x-team"], each["content-encoding"]) for each in sent} == {("search", "gzip")}
    assert received.names() == ["rag.permission"]


def test_over_grpc_while_spans_go_elsewhere(received):
    with grpc_receiver() as other:
        done = run(
            DENY,
            OTEL_METRICS_EXPORTER="otlp",
            OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint,
            OTEL_EXPORTER_OTLP_METRICS_PROTOCOL="grpc",
            OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=other.endpoint,
        )
    assert (done.stderr, denials(other)) == ("", DENIED)
    assert (received.names(), received.metric_requests, other.requests) == (["rag.permission"], [], [])


def test_over_json(received):
    run(
        DENY,
        OTEL_METRICS_EXPORTER="otlp",
        OTEL_EXPORTER_OTLP_PROTOCOL="http/json",
        OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint,
    )
    assert any(b'"rag.permission.denials"' in body for path, body in received.bodies if path == "/v1/metrics")


@pytest.mark.parametrize("asked", [{}, {"OTEL_METRICS_EXPORTER": "none"}, {"OTEL_METRICS_EXPORTER": ""}])
def test_unasked_nothing_is_set_up_and_nothing_measured(received, asked):
    program = """
        from opentelemetry import metrics
        from rag_probe import configure
        from rag_probe.metering import meter_of
        configure("shop")
        assert meter_of(None, "x") is None, metrics.get_meter_provider()
    """
    done = run(DENY + program, OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint, **asked)
    assert (done.stderr, received.metric_requests) == ("", [])
    assert received.names() == ["rag.permission"]


def test_disabled_nothing_is_set_up(received):
    done = run(
        DENY,
        OTEL_SDK_DISABLED="true",
        OTEL_METRICS_EXPORTER="otlp",
        OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint,
    )
    assert (done.stderr, received.bodies) == ("", [])


def test_flush_sends_them_and_after_a_shutdown_it_starts_again(received):
    program = """
        assert configure("shop") is handle
        assert handle.flush(100)
        handle.shutdown()
        handle.shutdown()
        provider = metrics.get_meter_provider()
        again = configure("shop")
        assert again is not handle and metrics.get_meter_provider() is provider
        with stage("permission", policy="v8") as s:
            s.deny("b")
        assert again.flush(100)
        print("flushed")
    """
    done = run(DENY + program, OTEL_METRICS_EXPORTER="otlp", OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint)
    assert (done.stdout, done.stderr) == ("flushed\n", "")
    assert (1, {"rag.permission.policy": "v8"}) in denials(received)
    assert received.names() == ["rag.permission", "rag.permission"]


def test_the_app_s_meter_provider_is_left_alone_unless_we_are_asked_to_join(received):
    program = """
        from opentelemetry import metrics
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        theirs = InMemoryMetricReader()
        provider = MeterProvider([theirs])
        metrics.set_meter_provider(provider)
        from rag_probe import configure, stage
        handle = configure("shop")
        assert metrics.get_meter_provider() is provider and handle.readers == ()
        with stage("permission") as s:
            s.deny("b")
        assert handle.flush(100)
        assert "rag.permission.denials" in theirs.get_metrics_data().to_json()
        handle.shutdown()
        with stage("permission") as s:
            s.deny("b")
        assert "rag.permission.denials" in theirs.get_metrics_data().to_json()
    """
    done = run(program, OTEL_METRICS_EXPORTER="otlp", OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint)
    assert (done.stderr, received.metric_requests) == ("", [])
    joined = program.replace('configure("shop")', 'configure("shop", join=True)').replace(
        "handle.readers == ()", "True"
    )
    run(joined, OTEL_METRICS_EXPORTER="otlp", OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint)
    assert denials(received)


def test_a_forked_child_exports_over_a_connection_of_its_own(received):
    program = """
        import os
        assert handle.flush(100)
        child = os.fork()
        if child == 0:
            with stage("permission", policy="child") as s:
                s.deny("b")
            os._exit(0 if handle.flush(100) else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert handle.flush(100)
    """
    done = run(DENY + program, OTEL_METRICS_EXPORTER="otlp", OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint)
    assert done.stderr == ""
    policies = {
        item.value.string_value
        for request in received.metric_requests
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.sum.data_points
        for item in point.attributes
        if item.key == "rag.permission.policy"
    }
    assert policies == {"v7", "child"}


def test_a_reader_that_is_pulled_and_one_that_cannot_be_had(tmp_path):
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[opentelemetry_metrics_exporter]\npulled = theirs:Reader\nodd = theirs:Odd\n"
    )
    (tmp_path / "theirs.py").write_text(
        "from opentelemetry.sdk.metrics.export import InMemoryMetricReader as Reader\nclass Odd: pass\n"
    )
    program = """
        (way,) = handle.readers
        assert "rag.permission.denials" in way.reader.get_metrics_data().to_json()
        assert handle.flush(100)
        handle.shutdown()
    """
    done = run(
        DENY + program,
        PYTHONPATH=str(tmp_path),
        OTEL_METRICS_EXPORTER="pulled,odd,nowhere",
        OTEL_TRACES_EXPORTER="none",
    )
    assert len(done.stderr.splitlines()) == 2
    assert "'odd' exports no metrics" in done.stderr
    assert "'nowhere' is not installed" in done.stderr


def test_without_an_endpoint_to_be_reached_the_app_works_on_and_ends():
    done = run(
        DENY + "        print(handle.flush(0.2))\n",
        OTEL_METRICS_EXPORTER="otlp",
        OTEL_TRACES_EXPORTER="none",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
        OTEL_EXPORTER_OTLP_TIMEOUT="1",
    )
    assert done.stdout == "False\n"
    assert "Traceback" not in done.stderr
    assert "rag_probe" not in done.stderr
