"""What the system refuses in a place that nobody thought of is one line and exit 2 too, never "gate failed"."""

from __future__ import annotations

import pytest

from rag_probe_collector.cli.main import main

LONG = "x" * 5_000


@pytest.mark.parametrize(
    "arguments",
    [
        ["paths", LONG],
        ["paths", f"otlp:{LONG}"],
        ["paths", f"spool:{LONG}"],
        ["paths", f"results:{LONG}"],
        ["score", LONG, "--cases=cases.json"],
        ["gate", LONG],
        ["cases", "check", LONG],
        ["collect", f"--db={LONG}", "--grpc=127.0.0.1:0", "--http=127.0.0.1:0"],
    ],
    ids=lambda arguments: " ".join(arguments)[:16],
)
def test_a_name_that_is_too_long_is_one_line(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr().err
    assert (ended.value.code, said.count("\n")) == (2, 1)
    assert "too long" in said
