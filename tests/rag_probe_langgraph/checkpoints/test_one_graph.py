"""One graph with everything, on every store, sync and async: one evidence path, which the trace tells too (issue C, 1).

`rag-probe paths` itself reads the files and the database; a saver in memory is read where it is, from Python.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from rag_probe.path import EvidencePath
from rag_probe.path_json import to_json
from rag_probe.policy import CapturePolicy
from rag_probe_langgraph import RagProbeGraphHandler
from tests.rag_probe_langchain.apps import ANSWER
from tests.rag_probe_langchain.recorded import Recorder, assert_well_formed
from tests.scenarios.recording import paths_of

from .everything import QUESTION, awalk, everything, walk
from .stores import Kept, akept, kept, read

pytestmark = [pytest.mark.xdist_group("postgres"), pytest.mark.slow]

KINDS: Final = ("memory", "sqlite", "postgresql")
WAYS: Final = [(kind, way) for kind in KINDS for way in ("sync", "async")]
_UUID: Final = re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_TIMES: Final = frozenset({"started_at", "latency_ms"})
_BOUNDS: Final = "a store knows when a superstep began and ended, not what ran when within it"
_CALLS: Final = "a state that holds texts says nothing of the model's calls that wrote them"
_ORIGIN: Final = "a path says where it came from"
GAPS: Final[Mapping[str, str]] = {
    "path_id": _ORIGIN,
    "trace_id": _ORIGIN,
    "trace_ids": _ORIGIN,
    "source": _ORIGIN,
    "service": "a store knows no service",
    "inferred": _BOUNDS,
    "not_captured": "names what is a gap on either side",
    "started_at": "the input's checkpoint is written a moment after the run began",
    "latency_ms": _BOUNDS,
    "stage_latency_ms": _BOUNDS,
    "nodes.latency_ms": _BOUNDS,
    "nodes.checkpoint_id": "no callback tells on which checkpoint a task runs",
    "nodes.approve.asked": "the trace knows that a node asked and was answered, not what",
    "nodes.approve.answered": "the trace knows that a node asked and was answered, not what",
    "generations": _CALLS,
    "answer.generation": _CALLS,
}
"""Of both questions: what differs, and why it must."""
FIRST_GAPS: Final[Mapping[str, str]] = {
    "tools": "a state without messages tells of no tools",
    "retrievals.name": "a store knows the node that wrote the passages, a trace the retriever that found them",
    "retrievals.query": "what a node asked its retriever stands in no channel",
    "retrievals.latency_ms": _BOUNDS,
    "nodes.draft.outcome": "an attempt that failed and was tried again at once is not stored",
    "nodes.draft.attempt": "an attempt that failed and was tried again at once is not stored",
    "warnings": "a trace does not know that the graph was taken back later",
}
FORK_GAPS: Final[Mapping[str, str]] = {
    "case_id": "the metadata of a run names its case for the store; for the trace a case() block does",
    "question": "a run that goes on from a checkpoint is given no question",
    "retrieved": "a node from the cache makes no callback: nobody saw its search",
    "retrievals": "a node from the cache makes no callback: nobody saw its search",
    "nodes.retrieve": "a node from the cache makes no callback",
    "partial": "what the state that it goes on from was made of, another question's trace tells",
    "warnings": "which the trace says",
}
SHARED: Final = [("retrieve", "ok"), *[("grade", "ok")] * 5, ("gather", "ok"), ("assemble", "ok"), ("build", "ok")]
ENDING: Final = [("approve", "answered"), ("send", "ok")]


class Told(NamedTuple):
    """The same two questions, by their store and by their traces."""

    stored: list[dict[str, Any]]
    traced: list[dict[str, Any]]


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> dict[tuple[str, str], Told]:
    """The walk on every store, sync and async."""
    return {(kind, way): run(kind, way, tmp_path_factory.mktemp(f"{kind}-{way}")) for kind, way in WAYS}


def run(kind: str, way: str, folder: Path) -> Told:
    recorder = Recorder(RagProbeGraphHandler, policy=CapturePolicy(content=True))
    if way == "sync":
        with kept(kind, folder) as store:
            walk(everything(store.saver), **recorder.config)
            stored = lines_of(store)
    else:
        stored = asyncio.run(arun(kind, folder, recorder.config))
    assert_well_formed(recorder.spans)
    return Told(stored, [as_line(path) for path in paths_of(recorder.spans)])


async def arun(kind: str, folder: Path, config: dict[str, Any]) -> list[dict[str, Any]]:
    async with akept(kind, folder) as store:
        await awalk(everything(store.saver), **config)
        return await asyncio.to_thread(lines_of, store)


def lines_of(store: Kept) -> list[dict[str, Any]]:
    """What `rag-probe paths --json` prints, with texts."""
    if store.location is None:
        return [as_line(path) for path in read(store)]
    command = [str(Path(sys.executable).with_name("rag-probe")), "paths", f"checkpoints:{store.location}", "--json"]
    env = os.environ | {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def as_line(path: EvidencePath) -> dict[str, Any]:
    return json.loads(json.dumps(to_json(path)))


def comparable(lines: list[dict[str, Any]]) -> list[str]:
    """Without what differs from run to run: random ids are numbered, times are only there or not."""
    seen: dict[str, str] = {}
    return [
        _UUID.sub(lambda found: seen.setdefault(found[0], f"uuid-{len(seen) + 1}"), json.dumps(untimed(line)))
        for line in lines
    ]


def untimed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "a time" if key in _TIMES else untimed(item) for key, item in value.items()}
    return [untimed(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_every_store_gives_the_same_paths(told, kind, way):
    assert comparable(told[kind, way].stored) == comparable(told["memory", "sync"].stored)


def test_the_paths_tell_what_happened(told):
    first, fork = told["memory", "sync"].stored
    for path, kept_ids in ((first, ["returns", "sale", "gift"]), (fork, ["returns", "sale"])):
        assert path["question"] == QUESTION
        assert ids(path["retrieved"]) == ["returns", "sale", "gift", "staff", "old"]
        assert path["filtered"]["kept"] == ids(path["context"]) == kept_ids
        assert {drop["step"] for drop in path["filtered"]["dropped"]} == {"gather"}
        assert (path["answer"]["outcome"], path["answer"]["text"]) == ("answered", ANSWER)
        assert ids(path["citations"]) == ["sale"]
        assert ("error" in path, path["partial"]) == (False, False)
    assert outcomes(first) == [*SHARED, ("draft", "ok"), ("draft", "ok"), ("verify", "recovered"), *ENDING]
    assert outcomes(fork) == [*SHARED, ("draft", "ok"), ("draft", "ok"), ("verify", "ok"), *ENDING]
    assert [answers(path) for path in (first, fork)] == [
        [("Shall I send it?", "yes")],
        [("Shall I send it?", "yes, to all")],
    ]
    assert [path.get("case_id") for path in (first, fork)] == [None, "c"]


@pytest.mark.parametrize("place", [0, 1], ids=["first", "fork"])
@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_the_trace_says_the_same_apart_from_declared_gaps(told, kind, way, place):
    """Every field is equal or stands above with its reason; a gap that is none any more fails too."""
    stored, traced = (flat(lines[place]) for lines in told[kind, way])
    declared = [*GAPS, *(FORK_GAPS if place else FIRST_GAPS)]
    differ = [name for name in dict.fromkeys([*stored, *traced]) if stored.get(name) != traced.get(name)]
    undeclared = [name for name in differ if not any(covers(gap, name) for gap in declared)]
    assert undeclared == []
    assert [gap for gap in declared if not any(covers(gap, name) for name in differ)] == []


def flat(line: dict[str, Any], at: str = "") -> dict[str, Any]:
    """Values by place; nodes stand under their names and tasks, other items under their numbers."""
    found: dict[str, Any] = {}
    for key, value in line.items():
        rows = value if isinstance(value, list) and value and all(isinstance(row, dict) for row in value) else None
        if isinstance(value, dict):
            found |= flat(value, f"{at}{key}.")
        elif rows is None:
            found[f"{at}{key}"] = value
        else:
            for number, row in enumerate(rows):
                name = f"{row['name']} {row['task_id']}" if key == "nodes" else number
                found |= flat(row, f"{at}{key}.{name}.")
    return found


def covers(gap: str, name: str) -> bool:
    """`nodes.draft.attempt`, `nodes.attempt` and `nodes.draft` all cover that of one draft; a text has a length too."""
    words = [word.partition(" ")[0] for word in re.sub("_(length|digest)$", "", name).split(".")]
    wanted = gap.split(".")
    return words[: len(wanted)] == wanted or [words[0], *words[2:]][: len(wanted)] == wanted


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def outcomes(path: dict[str, Any]) -> list[tuple[str, str]]:
    return [(node["name"], node["outcome"]) for node in path["nodes"]]


def answers(path: dict[str, Any]) -> list[tuple[str, str]]:
    return [(node["asked"], node["answered"]) for node in path["nodes"] if "asked" in node]
