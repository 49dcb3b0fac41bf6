"""Processes that tests look at from outside."""

from __future__ import annotations

import os


def is_running(process_id: int) -> bool:
    """Or has ended, and nobody has asked how."""
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True
