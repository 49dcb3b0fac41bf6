"""The public face: what it names is there, and nothing below it reaches further than it may."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from pathlib import Path

import pytest

import rag_probe

MODULES = sorted(module.name for module in pkgutil.walk_packages(rag_probe.__path__, "rag_probe."))
NEED_THE_SDK = {
    "rag_probe.delivery",
    "rag_probe.exporters",
    "rag_probe.meter_provider",
    "rag_probe.plugins",
    "rag_probe.provider",
    "rag_probe.readers",
    "rag_probe.sampling",
}


@pytest.mark.parametrize("name", rag_probe.__all__)
def test_every_name_is_there(name):
    assert getattr(rag_probe, name) is getattr(importlib.import_module("rag_probe"), name)
    assert name in dir(rag_probe)


def test_the_names_of_the_contract():
    """contracts 4."""
    namespace = {}
    exec("from rag_probe import configure, case, KeepCases, stage, tell", namespace)
    assert {"configure", "case", "KeepCases", "stage", "tell"} <= set(namespace) & set(rag_probe.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'rag_probe' has no attribute 'cases_'"):
        rag_probe.__getattr__("cases_")


def test_no_name_is_hidden_by_a_module():
    """A module `rag_probe/case.py`, once imported, would stand where the function is."""
    assert set(MODULES) & {f"rag_probe.{name}" for name in rag_probe.__all__} == {"rag_probe.tell"}


@pytest.mark.parametrize("name", [name for name in MODULES if "__all__" in vars(importlib.import_module(name))])
def test_every_all_is_true(name):
    module = importlib.import_module(name)
    assert [each for each in module.__all__ if not hasattr(module, each)] == []


def imported(name):
    """Top-level packages that a module names, wherever it does."""
    tree = ast.parse(Path(importlib.import_module(name).__file__).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module


@pytest.mark.parametrize("name", MODULES)
def test_a_module_needs_the_standard_library_and_the_api_only(name):
    names = set(imported(name))
    tops = {each.partition(".")[0] for each in names} - set(sys.stdlib_module_names)
    assert tops <= {"rag_probe", "opentelemetry"}
    if name not in NEED_THE_SDK:
        assert not any(each.startswith(("opentelemetry.sdk", "opentelemetry.exporter")) for each in names)
