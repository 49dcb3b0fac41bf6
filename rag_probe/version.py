"""The release, as every instrumentation scope names it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final


def _installed() -> str:
    try:
        return version("rag-probe-otel")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"


VERSION: Final = _installed()
