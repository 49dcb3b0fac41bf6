"""Content as three attributes: its length always, its digest with a key, its text with content on."""

from __future__ import annotations

from typing import NamedTuple

from rag_probe.attributes import Attributes, Value
from rag_probe.stages import Content
from rag_probe.wire.columns import get, put_known


class Names(NamedTuple):
    """Where the three parts of one content are written."""

    length: str
    digest: str
    text: str


def put_content(out: dict[str, Value], names: Names, content: Content | None) -> None:
    """Write what is known of `content`."""
    if content is not None:
        if content.digest is None and content.text is None and content.length is not None:
            out[names.length] = content.length  # all there is, with content off and no key
            return
        put_known(
            out,
            (names.length, content.length),
            (names.digest, content.digest),
            (names.text, content.text),
        )


def get_content(attributes: Attributes, names: Names) -> Content | None:
    """The inverse of `put_content`; None when nothing is known."""
    length = get(attributes, names.length, int)
    digest = get(attributes, names.digest, str)
    text = get(attributes, names.text, str)
    if length is None and digest is None and text is None:
        return None
    return Content(length=length, digest=digest, text=text)
