"""The returns desk behind gunicorn and Celery, set up once in the process that forks, which has answered already."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import unquote

from celery import Celery

from rag_probe import configure
from tests.running.desk import ask

telemetry = configure("desk")
ask("in the master")
telemetry.flush(100)
ask("waits in the master")


def app(environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
    """A question in the path; who answers, in the answer: `gunicorn --preload tests.running.worker:app`."""
    ask(unquote(environ["PATH_INFO"]).lstrip("/"))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]


tasks = Celery("desk", broker=os.environ.get("BROKER", "memory://"), backend=os.environ.get("BACKEND"))
tasks.conf.update(
    broker_transport_options=dict.fromkeys(
        ("data_folder_in", "data_folder_out", "control_folder"), os.environ.get("QUEUE")
    ),
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=False,
)


@tasks.task(name="answer")
def answer(question: str) -> int:
    """One question; who answered it."""
    ask(question)
    return os.getpid()
