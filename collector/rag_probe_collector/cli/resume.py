"""`paths --resume FILE`: what was read stands in the file; a reading that stopped goes on where it was.

Afterwards the file holds what one whole reading gives, thread by thread: threads that grew, that wait for somebody or
that are gone are taken out of it, and those that are there are read again. So is the last one in it, which may be cut.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple, cast

import orjson

from rag_probe.path import EvidencePath
from rag_probe.path_json import SCHEMA
from rag_probe.protocols import ByThread, Selection
from rag_probe_collector.errors import InputError

_BEGINNING: Final = f'{{"schema":"{SCHEMA}"'.encode()
_OPEN: Final = frozenset({"interrupted", "pending", "error"})
"""Outcomes after which a thread may go on without a new checkpoint."""


class Resumed(NamedTuple):
    """How many questions the file holds, and how many of them it held before."""

    questions: int
    before: int


class _Line(NamedTuple):
    text: bytes
    thread: str
    mark: str
    """The checkpoint at which the question ended."""
    at_rest: bool


def resume(file: Path, source: ByThread, selection: Selection, as_line: Callable[[EvidencePath], str]) -> Resumed:
    """Bring the file up to date with its source; raises InputError for a file that nobody wrote with `--resume`."""
    before = _cleaned(file, source.newest()) if file.exists() else _Kept(frozenset(), 0)
    questions = before.lines
    with file.open("ab") as out:
        for paths in source.paths_by_thread(selection, before.threads):
            out.write("".join(map(as_line, paths)).encode())
            out.flush()  # one thread, whole
            questions += len(paths)
    return Resumed(questions, before.lines)


class _Kept(NamedTuple):
    threads: Collection[str]
    lines: int


def _cleaned(file: Path, newest: Mapping[str, str]) -> _Kept:
    """Take out of the file what has to be read again."""
    found: dict[str, _Line] = {}
    last = None
    for line in _lines(file):
        last = line.thread
        known = found.get(line.thread)
        if known is None or line.mark > known.mark:
            found[line.thread] = line._replace(text=b"")
    kept = {
        thread for thread, line in found.items() if line.at_rest and thread != last and newest.get(thread) == line.mark
    }
    count = 0
    part = file.with_name(f"{file.name}.part")
    with part.open("wb") as out:
        for line in _lines(file):
            if line.thread in kept:
                out.write(line.text)
                count += 1
    part.replace(file)
    return _Kept(kept, count)


def _lines(file: Path) -> Iterator[_Line]:
    """Every whole line; a last one that was cut is none."""
    with file.open("rb") as opened:
        for number, text in enumerate(opened, 1):
            whole = text.endswith(b"\n")
            line = _line(text) if whole else None
            if line is None and (whole or not _is_cut(text)):
                raise InputError(
                    f"{file}:{number}: expected a checkpoint's path, as --resume writes it; give a new file to --resume"
                )
            if line is not None:
                yield line


def _is_cut(text: bytes) -> bool:
    return text.startswith(_BEGINNING) or _BEGINNING.startswith(text)


def _line(text: bytes) -> _Line | None:
    try:
        found = cast(object, orjson.loads(text))
    except ValueError:  # a lone surrogate, which our own writer escapes
        try:
            found = cast(object, json.loads(text))
        except (ValueError, RecursionError):
            return None
    match found:
        case {"schema": str(schema), "source": "checkpoint", "path_id": str(name), "thread_id": str(thread)}:
            path = cast("Mapping[str, object]", found)
            at_rest = "error" not in path and not any(map(_is_open, cast("list[object]", path.get("nodes") or [])))
            return _Line(text, thread, name.removeprefix(f"{thread}:"), at_rest) if schema == SCHEMA else None
        case _:
            return None


def _is_open(node: object) -> bool:
    return isinstance(node, dict) and cast("dict[str, object]", node).get("outcome") in _OPEN
