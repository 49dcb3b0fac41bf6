"""Ids of passages and documents as the app's side records them: one that is too long is cut in the same way here."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from rag_probe.identifiers import identifier


def _as_recorded(text: str) -> str:
    return identifier(text) or text


RecordedId: TypeAlias = Annotated[str, AfterValidator(_as_recorded)]
