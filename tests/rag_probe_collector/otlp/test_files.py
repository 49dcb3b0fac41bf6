"""Telemetry files of every kind, whole and broken (research: files)."""

from __future__ import annotations

import gzip
import json
import logging
import os
from pathlib import Path

import pytest
import zstandard
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st

from rag_probe.protocols import SourceError
from rag_probe_collector.otlp.decode import Interest, SpanDecoder
from rag_probe_collector.otlp.files import OtlpFiles
from tests.rag_probe_collector.spans import S, request, span_id, trace_id

SHARED = Path(os.environ.get("RAG_PROBE_SHARED", "../shared"))
REQUESTS = [request(S(1), S(2, 1)), request(S(3, trace=2), S(4, 1))]
BODIES = [one.SerializeToString() for one in REQUESTS]


def as_json(body) -> str:
    """With base64 ids, as protobuf's own JSON has them."""
    return json.dumps(MessageToDict(body))


LINES = "".join(as_json(one) + "\n" for one in REQUESTS).encode()
PREFIXED = b"".join(len(body).to_bytes(4, "big") + body for body in BODIES)
compress = zstandard.ZstdCompressor().compress
KINDS = {
    "lines": LINES,
    "lines without a last line end": LINES.rstrip(b"\n"),
    "blank lines": b"\n" + LINES.replace(b"\n", b"\n\n"),
    "gzip": gzip.compress(LINES),
    "several gzip members": b"".join(gzip.compress(as_json(one).encode() + b"\n") for one in REQUESTS),
    "zstd": compress(LINES),
    "several zstd frames": b"".join(compress(as_json(one).encode() + b"\n") for one in REQUESTS),
    "protobuf": b"".join(BODIES),
    "protobuf with lengths": PREFIXED,
    "each message compressed": b"".join(
        len(small).to_bytes(4, "big") + small for small in (compress(as_json(one).encode()) for one in REQUESTS)
    ),
    "gzip of protobuf": gzip.compress(b"".join(BODIES)),
    "one document": json.dumps({"resourceSpans": MessageToDict(REQUESTS[0])["resourceSpans"] * 1}, indent=2).encode(),
}


def opened(path: Path | str) -> OtlpFiles:
    return OtlpFiles(str(path), SpanDecoder(Interest(("rag_probe",), ("rag.stage",))))


def ids(batches) -> list[str]:
    return sorted(span.span_id for spans in batches for span in spans)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_told_by_its_content(tmp_path, kind):
    path = tmp_path / "traces.bin"
    path.write_bytes(KINDS[kind])
    files = opened(path)
    expected = [1, 2] if kind == "one document" else [1, 2, 3, 4]
    assert ids(files.scan()) == [span_id(number) for number in expected]
    assert ids(files.load([trace_id(1)])) == [span_id(number) for number in expected if number != 3]
    assert ids(files.load([])) == []


def test_a_directory_as_the_s3_exporter_lays_it_out(tmp_path, caplog):
    for hour, body in enumerate(BODIES):
        folder = tmp_path / "year=2026" / "month=11" / f"hour={hour}"
        folder.mkdir(parents=True)
        (folder / f"traces_{hour}.binpb.gz").write_bytes(gzip.compress(body))
    (tmp_path / ".DS_Store").write_bytes(b"\0\0junk")
    (tmp_path / "README").write_text("not telemetry")
    with caplog.at_level(logging.WARNING):
        assert len(ids(opened(tmp_path).scan())) == 4
    assert "README" in caplog.text
    assert len(ids(opened(f"{tmp_path}/**/*.gz").scan())) == 4


def test_a_last_line_that_is_not_finished_is_left_out_with_a_warning(tmp_path, caplog):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(LINES[:-30])
    with caplog.at_level(logging.WARNING):
        assert ids(opened(path).scan()) == [span_id(1), span_id(2)]
    assert "last message is incomplete" in caplog.text


def test_a_last_message_that_is_not_finished_is_left_out_with_a_warning(tmp_path, caplog):
    path = tmp_path / "traces.pb"
    path.write_bytes(PREFIXED[:-5])
    with caplog.at_level(logging.WARNING):
        assert ids(opened(path).scan()) == [span_id(1), span_id(2)]
    assert "last message is incomplete" in caplog.text


TWO_SENDERS = request(S(3, trace=2), S(4, service="other"))
DELIMITED = PREFIXED[: 4 + len(BODIES[0])] + len(TWO_SENDERS.SerializeToString()).to_bytes(4, "big")


