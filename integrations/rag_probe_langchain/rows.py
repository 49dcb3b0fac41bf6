"""What passages say of themselves, as columns: every field is read once."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias, cast

from langchain_core.documents import Document

Metadata: TypeAlias = dict[str, object]

_FIELDS: Final = attrgetter("id", "page_content", "metadata")
_STR: Final = {str}
_DICT: Final = {dict}


class Rows(NamedTuple):
    """Columns of equal length."""

    names: Sequence[object]
    """As they stand: the ids that the app gave."""
    texts: Sequence[str]
    metadata: Sequence[Metadata]


def rows_of(documents: Sequence[Document]) -> Rows:
    """The fields of `documents`; `""` and `{}` for a text that is no text and metadata that is no dict.

    Such a passage costs itself only: pydantic does not look at what is assigned.
    """
    if not documents:
        return Rows((), (), ())
    rows = Rows(*zip(*map(_FIELDS, documents), strict=True))
    if set(map(type, rows.texts)) == _STR and set(map(type, rows.metadata)) == _DICT:
        return rows
    return Rows(*zip(*map(_repaired, documents), strict=True))


def _repaired(document: Document) -> tuple[str | None, str, Metadata]:
    name, text, metadata = cast("tuple[object, object, Metadata]", _FIELDS(document))
    return (
        str.__str__(name) if isinstance(name, str) else None,
        str.__str__(text) if isinstance(text, str) else "",
        metadata if type(metadata) is dict else {},
    )
