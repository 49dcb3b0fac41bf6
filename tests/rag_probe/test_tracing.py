"""`configure` does what the OTEL_* variables say, as a program sees it from start to exit."""

from __future__ import annotations

import os
from importlib.metadata import EntryPoints

import pytest

from rag_probe import exporters

from .otlp_server import grpc_receiver, http_receiver
from .programs import run

ONE_SPAN = """
    from opentelemetry import trace
    from rag_probe import configure
    handle = configure("shop")
    trace.get_tracer("app").start_span("one").end()
"""


@pytest.fixture
def received():
    with http_receiver() as received:
        yield received


def test_everything_is_sent_at_exit_over_http_by_default(received):
    done = run(
        ONE_SPAN,
        OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint,
        OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20x",
        OTEL_EXPORTER_OTLP_COMPRESSION="gzip",
        OTEL_RESOURCE_ATTRIBUTES="service.name=other,deployment.environment.name=ci",
    )
    assert received.spans() == [("one", "shop")]
    assert received.headers[0]["path"] == "/v1/traces"
    assert received.headers[0]["authorization"] == "Bearer x"
    assert received.headers[0]["content-encoding"] == "gzip"
    resource = received.requests[0].resource_spans[0].resource
    assert "deployment.environment.name" in {item.key for item in resource.attributes}
    assert done.stderr == ""


def test_over_grpc_when_asked():
    with grpc_receiver() as received:
        run(
            ONE_SPAN,
            OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
            OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=received.endpoint,
            OTEL_EXPORTER_OTLP_TRACES_HEADERS="x-team=search",
        )
    assert received.spans() == [("one", "shop")]
    assert received.headers[0]["x-team"] == "search"


def test_disabled_nothing_is_set_up(received):
    program = """
        from opentelemetry import trace
        from rag_probe import configure
        handle = configure()
        assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
        trace.get_tracer("app").start_span("one").end()
        assert handle.flush(100)
        handle.shutdown()
    """
    done = run(program, OTEL_SDK_DISABLED="TRUE", OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint)
    assert (received.requests, done.stderr) == ([], "")


def test_twice_is_once_and_after_a_shutdown_it_starts_again(received):
    program = """
        from opentelemetry import trace
        from rag_probe import configure
        first, second = configure("shop"), configure("shop")
        assert first is second
        tracer = trace.get_tracer("app")
        tracer.start_span("one").end()
        assert first.flush(100)
        first.shutdown()
        first.shutdown()
        third = configure("shop")
        assert third is not first
        tracer.start_span("two").end()
    """
    run(program, OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint)
    assert received.spans() == [("one", "shop"), ("two", "shop")]


def test_a_provider_of_the_app_is_left_alone_unless_we_are_asked_to_join(received):
    program = """
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
        from rag_probe import configure

        exported = []
        class Theirs(SpanExporter):
            def export(self, spans):
                exported.extend(span.name for span in spans)
                return SpanExportResult.SUCCESS

        theirs = TracerProvider()
        theirs.add_span_processor(BatchSpanProcessor(Theirs()))
        trace.set_tracer_provider(theirs)
        sampler = theirs.sampler
        handle = configure("shop")
        assert trace.get_tracer_provider() is theirs and theirs.sampler is sampler
        trace.get_tracer("app").start_span("one").end()
        assert handle.flush(100) and exported == ["one"]
        handle.shutdown()
        joined = configure("shop", join=True)
        assert joined is configure("shop", join=True)
        trace.get_tracer("app").start_span("two").end()
        joined.shutdown()
        trace.get_tracer("app").start_span("three").end()
        theirs.force_flush()
        assert exported == ["one", "two", "three"], exported
    """
    run(program, OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint)
    assert received.names() == ["two"]


def test_a_forked_child_sends_its_own_spans(received):
    """contracts 4: gunicorn --preload, Celery."""
    program = """
        import os
        from opentelemetry import trace
        from rag_probe import case, configure
        handle = configure("shop")
        tracer = trace.get_tracer("app")
        tracer.start_span("before").end()
        child = os.fork()
        if child == 0:
            with case("c", experiment="e"):
                tracer.start_span("child").end()
            os._exit(0 if handle.flush(100) else 1)
        assert os.waitpid(child, 0)[1] == 0
        tracer.start_span("parent").end()
    """
    run(program, OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint)
    assert received.names() == ["before", "child", "parent"]


