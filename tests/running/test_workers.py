"""Processes forked from one that has answered already: gunicorn --preload and Celery (issue B, contracts 4)."""

from __future__ import annotations

import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
from celery import Celery

from tests.processes import is_running

from .arrived import Arrived
from .programs import PATIENCE, Program, started, until

pytestmark = pytest.mark.slow

IN_THE_MASTER = ["in the master", "waits in the master"]


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_workers_of_gunicorn_send_what_they_answered(arrived: Arrived, protocol: str) -> None:
    gunicorn = [sys.executable, "-m", "gunicorn", "--preload", "--workers=2", "--bind=127.0.0.1:0"]
    calm = ["--timeout=300", "--graceful-timeout=300", "--no-control-socket"]  # which all of a user's share
    with started([*gunicorn, *calm, "tests.running.worker:app"], arrived.environment(protocol)) as program:
        port = int(re.findall(r"127\.0\.0\.1:(\d+)", program.said("Listening at"))[0])

        def ask(question: str) -> bytes:
            connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("GET", f"/{question}")
            with connection.getresponse() as response:
                assert response.status == 200
                return response.read()

        questions = [f"question-{number}" for number in range(30)]
        with ThreadPoolExecutor(6) as threads:
            workers = set(threads.map(ask, questions))
        asked = [*questions]
        while len(workers) < 2:  # who is quick takes all, on a busy machine
            asked.append(f"question-{len(asked)}")
            workers.add(ask(asked[-1]))
        program.signal(signal.SIGTERM)
        assert program.wait() == 0
        assert "rag_probe" not in program.output
        assert "Traceback" not in program.output
    arrived.assert_answered([*IN_THE_MASTER, *asked])


@contextmanager
def celery(environ: dict[str, str], *arguments: str) -> Iterator[Program]:
    command = [sys.executable, "-m", "celery", "-A", "tests.running.worker:tasks", "worker", "--loglevel=INFO"]
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat", "--pool=prefork", "--concurrency=2")
    with started([*command, *quiet, *arguments], environ) as program:
        program.said("ready.")
        yield program


def test_children_of_celery_send_what_they_answered(arrived: Arrived, tmp_path: Path) -> None:
    """Some by their task limit, some at the worker's end: both leave by `os._exit`."""
    queue, results = tmp_path / "queue", tmp_path / "results"
    queue.mkdir()
    results.mkdir()
    celery_environ = {"BROKER": "filesystem://", "BACKEND": f"file://{results}", "QUEUE": str(queue)}
    client = Celery("client", broker=celery_environ["BROKER"])
    client.conf.broker_transport_options = dict.fromkeys(
        ("data_folder_in", "data_folder_out", "control_folder"), str(queue)
    )
    questions = [f"question {number}" for number in range(9)]
    for question in questions:  # all before anybody reads: kombu makes a message's file before it writes into it
        client.send_task("answer", [question])
    client.close()
    with celery({**arrived.environment(), **celery_environ}, "--max-tasks-per-child=2") as program:
        until(lambda: program.output.count("succeeded in") == len(questions))
        answered = Counter(int(pid) for pid in re.findall(r"succeeded in \S+ (\d+)", program.output))
        until(lambda: not any(is_running(pid) for pid, times in answered.items() if times == 2))  # replaced by others
        program.signal(signal.SIGTERM)
        assert program.wait() == 0  # it may be gone before the last of its children
        until(lambda: len(arrived.questions()) == len([*IN_THE_MASTER, *questions]))
        assert "Traceback" not in program.output
        assert "rag_probe" not in program.output
    arrived.assert_answered([*IN_THE_MASTER, *questions])
