"""What an app records through the real SDK and encoder is what the evaluator reads."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import set_span_in_context

from rag_probe import attributes as a
from rag_probe.path import Drop, Filtered, Permission, Ranked, Step
from rag_probe.protocols import Selection
from rag_probe.stages import Answer, Citations, ContextAssembly, Generation, Retrieval, Root
from rag_probe.wire import encode, encode_node, encode_root
from tests.rag_probe import strategies
from tests.rag_probe_collector.spans import MS, T0, source

TOOK = 7


class App:
    """Writes one question as a handler does: a root, and below it one span after the other."""

    def __init__(self, root):
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = provider.get_tracer("rag_probe.langchain")
        attributes = {a.OPERATION: "invoke_workflow", **encode_root(root, 200)}
        self.root = self.tracer.start_span("invoke_workflow", attributes=attributes, start_time=T0)
        self.at = T0

    def run(self, attributes):
        self.at += 10 * MS
        context = set_span_in_context(self.root)
        self.tracer.start_span("step", context, attributes=attributes, start_time=self.at).end(self.at + TOOK * MS)

    def sent(self):
        self.root.end(self.at + 100 * MS)
        return encode_spans(self.exporter.get_finished_spans())


def short(strategy, most=2):
    return st.lists(strategy, max_size=most)


known_documents = strategies.retrievals.filter(lambda stage: stage.documents is not None)
calls = strategies.generations.map(lambda stage: replace(stage, role=None))
tasks = strategies.nodes.filter(lambda node: node.outcome != "interrupted" and node.name != "__start__").map(
    lambda node: replace(node, task_id=None)
)
roots = strategies.roots.filter(lambda root: root.answer is not None).map(
    lambda root: replace(root, resumed_at=None, resumed=None)
)
"""Of a question that is whole: what goes on with an earlier run is not (test_questions)."""


@settings(max_examples=60)
@given(
    roots,
    short(known_documents),
    short(strategies.reranks()),
    short(strategies.permissions()),
    short(strategies.filterings()),
    short(calls, 1),
    short(strategies.tools),
    short(tasks),
)
def test_a_path_survives(root, retrievals, reranks, permissions, filters, generations, tools, nodes):
    app = App(root)
    for node in nodes:
        app.run(encode_node(node))
    for stage in (*retrievals, *reranks, *permissions, *filters, *generations, *tools):
        app.run(encode(stage))
    (path,) = source(app.sent()).paths(Selection())

    assert (path.tags, path.identity, path.thread_id) == (root.tags, root.identity, root.thread_id)
    assert (path.question, path.answer, path.citations) == (root.question, root.answer, cited(root.answer))
    assert path.retrievals == tuple(Step(stage, TOOK) for stage in retrievals)
    from_elsewhere = not retrievals and any(step.context is not None and step.context.ids for step in generations)
    ids = tuple(dict.fromkeys(name for stage in retrievals for name in stage.documents.ids))
    assert (path.retrieved and path.retrieved.ids) == (None if from_elsewhere else ids)
    assert path.reranked == last_ranking(reranks)
    assert path.permissions == all_decisions(permissions)
    told = all_filters(filters)
    if len(filters) > 1 or (filters and retrievals):  # what several kept together, and what went around: test_build
        told = replace(told, kept=path.filtered.kept)
    assert path.filtered == told
    assert [step.stage for step in path.generations] == generations
    assert path.context == (generations[0].context if generations else ContextAssembly())
    assert path.tools == tuple(Step(stage, TOOK) for stage in tools)
    assert path.nodes == tuple(Step(node, TOOK) for node in nodes)
    told = None if root.verdicts is None else root.verdicts.passed
    assert (path.verdicts and tuple(each.passed for each in path.verdicts)) == told
    assert (path.latency_ms, path.partial, path.warnings, path.error) == ((app.at - T0) / MS + 100, False, (), None)
    for kind, stages in (("retrieval", retrievals), ("filter", filters), ("generation", generations), ("tool", tools)):
        assert dict(path.stage_latency_ms).get(kind, 0) == TOOK * len(stages)


def cited(answer: Answer):
    if answer.citations is not None:
        return answer.citations
    silent = answer.outcome == "abstained" and (answer.content is None or answer.content.length == 0)
    return Citations() if silent else None


def last_ranking(reranks):
    if not reranks:
        return None
    last = reranks[-1]
    return tuple(Ranked(name, i + 1, last.scores[i] if last.scores else None) for i, name in enumerate(last.ids))


def all_decisions(checks):
    if not checks:
        return None
    listed = [
        Permission(name, check.decisions[i], check.reasons[i] if check.reasons else None, check.policy)
        for check in checks
        for i, name in enumerate(check.ids)
    ]
    return tuple(one for i, one in enumerate(listed) if one not in listed[:i])


def all_filters(filters):
    if not filters:
        return None
    listed = [
        Drop(name, one.reasons[i] if one.reasons else None, one.step)
        for one in filters
        for i, name in enumerate(one.dropped)
    ]
    seen = [(drop.id, drop.step) for drop in listed]
    return Filtered(kept=filters[-1].kept, dropped=tuple(d for i, d in enumerate(listed) if seen[i] not in seen[:i]))


def test_stages_come_in_the_order_of_their_start_not_of_their_arrival():
    app = App(Root())
    app.run(encode(Generation(role="rewrite")))
    app.run(encode(Retrieval()))
    sent = app.sent()
    spans = sent.resource_spans[0].scope_spans[0].spans
    assert [span.name for span in spans][-1] == "invoke_workflow"
    (path,) = source(sent).paths(Selection())
    assert [kind for kind, _ in path.stage_latency_ms] == ["generation", "retrieval"]
