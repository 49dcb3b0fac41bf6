"""Text that every exporter can encode: no lone surrogates."""

from __future__ import annotations

import re
from typing import Final

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """`text` with U+FFFD for each lone surrogate, one for one, so that offsets still hold.

    One such character makes protobuf refuse a string, and the exporter then drops the whole batch.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text
