"""`python -m rag_probe_demo security|returns`: one sample app answers its questions. `rag-probe demo` runs both."""

from __future__ import annotations

import argparse
import sys


def main() -> int:
    """0 when every question got its answer, 1 when one failed, 2 when the app cannot run here; a line for each."""
    parser = argparse.ArgumentParser(prog="python -m rag_probe_demo", description=__doc__)
    parser.add_argument("app", choices=["security", "returns"])
    parser.add_argument("--experiment", default="rag-probe-demo", help="the id under which the answers are scored")
    parser.add_argument("--model", metavar="PROVIDER:NAME", help="a real chat model in place of the scripted one")
    wanted = parser.parse_args()
    try:
        from rag_probe_demo.models import ModelUnavailable, chat_model
        from rag_probe_demo.run import run
    except ImportError as error:
        return _refuse(f"{error}: pip install 'rag-probe-otel[demo]'")
    try:
        model = chat_model(wanted.model)
    except ModelUnavailable as error:
        return _refuse(str(error))
    failed = False
    for line in run(wanted.app, wanted.experiment, model):
        sys.stderr.write(f"{line}\n")
        failed = True
    return int(failed)


def _refuse(reason: str) -> int:
    sys.stderr.write(f"rag-probe: {' '.join(reason.split())}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
