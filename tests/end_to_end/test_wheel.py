"""What users install is the wheel, not this tree: it works from an empty environment, and each extra stands alone."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"rag_probe", "rag_probe_langchain", "rag_probe_langgraph", "rag_probe_collector", "rag_probe_demo"}
ALONE = {
    "": "import rag_probe; rag_probe.case, rag_probe.stage, rag_probe.tell",
    "otlp": "from rag_probe import configure, KeepCases; configure, KeepCases",
    "langchain": "from rag_probe_langchain import RagProbeCallbackHandler as Handler; Handler()",
    "langgraph": "from rag_probe_langgraph import RagProbeGraphHandler as Handler; Handler()",
    "collector": "import rag_probe_collector.cli",
}

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """One command in an environment that knows nothing of this checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "OTEL_", "RAG_PROBE_"))}
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=kept | environment, capture_output=True, text=True, timeout=1500
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    assert built.returncode == 0, built.stdout + built.stderr
    return next(out.glob("*.whl"))


def environment_with(wheel: Path, extra: str, place: Path) -> Path:
    """A fresh virtual environment that holds the wheel with one extra; returns its `bin`."""
    venv.create(place, with_pip=True, symlinks=True)
    requirement = f"rag-probe-otel[{extra}] @ {wheel.as_uri()}"
    wanted = ("--constraint", ROOT / "constraints.txt", requirement)
    python = place / "bin" / "python"
    fast = run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, *wanted, cwd=place)
    if fast.returncode:  # uv does not read pip's configuration: where only pip knows the index, pip installs
        slow = run(python, "-m", "pip", "install", "--quiet", "--no-compile", *wanted, cwd=place)
        assert slow.returncode == 0, fast.stderr + slow.stderr
    return place / "bin"


def test_the_wheel_holds_the_five_packages_and_their_types(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == PACKAGES
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert not [name for name in names if name.startswith("tests/") or "__pycache__" in name]


@pytest.mark.parametrize("extra", ALONE)
def test_each_extra_imports_alone(wheel, extra, tmp_path):
    bin_ = environment_with(wheel, extra, tmp_path / "venv")
    done = run(bin_ / "python", "-W", "error", "-c", ALONE[extra], cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_without_the_extra_the_command_names_it(wheel, tmp_path):
    bin_ = environment_with(wheel, "", tmp_path / "venv")
    done = run(bin_ / "rag-probe", "--help", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'rag-probe-otel[collector]'" in done.stderr


def test_the_installed_demo_names_every_planted_stage(wheel, tmp_path):
    bin_ = environment_with(wheel, "all", tmp_path / "venv")
    assert run(bin_ / "rag-probe", "--version", cwd=tmp_path).stdout.strip().endswith("0.1.0")
    done = run(bin_ / "rag-probe", "demo", "--out", tmp_path / "report", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "report" / "report.json").exists()
    # The editable tree makes `collector.rag_probe_collector` importable by accident; the wheel does not.
    assert run(bin_ / "python", "-c", "import collector", cwd=tmp_path).returncode != 0
