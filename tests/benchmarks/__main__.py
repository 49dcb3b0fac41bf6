"""`make bench`: every benchmark, each ratio measured in one run. Nothing here is an assertion."""

from __future__ import annotations

import importlib
import sys

from tests.benchmarks.report import table

BENCHMARKS = ("replay", "unrecorded", "handler", "instrumented", "ingest", "scoring", "checkpoints")
"""Run unless others are named; `soak` only where it is, since it takes minutes."""


def main() -> None:
    for name in sys.argv[1:] or BENCHMARKS:
        print(f"\n{name}\n{table(importlib.import_module(f'tests.benchmarks.{name}').run())}", flush=True)


if __name__ == "__main__":
    main()
