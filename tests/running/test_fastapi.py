"""FastAPI under uvicorn: many requests at once, each with its own caller, case and trace (issue B)."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from urllib.parse import quote

import pytest
from opentelemetry.propagate import inject

from rag_probe import case
from rag_probe.path import EvidencePath

from .arrived import Arrived
from .programs import PATIENCE, Program, started, until

pytestmark = pytest.mark.slow

UVICORN = [sys.executable, "-m", "uvicorn", "tests.running.web:app", "--port", "0"]


class Server:
    """A uvicorn of this test's own."""

    def __init__(self, program: Program) -> None:
        self.port = int(program.said("Uvicorn running on").split(":")[-1].split(" ")[0])
        self.program = program

    @contextmanager
    def asked(self, place: str, question: str, user: str, headers: dict[str, str]) -> Iterator[HTTPConnection]:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request("GET", f"/{place}?question={quote(question)}", headers={"user": user, **headers})
            yield connection

    def answer(self, place: str, question: str, user: str, headers: dict[str, str] | None = None) -> bytes:
        with self.asked(place, question, user, headers or {}) as connection:
            response = connection.getresponse()
            assert response.status == 200
            return response.read()

    def stop(self) -> None:
        self.program.signal(signal.SIGTERM)
        assert self.program.wait() in (0, -signal.SIGTERM)
        assert "Traceback" not in self.program.output


@pytest.fixture
def server(arrived: Arrived) -> Iterator[Server]:
    with started(UVICORN, arrived.environment()) as program:
        yield Server(program)


def by_question(arrived: Arrived) -> dict[str, EvidencePath]:
    return {path.question.text or "": path for path in arrived.paths() if path.question is not None}


PLACES = ("sync", "async", "own", "stream", "background")


def test_callers_cases_and_traces_of_concurrent_requests_never_mix(arrived: Arrived, server: Server) -> None:
    """Every second request comes with a case; all of them with a trace of the caller's."""

    def ask(number: int) -> tuple[str, str, str | None, str]:
        question, user, place = f"question {number}", f"user {number % 7}", PLACES[number % len(PLACES)]
        trace = format(number + 1, "032x")
        headers = {"traceparent": f"00-{trace}-00000000000000aa-01"}
        run = None
        if number % 2:
            with case(f"case {number}", experiment="nightly", identity={"subject": "somebody else"}) as tags:
                inject(headers, setter=_OnlyBaggage())
            run = tags.case_run
        server.answer(place, question, user, headers)
        return question, user, run, trace

    with ThreadPoolExecutor(10) as threads:
        asked = list(threads.map(ask, range(40)))
    server.stop()
    paths = by_question(arrived)
    assert {
        question: (path.identity and path.identity.subject, path.tags.case_run, path.trace_id)
        for question, path in paths.items()
    } == {question: (user, run, trace) for question, user, run, trace in asked}
    arrived.assert_answered([question for question, *_ in asked])


class _OnlyBaggage:
    """The trace is the test's own."""

    def set(self, carrier: dict[str, str], key: str, value: str) -> None:
        if key == "baggage":
            carrier[key] = value


def test_the_question_hangs_under_the_server_s_span(arrived: Arrived, server: Server) -> None:
    for place in PLACES:
        server.answer(place, place, "ada")
    server.stop()
    spans = {span.span_id: span for span in arrived.spans()}
    above = {spans[span.parent_span_id].name for span in spans.values() if span.name == "invoke_workflow returns desk"}
    served = {f"GET /{place}" for place in PLACES}
    assert above == served - {"GET /background"} | {"BackgroundTask invoke"}
    assert {span.name for span in spans.values() if not span.parent_span_id} == served


@pytest.mark.parametrize("place", ["slow", "slow-async"])
def test_a_client_that_goes_away_midway_ends_its_question(arrived: Arrived, server: Server, place: str) -> None:
    """What was found until then is there; not the question, which a stream tells at its end only."""
    with server.asked(place, "gone", "ada", {}) as connection:
        assert connection.getresponse().read(5) == b"word "
    server.answer("sync", "and then?", "eve")
    server.stop()
    paths = {path.identity.subject: path for path in arrived.paths() if path.identity is not None}
    assert sorted(paths) == ["ada", "eve"]
    gone = paths["ada"]
    assert gone.retrieved is not None
    assert gone.filtered is not None
    assert gone.partial or gone.error is not None or place == "slow"
    assert paths["eve"].answer is not None


def test_two_questions_of_one_request_are_two_paths(arrived: Arrived, server: Server) -> None:
    server.answer("mixed", "how long", "ada")
    server.stop()
    paths = by_question(arrived)
    assert {question: path.answer and path.answer.confidence for question, path in paths.items()} == {
        "how long, first": None,
        "how long, second": 0.5,
    }
    assert len({path.trace_id for path in paths.values()}) == 1


def test_what_waits_is_sent_while_the_server_runs(arrived: Arrived) -> None:
    with started(UVICORN, {**arrived.environment(), "OTEL_BSP_SCHEDULE_DELAY": "50"}) as program:
        Server(program).answer("async", "how long?", "ada")
        until(lambda: arrived.questions() == ["how long?"])
