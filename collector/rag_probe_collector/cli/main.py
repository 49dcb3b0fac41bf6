"""`rag-probe`: what goes wrong is one line on stderr and an exit code, never a traceback."""

from __future__ import annotations

import gc
import sys
from typing import Final

from rag_probe.protocols import SourceError
from rag_probe_collector.cli.streams import lead_nowhere, make_usable
from rag_probe_collector.cli.terminal import plain
from rag_probe_collector.errors import InputError

UNUSABLE: Final = 2
BROKEN_PIPE: Final = 141
"""What a shell reports of a program that a closed pipe has ended."""
INTERRUPTED: Final = 130
_SELDOM: Final = 50_000
"""Objects between two looks for cycles: nothing here makes any, and half the time of reading JSON went into them."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit: with its own code, 2 for unusable input or arguments, quietly when interrupted."""
    make_usable()
    gc.set_threshold(_SELDOM)
    sys.exit(_run(sys.argv[1:] if arguments is None else arguments))


def _run(arguments: list[str]) -> int:
    try:
        from rag_probe_collector.cli.program import run
    except ModuleNotFoundError as error:
        return _refuse(f"needs {error.name}; pip install 'rag-probe-otel[collector]'")
    try:
        code = run(arguments)
        sys.stdout.flush()
    except (InputError, SourceError) as error:
        return _refuse(str(error))
    except BrokenPipeError:
        lead_nowhere()
        return BROKEN_PIPE
    except SystemExit as leaving:  # rich and typer make 1 of a closed pipe, which is "gate failed" here
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        lead_nowhere()
        return BROKEN_PIPE
    except OSError as error:  # of a place that nobody thought of: a name that is too long, a disk that is full
        if error.filename is None:  # a stream: what is left in its buffer would fail again at exit, as 120
            lead_nowhere()
        return _refuse(f"{error.filename or 'input'}: {error.strerror or type(error).__name__}; check the path")
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _refuse(message: str) -> int:
    try:
        sys.stderr.write(f"rag-probe: {plain(message)}\n")
        sys.stderr.flush()
    except OSError:  # then the exit code alone has to tell
        lead_nowhere(sys.stderr)
    return UNUSABLE
