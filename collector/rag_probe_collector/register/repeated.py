"""Keys written twice in one object: the last would win without a word, and a merge gone wrong would pass."""

from __future__ import annotations

import json

from rag_probe_collector.errors import InputError
from rag_probe_collector.register.visible import visible


def refuse_repeated(data: bytes, place: str) -> None:
    """Raises `InputError` for JSON in which an object has a key twice. `data` is JSON that has been parsed already."""

    def pairs(found: list[tuple[str, object]]) -> None:
        if len({key for key, _ in found}) < len(found):
            keys = [key for key, _ in found]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InputError(f"{place}: expected each field once, got {visible(twice[:80])!r} twice; remove one")

    try:
        json.loads(data, object_pairs_hook=pairs)
    except RecursionError:
        raise InputError(f"{place}: expected JSON that is less deep") from None
