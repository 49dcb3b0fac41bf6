"""RAG requests as a collector sees them: ten spans each, half of them other libraries, 1 kB a span, content off."""

from __future__ import annotations

import random
from typing import Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_probe.stages import (
    Answer,
    Budget,
    CaseTags,
    Chunks,
    Citations,
    Content,
    ContextAssembly,
    Filtering,
    Generation,
    Identity,
    PermissionCheck,
    Retrieval,
    Root,
)
from tests.rag_probe_collector.spans import S, request, stage, workflow

SPANS: Final = 10
CASES: Final = 50
CHUNKS: Final = 5
_PER_MESSAGE: Final = 50


def messages(traces: int, *, one_trace: bool = False) -> list[bytes]:
    """That many questions, 500 spans a message; all below one server span when they are to be `one_trace`."""
    source = random.Random(1)
    bodies: list[ExportTraceServiceRequest] = []
    for first in range(0, traces, _PER_MESSAGE):
        spans: list[S] = []
        for number in range(first, min(first + _PER_MESSAGE, traces)):
            spans += _question(source, number, trace=1 if one_trace else number + 1)
        bodies.append(request(*sorted(spans, key=lambda span: span.scope)))
    return [body.SerializeToString() for body in bodies]


def _question(source: random.Random, number: int, trace: int) -> list[S]:
    """Ids differ from question to question; the rest recurs, as it does in life."""
    base, at = number * SPANS + 1, number * 100
    server, root = base, base + 1
    others = [_other(base + place, root, at + place, trace) for place in (6, 7, 8, 9)]
    ours = [stage(base + 2 + place, one, root, at + place, trace=trace) for place, one in enumerate(_stages(source))]
    above = _other(server, None, at, trace)
    return [*others, *ours, workflow(root, _root(source, number), server, at, trace=trace), above]


def _ids(source: random.Random) -> tuple[str, ...]:
    return tuple(f"kb-{source.randrange(10**5)}#{place}" for place in range(CHUNKS))


def _stages(source: random.Random) -> tuple[Retrieval, PermissionCheck, Filtering, Generation]:
    ids = _ids(source)
    found = Chunks(
        ids=ids,
        scores=tuple(source.random() for _ in ids),
        documents=tuple(one.partition("#")[0] for one in ids),
        revisions=("r1",) * CHUNKS,
        tenants=("acme",) * CHUNKS,
        id_rules=("id",) * CHUNKS,
    )
    prompt = ContextAssembly(
        ids=ids[:3],
        tokens=(120, 90, 77),
        truncated=(False,) * 3,
        budget=Budget(limit=620, used=287, tokenizer="characters/4"),
    )
    return (
        Retrieval(name="kb", query=Content(length=40), top_k=CHUNKS, documents=found),
        PermissionCheck(step="tenant", ids=ids, decisions=("allow",) * 4 + ("deny",), policy="v7"),
        Filtering(step="fresh", kept=ids[:3], dropped=ids[3:4], reasons=("stale",)),
        Generation(
            model="gpt-4o-mini",
            provider="openai",
            input_tokens=563,
            output_tokens=24,
            finish_reasons=("stop",),
            prompt=Content(length=2000),
            output=Content(length=100),
            context=prompt,
        ),
    )


def _root(source: random.Random, number: int) -> Root:
    return Root(
        tags=CaseTags(experiment="e", case_id=f"c{number % CASES}", case_run=f"{source.getrandbits(64):x}"),
        identity=Identity(subject="u", tenant="acme"),
        question=Content(length=40),
        answer=Answer(
            outcome="answered",
            content=Content(length=100),
            citations=Citations(ids=("kb-1#0", "kb-2#1"), starts=(10, 30), ends=(13, 33), valid=(True, False)),
        ),
    )


def _other(number: int, parent: int | None, at: int, trace: int) -> S:
    """What an HTTP or database instrumentation writes: two dozen attributes, a kilobyte."""
    attributes: dict[str, object] = {f"http.request.header.x-{place}": f"value {place} " * 2 for place in range(16)}
    attributes |= {"http.request.method": "POST", "url.full": "https://kb.internal:6333/collections/kb/points/search"}
    attributes |= {"server.port": 6333, "http.response.status_code": 200, "network.protocol.version": "1.1"}
    return S(number, parent, at, attributes=attributes, trace=trace, scope="opentelemetry.instrumentation.httpx")
