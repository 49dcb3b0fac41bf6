"""What is said when an extra is not installed."""

from __future__ import annotations


class MissingExtraError(ModuleNotFoundError):
    """A part of rag-probe that needs an extra; the message is the command that installs it."""

    def __init__(self, part: str, extra: str, cause: ModuleNotFoundError) -> None:
        super().__init__(f"{part} needs {cause.name}: pip install 'rag-probe-otel[{extra}]'", name=cause.name)