def test_the_sampler_is_the_environment_s_but_cases_are_kept(received):
    program = """
        from opentelemetry import trace
        from rag_probe import case, configure
        configure("shop")
        tracer = trace.get_tracer("app")
        tracer.start_span("other").end()
        with case("c", experiment="e"):
            tracer.start_span("case").end()
        sampler = trace.get_tracer_provider().sampler
        assert sampler.get_description() == "KeepCases{TraceIdRatioBased{0.0}}", sampler.get_description()
    """
    run(
        program,
        OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint,
        OTEL_TRACES_SAMPLER="traceidratio",
        OTEL_TRACES_SAMPLER_ARG="0",
    )
    assert received.names() == ["case"]


def test_without_an_endpoint_to_be_reached_the_app_works_on():
    program = """
        from opentelemetry import trace
        from rag_probe import configure
        handle = configure("shop")
        trace.get_tracer("app").start_span("one").end()
        handle.flush(0.01)
        print("works on")
    """
    done = run(program, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", OTEL_EXPORTER_OTLP_TIMEOUT="1")
    assert done.stdout == "works on\n"
    assert "Traceback" not in done.stderr
    assert "rag_probe" not in done.stderr


def test_flush_says_whether_everything_was_delivered(received):
    program = """
        import os
        from opentelemetry import trace
        from rag_probe import configure
        tracer = trace.get_tracer("app")
        here = configure("shop")
        tracer.start_span("one").end()
        assert here.flush(100)
        here.shutdown()
        os.environ |= {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
        nowhere = configure("shop")
        tracer.start_span("two").end()
        assert not nowhere.flush(100)
        assert nowhere.flush(100), "nothing waits any more"
    """
    run(program, OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint)
    assert received.names() == ["one"]


def test_another_name_for_the_same_process_is_said_once(received):
    program = """
        import importlib, logging
        logging.basicConfig(format="%(name)s %(message)s")
        from opentelemetry import trace
        import rag_probe.tracing, rag_probe.provider
        handle = rag_probe.tracing.configure("shop")
        for module in (rag_probe.tracing, rag_probe.provider, rag_probe.tracing):
            importlib.reload(module)
            assert rag_probe.tracing.configure("store") is handle
        trace.get_tracer("app").start_span("one").end()
    """
    done = run(program, OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint)
    assert done.stderr == "rag_probe configure('store'): this process exports as 'shop' until it ends\n"
    assert received.spans() == [("one", "shop")]


def test_what_is_misconfigured_is_said_once_and_the_app_works_on(received):
    program = """
        import logging
        logging.basicConfig(format="%(name)s %(message)s")
        from opentelemetry import trace
        from rag_probe import configure
        configure().shutdown()
        configure()
        trace.get_tracer("app").start_span("one").end()
    """
    done = run(
        program,
        OTEL_TRACES_EXPORTER="otlp,zipkin,none",
        OTEL_EXPORTER_OTLP_PROTOCOL="http/xml",
        OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint,
        OTEL_PYTHON_ID_GENERATOR="xray",
    )
    assert [line.split(" ")[0] for line in done.stderr.splitlines()] == ["rag_probe"] * 4
    for said in ("service.name is unknown", "'xray' is not installed", "'zipkin' is not installed", "'http/xml'"):
        assert done.stderr.count(said) == 1
    assert received.names() == ["one"]


def test_without_the_extra_only_configure_and_keep_cases_are_missing():
    program = """
        import sys
        class Block:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[:2] == ["opentelemetry", "sdk"]:
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        sys.meta_path.insert(0, Block())
        from rag_probe import case, configure, stage, tell
        with case("c", experiment="e"), stage("filter") as s:
            s.keep("a")
            tell.outcome("answered")
        for use in ("configure()", "from rag_probe import KeepCases"):
            try:
                exec(use)
            except ModuleNotFoundError as error:
                print(error)
        stray = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
        print(sorted(name for name in stray if not name.startswith(("_", "sitecustomize"))))
    """
    done = run(program)
    configure, keep_cases, stray = done.stdout.splitlines()
    assert configure == "configure needs opentelemetry.sdk: pip install 'rag-probe-otel[otlp]'"
    assert keep_cases == "KeepCases needs opentelemetry.sdk: pip install 'rag-probe-otel[otlp]'"
    assert stray == "['opentelemetry', 'rag_probe', 'typing_extensions']"


def test_samplers_and_generators_of_other_packages_are_honoured(tmp_path):
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[opentelemetry_traces_sampler]\ntheirs = theirs:sampler\nbroken = theirs:broken\n"
        "[opentelemetry_id_generator]\ntheirs = theirs:Ids\n"
        "[opentelemetry_traces_exporter]\nodd = theirs:Ids\n"
    )
    (tmp_path / "theirs.py").write_text(
        "from opentelemetry.sdk.trace.id_generator import RandomIdGenerator\n"
        "from opentelemetry.sdk.trace.sampling import TraceIdRatioBased\n"
        "def sampler(argument): return TraceIdRatioBased(float(argument))\n"
        "class Ids(RandomIdGenerator):\n"
        "    def generate_trace_id(self): return 7\n"
    )
    program = """
        from opentelemetry import trace
        from rag_probe import configure
        configure("shop", keep_cases=False)
        provider = trace.get_tracer_provider()
        print(provider.sampler.get_description(), provider.id_generator.generate_trace_id())
    """
    theirs = {"PYTHONPATH": str(tmp_path), "OTEL_TRACES_SAMPLER_ARG": "0.5", "OTEL_PYTHON_ID_GENERATOR": "theirs"}
    assert run(program, OTEL_TRACES_SAMPLER="theirs", **theirs).stdout == "TraceIdRatioBased{0.5} 7\n"
    done = run(program, OTEL_TRACES_SAMPLER="broken", OTEL_TRACES_EXPORTER="odd", **theirs)
    assert "'broken' failed (AttributeError" in done.stderr
    assert "'odd' is no SpanExporter" in done.stderr
    assert done.stdout.startswith("ParentBased{root:AlwaysOnSampler")


