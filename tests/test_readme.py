"""README.md: its snippets in one app, and from a collector to the first case that passes (checklist 173)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Final

import pytest

from rag_probe_collector.cli.program import COMMANDS
from rag_probe_collector.dialects import DIALECTS
from tests.ports import reserved_port
from tests.rag_probe.programs import PATIENT

pytestmark = pytest.mark.slow

PAGE: Final = Path(__file__).parents[1] / "README.md"
TEXT: Final = PAGE.read_text(encoding="utf-8")
_APP: Final = """
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

class Search(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        text = "Parental leave lasts twelve weeks for each of the parents of a child."
        return [Document(text, id="leave-eligibility")]

def as_text(found):
    return "\\n".join(f"[{each.id}] {each.page_content}" for each in found)

model = FakeListChatModel(responses=["Twelve weeks [leave-eligibility]."])
prompt = ChatPromptTemplate.from_template("{context}\\n\\n{question}")
chain = {"context": Search() | as_text, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()
question = "How long is parental leave?"
"""


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def program() -> str:
    """The three snippets: a question, what an app tells from inside, and a tagged question."""
    asked, told, tagged = blocks("python")
    inside = f"def step(_):\n{textwrap.indent(told, '    ')}    return 'I cannot say.'\n"
    config = '{"callbacks": [RagProbeCallbackHandler()]}'
    return "\n".join([_APP, asked, inside, f"RunnableLambda(step).invoke('?', {config})", tagged])


def shell(folder: Path, commands: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "RAG_PROBE_"))}
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))  # as with the virtualenv entered
    env = kept | PATIENT | {"PATH": path, "COLUMNS": "200"}
    return subprocess.run(
        ["bash", "-c", commands], cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )


def scored(block: str, port: int) -> str:
    """The block on a port of its own, its program once somebody listens, and nothing left running."""
    listening = f"until (: > /dev/tcp/127.0.0.1/{port}) 2> /dev/null; do sleep 0.1; done; trap 'kill $!' EXIT\n"
    first, rest = block.split("\n", 1)
    first = first.replace("rag-probe collect", f"rag-probe collect --grpc 127.0.0.1:0 --http 127.0.0.1:{port}")
    return f"{first}\n{listening}{rest}".replace("localhost:4318", f"127.0.0.1:{port}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    (folder / "answer_my_cases.py").write_text(program(), encoding="utf-8")
    case, _ = blocks("yaml")
    (folder / "cases.yaml").write_text(case, encoding="utf-8")
    return folder


def test_from_a_collector_to_the_first_pass(folder):
    (block,) = [each for each in blocks("sh") if "rag-probe collect" in each]
    with reserved_port() as port:
        done = shell(folder, scored(block, port))
    assert (done.returncode, "Traceback" in done.stderr) == (4, False), (done.stdout, done.stderr)
    assert "to review one, add this line to the file of --reviews" in done.stdout
    assert (folder / "report" / "report.html").exists()
    paths = [json.loads(line) for line in shell(folder, "rag-probe paths spool.db --json").stdout.splitlines()]
    first, told, tagged = paths
    assert first["retrieved"][0]["id"] == "leave-eligibility"
    assert [each["decision"] for each in told["permissions"]] == ["allow", "deny"]
    assert (told["answer"]["outcome"], tagged["case_id"]) == ("abstained", "leave-01")
    _, review = blocks("yaml")
    named = re.sub(r"path_id: \S+", f"path_id: {tagged['path_id']}", review)
    (folder / "reviews.yaml").write_text(named, encoding="utf-8")
    last = block.strip().splitlines()[-1].partition("#")[0]
    done = shell(folder, f"{last} --reviews reviews.yaml")
    assert done.returncode == 0, (done.stdout, done.stderr)


def test_every_command_that_it_names_is_one():
    named = set(re.findall(r"rag-probe (\w+)", TEXT))
    assert named <= {command.name for command in COMMANDS}


def test_it_names_the_dialects_that_are_read():
    assert [dialect.name for dialect in DIALECTS] == ["rag_probe", "genai"], "say in the README what else is read"
    assert "our own spans, and those of the official GenAI instrumentation" in " ".join(TEXT.split())


def test_its_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", TEXT):
        assert (PAGE.parent / target).exists(), target
