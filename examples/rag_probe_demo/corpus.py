"""The passages that both apps search: one shipped file, which is the evaluator's corpus manifest too."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Final, cast

from langchain_core.documents import Document

DATA: Final = Path(__file__).parent / "data"
TODAY: Final = date(2026, 6, 15)
"""The day on which the corpus was taken, and on which the demo's questions are asked."""


def load_passages(tenants: Iterable[str], day: date = TODAY) -> list[Document]:
    """The passages of these tenants as an index built on `day` holds them: later revisions are missing from it."""
    wanted = frozenset(tenants)
    manifest = json.loads((DATA / "corpus.json").read_text(encoding="utf-8"))
    rows = cast("list[dict[str, str]]", manifest["chunks"])
    return [_passage(row, day) for row in rows if row["tenant"] in wanted and row["valid_from"] <= day.isoformat()]


def _passage(row: dict[str, str], day: date) -> Document:
    status = row["status"] if row.get("valid_to", "9999") <= day.isoformat() else "current"
    metadata = {name: value for name, value in row.items() if name != "text"} | {"status": status}
    return Document(id=row["id"], page_content=row["text"], metadata=metadata)
