"""The passages in a tool's message: a function that returns Documents is quoted there by their `repr`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from langchain_core.documents import Document

_SIGN: Final = "Document("
_LONGEST: Final = 400_000
"""Characters that are read."""


def documents_in(text: str) -> list[Document]:
    """The Documents written in `text`, in their order; none where it is anything but a Python value of Documents.

    Nothing is executed. Metadata that is no plain value (a date, an object) is left out.
    """
    if _SIGN not in text or len(text) > _LONGEST or text.lstrip()[:1] not in ("[", "(", "{", "D"):
        return []
    try:
        return list(_documents(ast.parse(text.strip(), mode="eval")))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []


def _documents(tree: ast.AST) -> Iterator[Document]:
    """In the order of the text: `ast.walk` goes by depth."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "Document":
        given = {each.arg: each.value for each in tree.keywords}
        text, name = _plain(given.get("page_content")), _plain(given.get("id"))
        if isinstance(text, str):
            metadata = dict(_entries(given.get("metadata")))
            yield Document(text, id=name if isinstance(name, str) else None, metadata=metadata)
        return
    for child in ast.iter_child_nodes(tree):
        yield from _documents(child)


def _entries(node: ast.expr | None) -> Iterator[tuple[str, object]]:
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            name, plain = _plain(key), _plain(value)
            if isinstance(name, str) and plain is not None:
                yield name, plain


def _plain(node: ast.expr | None) -> object:
    try:
        return None if node is None else ast.literal_eval(node)
    except ValueError:
        return None