@pytest.mark.parametrize(
    ("environ", "entry_point"),
    [
        ({}, "otlp_proto_http"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317"}, "otlp_proto_grpc"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, "otlp_proto_http"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:x"}, "otlp_proto_http"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
            "otlp_proto_http",
        ),
        (
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc"},
            "otlp_proto_grpc",
        ),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": " GRPC "}, "otlp_proto_grpc"),
    ],
)
def test_the_protocol(monkeypatch, environ, entry_point):
    for name in list(os.environ):
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert exporters._otlp() == entry_point


def test_json_without_its_exporter_is_sent_as_protobuf_and_said(monkeypatch, caplog):
    monkeypatch.setattr(exporters, "entry_points", lambda group: EntryPoints())
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
    assert exporters._otlp() == "otlp_proto_http"
    assert "pip install opentelemetry-exporter-otlp-json-http" in caplog.text


def test_the_vocabulary_needs_nothing_at_all():
    """The evaluator reads stages and paths without loading OpenTelemetry."""
    program = """
        import sys
        import rag_probe.path_json, rag_probe.policy, rag_probe.protocols, rag_probe.wire
        assert not any(name.startswith("opentelemetry") for name in sys.modules)
    """
    run(program)


def test_limits_that_are_too_low_are_said():
    """What an SDK cuts or drops nobody can get back."""
    program = "from rag_probe import configure; configure('shop')"
    done = run(
        program,
        OTEL_TRACES_EXPORTER="none",
        OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT="5",
        OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT="32",
        OTEL_ATTRIBUTE_COUNT_LIMIT="128",
    )
    assert done.stderr.splitlines() == [
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=5: spans lose what they say; set it to 64 or more",
        "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT=32: ids are cut, and no longer those of your cases; set it to 256 or more",
    ]
