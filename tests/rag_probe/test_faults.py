"""A fault is said once, with its place and without its message."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from rag_probe import faults
from rag_probe.faults import LIMIT, log_once, warn_once


def fault(message=""):
    with pytest.raises(KeyError) as raised:
        raise KeyError(message)
    return raised.value


def test_it_is_said_once_per_kind_and_type(caplog):
    for _ in range(3):
        log_once("langchain.on_chain_end", fault())
    log_once("langchain.on_chain_end", ValueError())
    log_once("stage", fault())
    assert [record.getMessage() for record in caplog.records] == [
        f"langchain.on_chain_end failed with KeyError at test_faults.py:{fault().__traceback__.tb_lineno};"
        " the app is unaffected, and this is said once",
        "langchain.on_chain_end failed with ValueError at an unknown place;"
        " the app is unaffected, and this is said once",
        f"stage failed with KeyError at test_faults.py:{fault().__traceback__.tb_lineno};"
        " the app is unaffected, and this is said once",
    ]


def test_its_message_may_be_content_and_comes_at_no_level(caplog):
    with caplog.at_level(logging.DEBUG, "rag_probe"):
        log_once("stage", fault(f"{'sec'}ret"))
    assert [record.levelno for record in caplog.records] == [logging.WARNING, logging.DEBUG]
    assert "in fault" in caplog.records[1].getMessage()
    assert "secret" not in caplog.text
    assert not any(record.exc_info for record in caplog.records)


def test_of_many_threads_one_says_it(caplog):
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: warn_once("kind", "said"), range(200)))
    assert len(caplog.records) == 1


def test_what_is_remembered_is_bounded(caplog):
    for number in range(LIMIT + 50):
        warn_once(f"kind {number}", "said")
    assert len(faults._said) == LIMIT
    assert len(caplog.records) == LIMIT
