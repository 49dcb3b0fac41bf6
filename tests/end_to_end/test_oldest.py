"""The oldest versions that pyproject.toml declares; the environment of all other tests has the newest (issue B)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
TOOLS = ["numpy", "pytest==9.2.0", "pytest-asyncio==1.5.0", "pytest-timeout==2.4.0", "hypothesis", "syrupy", "bm25s"]

HANDLER = ("handler", "exits", "spans", "steps", "context", "tell", "question_and_answer")
FRAMEWORKS = [
    *(f"tests/rag_probe_langchain/test_{name}.py" for name in HANDLER),
    "tests/rag_probe_langgraph/test_handler.py",
]
NEWER = {
    "test_a_graph_stopped_before_a_node_is_linked_too": "langgraph 1.1.8 has the first callbacks for it",
    "test_an_agent_with_a_retriever_tool": "langchain 1.2.13 is the first to say that a graph is an agent",
    "test_without_the_extra_only_configure_and_keep_cases_are_missing": "older APIs import importlib_metadata",
}
"""What needs newer versions than the oldest, and why."""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("oldest")]


def oldest(*extras: str) -> list[str]:
    """Every direct requirement of these extras at its lower bound."""
    wanted = [each for extra in extras for each in EXTRAS[extra] if not each.startswith(PROJECT["name"])]
    return [re.sub(r">=", "==", each) for each in wanted]


def python_with(place: Path, requirements: list[str]) -> Path:
    """A fresh environment that holds these and what the tests need."""
    venv.create(place, with_pip=True, symlinks=True)
    python = place / "bin" / "python"
    wanted = [*requirements, *EXTRAS["collector"], *TOOLS]
    fast = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, *wanted],
        capture_output=True,
        text=True,
    )
    if fast.returncode:  # uv does not read pip's configuration: where only pip knows the index, pip installs
        slow = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *wanted], capture_output=True, text=True, check=False
        )
        assert slow.returncode == 0, fast.stderr + slow.stderr
    return python


def passes(python: Path, *tests: str) -> None:
    """The tests, but those that are known to need newer versions."""
    path = os.pathsep.join(str(ROOT / part) for part in (".", "integrations", "collector", "examples"))
    newer = " and ".join(f"not {name}" for name in NEWER)
    done = subprocess.run(
        [python, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-x", "-k", newer, *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert done.returncode == 0, done.stdout[-4000:]


def test_the_handler_on_the_oldest_frameworks_and_the_oldest_api(tmp_path: Path) -> None:
    (api,) = PROJECT["dependencies"]
    opentelemetry = [
        api.replace(">=", "=="),
        api.replace("-api>=", "-sdk=="),
        api.replace("-api>=", "-exporter-otlp=="),
    ]
    packages = [*oldest("langchain", "langgraph"), "langchain==1.0", "langchain-classic==1.0"]
    passes(python_with(tmp_path / "venv", [*opentelemetry, *packages]), *FRAMEWORKS)


def test_configure_on_the_oldest_sdk(tmp_path: Path) -> None:
    names = ("test_tracing.py", "test_delivery.py", "test_sampling.py")
    python = python_with(tmp_path / "venv", oldest("otlp"))
    passes(python, *(f"tests/rag_probe/{name}" for name in names))
