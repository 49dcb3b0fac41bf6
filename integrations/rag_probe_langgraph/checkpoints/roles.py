"""Which channel holds which stage: a mapping file says it, else the types and names of what was written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast, get_args

import yaml

from rag_probe.protocols import SourceError

Role: TypeAlias = Literal[
    "question",
    "retrieved",
    "reranked",
    "filtered",
    "permitted",
    "context",
    "messages",
    "answer",
    "citations",
    "confidence",
    "outcome",
    "verdict",
    "ignore",
]

ROLES: Final[tuple[Role, ...]] = get_args(Role)

VERDICTS: Final = frozenset({"verdict", "valid", "is_valid", "passed", "approved", "accepted", "grade"})
"""Names of channels, and of fields in them, that say whether a draft may go on."""

_BY_NAME: Final[Mapping[str, Role]] = {
    "question": "question",
    "query": "question",
    "input": "question",
    "reranked": "reranked",
    "permitted": "permitted",
    "allowed": "permitted",
    "context": "context",
    "messages": "messages",
    "answer": "answer",
    "draft": "answer",
    "output": "answer",
    "response": "answer",
    "result": "answer",
    "citations": "citations",
    "confidence": "confidence",
    "outcome": "outcome",
    **dict.fromkeys(VERDICTS, "verdict"),
}
"""What a channel's name says of it; passages and other text are told by what they are."""


def role_of(channel: str, roles: Mapping[str, Role]) -> Role | None:
    """What the mapping says, which then says all; without one, what the name says. None: by what is written."""
    return roles.get(channel, "ignore") if roles else _BY_NAME.get(channel)


def says_answers(roles: Mapping[str, Role]) -> bool:
    """Whether an answer would be seen: a mapping may name no channel for it."""
    return not roles or not {"answer", "messages"}.isdisjoint(roles.values())


def load_roles(path: Path) -> Mapping[str, Role]:
    """`channel: role`, in YAML or JSON; raises SourceError with the place, what was expected and what was found."""
    try:
        found = cast(object, yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = str(error).partition("\n")[0]
        raise SourceError(f"{path}: cannot be read as a mapping of channels ({reason})") from None
    if not isinstance(found, dict) or not found:
        raise SourceError(f"{path}: expected lines like `documents: retrieved`, one a channel")
    mapping = cast("Mapping[object, object]", found)
    names = [name for name in mapping if not isinstance(name, str)]
    if names:  # YAML reads `on` and `no` as true and false
        raise SourceError(f"{path}: {names[0]!r} is no name of a channel; write it in quotes")
    roles = checked(cast("Mapping[str, Role]", mapping), f"{path}: ")
    if not wanted(roles):
        raise SourceError(f"{path}: names no channel to read: a channel that a mapping does not name is ignored anyway")
    return roles


def checked(roles: Mapping[str, Role], place: str = "") -> Mapping[str, Role]:
    """The same; raises SourceError for a role that there is none of."""
    for channel, role in roles.items():
        if role not in ROLES:
            raise SourceError(f"{place}{channel}: expected one of {', '.join(ROLES)}, found {role!r}")
    return roles


def wanted(roles: Mapping[str, Role]) -> frozenset[str] | None:
    """The channels whose values must be read: those that a mapping names, or all (None)."""
    return frozenset(channel for channel, role in roles.items() if role != "ignore") if roles else None
