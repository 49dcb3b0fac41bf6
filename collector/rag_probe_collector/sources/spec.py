"""A source as the user wrote it, fit to be shown."""

from __future__ import annotations

import re
from typing import Final

_USER: Final = re.compile(r"(?<=://)[^/]*@|(?<=://)[^@?]*:[^@?]*@")
_PASSWORD: Final = re.compile(r"(?i)(pass(?:word|file)?|sslpassword)=[^&\s]*")


def without_password(spec: str) -> str:
    """Without user and password; reports and messages are passed on."""
    return _PASSWORD.sub(r"\1=…", _USER.sub("…@", spec))
