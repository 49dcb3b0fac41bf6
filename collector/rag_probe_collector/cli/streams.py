"""The three standard streams, whatever state a shell, a scheduler or a service manager left them in."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from typing import Final, TextIO

_ESCAPE: Final = "rag_probe.escape"


def make_usable() -> None:
    """Call it before any file is opened, or a file could become the new stdout.

    A stream that was closed leads nowhere. A character that an encoding lacks is written as JSON escapes it:
    no output may end in an error only because a terminal is old, and JSON stays the same JSON.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    codecs.register_error(_ESCAPE, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ESCAPE)


def lead_nowhere(stream: TextIO | None = None) -> None:
    """Nobody reads `stream` (stdout) any more: what is left in it must not be an error at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
