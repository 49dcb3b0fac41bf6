"""FILE, DIR or GLOB → the spans of every message in it; a second look finds those of some traces again."""

from __future__ import annotations

import glob
import logging
import os
from collections import OrderedDict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Final
from weakref import finalize

from google.protobuf.message import DecodeError

from rag_probe.protocols import SourceError
from rag_probe_collector.otlp.decode import MISSED, SpanDecoder
from rag_probe_collector.otlp.frames import ForeignFileError, Frame, FrameError, frames
from rag_probe_collector.otlp.messages import MessageError, to_protobuf
from rag_probe_collector.otlp.plain import open_plain
from rag_probe_collector.otlp.span import Span

_logger: Final = logging.getLogger("rag_probe.collector")
_OPEN_FILES: Final = 16
_REMEDY: Final = "read again once its writer has finished; if it has, spans are lost"


class OtlpFiles:
    """Telemetry files by location. Between looks it holds a number per message and trace, no spans."""

    def __init__(self, location: str, decoder: SpanDecoder) -> None:
        """List the files; raises SourceError when there are none."""
        self._location = location
        self._paths = listed(location)
        self._lenient = self._paths != [Path(location)]
        self._decoder = decoder
        self._messages: list[tuple[Path, Frame]] = []
        self._holding: dict[str, list[int]] = {}
        self._open: OrderedDict[Path, IO[bytes]] = OrderedDict()
        self.unread: dict[str, None] = {}
        """What broke off, once each: nobody knows which question lost spans there."""
        finalize(self, _close, self._open)

    def scan(self) -> Iterator[list[Span]]:
        """All spans, message by message; raises SourceError with file and line for one that is malformed."""
        self._messages.clear()
        self._holding.clear()
        for path in self._paths:
            yield from self._scan_file(path)
        if not self._holding:
            _logger.warning("%s: holds no spans", self._location)
        if self._decoder.rejected:
            _logger.warning("%d spans without a usable trace id or span id were left out", self._decoder.rejected)
        if self._decoder.missed:
            self.unread[f"{self._location}: {MISSED}"] = None

    def load(self, traces: Collection[str]) -> Iterator[list[Span]]:
        """The spans of these traces, which `scan` has seen, message by message."""
        wanted = frozenset(traces)
        for number in sorted({number for trace in wanted for number in self._holding.get(trace, ())}):
            path, frame = self._messages[number]
            spans = self._decode(path, frame, self._file(path))
            yield [span for span in spans if span.trace_id in wanted]

    def _scan_file(self, path: Path) -> Iterator[list[Span]]:
        file, whole = self._file(path), True
        try:
            for frame in frames(file):
                spans = self._read(path, frame, file)
                if spans is None:
                    whole = False
                    continue
                for trace in {span.trace_id for span in spans}:
                    self._holding.setdefault(trace, []).append(len(self._messages))
                self._messages.append((path, frame))
                yield spans
        except FrameError as error:
            if not self._lenient:
                raise SourceError(f"{path}: {error}; expected OTLP JSON or protobuf") from None
            if isinstance(error, ForeignFileError):
                _logger.warning("%s: left out (%s)", path, error)
            else:
                self._tell_unread(f"{path}: the rest of it was left out ({error})")
        if not whole:
            self._tell_unread(f"{path}: its last message is incomplete and was left out; {_REMEDY}")

    def _read(self, path: Path, frame: Frame, file: IO[bytes]) -> list[Span] | None:
        """None for a last message that its writer has not finished."""
        if frame.ended is False:  # what is there may well be a message by itself
            return None
        try:
            return self._decode(path, frame, file)
        except SourceError:
            if frame.ended is None:
                return None
            raise

    def _decode(self, path: Path, frame: Frame, file: IO[bytes]) -> list[Span]:
        file.seek(frame.offset)
        try:
            return self._decoder.decode(to_protobuf(file.read(frame.length)))
        except (MessageError, DecodeError) as error:
            place = f"{path}, {frame.label}" if frame.label else str(path)
            raise SourceError(f"{place}: expected an OTLP trace message ({error})") from None

    def _file(self, path: Path) -> IO[bytes]:
        file = self._open.pop(path, None)
        if file is None:
            file, whole = open_plain(path)
            if not whole:
                self._tell_unread(f"{path}: its compressed data breaks off; {_REMEDY}")
            if len(self._open) >= _OPEN_FILES:
                self._open.popitem(last=False)[1].close()
        self._open[path] = file
        return file

    def _tell_unread(self, what: str) -> None:
        if what not in self.unread:
            self.unread[what] = None
            _logger.warning("%s", what)


def _close(files: OrderedDict[Path, IO[bytes]]) -> None:
    for file in files.values():
        file.close()


def listed(location: str) -> list[Path]:
    """The files at `location`, in the order of their names; a directory is walked, hidden files are left out."""
    path = Path(location)
    if path.is_dir():
        found = [
            Path(folder) / name
            for folder, _, names in os.walk(path)
            for name in names
            if not name.startswith(".") and (Path(folder) / name).is_file()
        ]
    elif path.exists():
        return [path]
    else:
        names = glob.glob(location, recursive=True)  # noqa: PTH207  # Path.glob takes no absolute pattern
        found = [Path(name) for name in names if Path(name).is_file()]
    if not found:
        raise SourceError(f"{location}: no such file; expected a file, a directory or a pattern of telemetry files")
    return sorted(found)