@pytest.mark.parametrize("there", range(-3, TWO_SENDERS.ByteSize()))
def test_a_message_that_breaks_off_anywhere_is_left_out_and_told(tmp_path, there):
    """Also within its length, and where what is there is a message by itself."""
    path = tmp_path / "traces.pb"
    whole = DELIMITED + TWO_SENDERS.SerializeToString()
    path.write_bytes(whole[: len(DELIMITED) + there])
    files = opened(path)
    assert ids(files.scan()) == [span_id(1), span_id(2)]
    assert "read again once its writer has finished; if it has, spans are lost" in "".join(files.unread)
    path.write_bytes(whole)
    files = opened(path)
    assert len(ids(files.scan())) == 4
    assert not files.unread


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_whole_last_line_is_read_with_and_without_its_end(tmp_path, end):
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join(map(as_json, REQUESTS)) + end)
    files = opened(path)
    assert len(ids(files.scan())) == 4
    assert not files.unread


def test_in_a_directory_what_is_left_out_of_telemetry_is_told(tmp_path):
    """A README is none; a first message that breaks off is, and so is what comes behind one that is too large."""
    (tmp_path / "README").write_text("not telemetry")
    (tmp_path / "a.pb").write_bytes(PREFIXED[:40])
    (tmp_path / "b.pb").write_bytes(PREFIXED + (2**30).to_bytes(4, "big") + BODIES[0])
    files = opened(tmp_path)
    assert len(ids(files.scan())) == 4
    assert [Path(line.partition(":")[0]).name for line in files.unread] == ["a.pb", "b.pb"]


@pytest.mark.parametrize(
    ("scope", "said", "missed"),
    [("rag_probe.langchain", {}, 1), ("somebody.else", {"rag.stage": "filter"}, 1), ("somebody.else", {}, 0)],
)
def test_spans_without_an_id_are_told(tmp_path, caplog, scope, said, missed):
    """One that is read may be what fails a case; one of others never was evidence."""
    broken = request(S(1), S(2, scope=scope, attributes=said))
    broken.resource_spans[0].scope_spans[-1].spans[-1].span_id = b"short"
    path = tmp_path / "traces.pb"
    path.write_bytes(broken.SerializeToString())
    files = opened(path)
    assert ids(files.scan()) == [span_id(1)]
    assert "1 spans without a usable trace id or span id" in caplog.text
    assert len(files.unread) == missed


def test_compressed_data_that_breaks_off_is_read_up_to_there(tmp_path, caplog):
    path = tmp_path / "traces.gz"
    path.write_bytes(gzip.compress(LINES)[:-12])
    with caplog.at_level(logging.WARNING):
        opened(path)
        list(opened(path).scan())
    assert "breaks off" in caplog.text


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (LINES + b"{broken\n" + LINES, "line 3"),
        (LINES + b'{"resourceSpans": 7}\n', "line 3"),
        (PREFIXED[:4] + b"\xff" * (len(BODIES[0])) + PREFIXED[4 + len(BODIES[0]) :], "message 1"),
        (b"hello there, this is text", "neither OTLP JSON nor protobuf"),
        (b"\x0a\xff\xff", "expected an OTLP trace message"),
    ],
)
def test_what_is_malformed_is_named_with_its_place(tmp_path, content, place):
    path = tmp_path / "traces.bin"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=r"traces\.bin") as error:
        list(opened(path).scan())
    assert place in str(error.value)
    assert "\n" not in str(error.value)


def test_a_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("rag_probe_collector.otlp.plain._ALLOWANCE", 1024)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b" " * 50_000_000))
    with pytest.raises(SourceError, match="decompress it yourself"):
        list(opened(path).scan())


def test_a_file_without_spans_is_pointed_out(tmp_path, caplog):
    """Must-handle 38: what cannot be read never passes for nothing."""
    path = tmp_path / "other.json"
    path.write_text('{"spans": [{"trace_id": "1"}]}')
    with caplog.at_level(logging.WARNING):
        assert list(opened(path).scan()) == [[]]
    assert "holds no spans" in caplog.text


def test_nothing_there(tmp_path):
    for location in (tmp_path / "no", tmp_path / "*.json", tmp_path):
        with pytest.raises(SourceError, match="no such file"):
            opened(location)


def test_an_empty_file_holds_no_spans(tmp_path):
    for content in (b"", b"\n \n"):
        path = tmp_path / "empty.jsonl"
        path.write_bytes(content)
        assert list(opened(path).scan()) == []


@given(st.binary(max_size=60) | st.binary(max_size=60).map(lambda tail: b'{"resourceSpans":' + tail))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.bin"
    path.write_bytes(content)
    try:
        list(opened(path).scan())
    except SourceError as error:
        assert "any.bin" in str(error)  # noqa: PT017  # both ends are right


@pytest.mark.parametrize("name", ["collector/file_exporter.jsonl", "otlp/trace.json"])
def test_files_that_others_wrote(name):
    path = SHARED / "data" / "traces" / name
    if not path.exists():
        pytest.skip(f"no {path}")
    assert ids(opened(path).scan())
