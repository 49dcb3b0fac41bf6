"""The labelled questions, each with the settings under which it is asked: some of them are set wrong on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, cast

import yaml

from rag_probe_demo.corpus import DATA

_DAYS: Final = frozenset({"index_day", "today"})
_LISTS: Final = frozenset({"pinned"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One case as the app is asked it; what should happen is the evaluator's to know."""

    case_id: str
    text: str
    subject: str | None
    tenant: str
    roles: tuple[str, ...]
    settings: Mapping[str, Any]
    """What is set otherwise than in the app's defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The questions to one app, and the versions of what they are asked about."""

    dataset_version: str
    corpus_version: str
    each: tuple[Question, ...]


def load_questions(segment: str) -> Questions:
    """The shipped cases of `security` or `returns`, in their order."""
    register = yaml.safe_load((DATA / "cases.yaml").read_text(encoding="utf-8"))
    planted = json.loads((DATA / "planted.json").read_text(encoding="utf-8"))
    cases = [case for case in register["cases"] if case["segment"] == segment]
    return Questions(
        dataset_version=register["dataset_version"],
        corpus_version=register["corpus_version"],
        each=tuple(_question(case, planted.get(case["id"], {})) for case in cases),
    )


def _question(case: Mapping[str, Any], fault: Mapping[str, Any]) -> Question:
    identity = case.get("identity", {})
    return Question(
        case_id=case["id"],
        text=case["question"],
        subject=identity.get("subject"),
        tenant=case["tenant"],
        roles=tuple(identity.get("roles", ())),
        settings=dict(_settings(fault.get("settings", {}))),
    )


def _settings(written: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in written.items():
        if name in _DAYS:
            yield name, date.fromisoformat(cast("str", value))
        else:
            yield name, tuple(value) if name in _LISTS else value
