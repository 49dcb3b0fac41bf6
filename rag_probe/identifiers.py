"""How an app's own ids are written: as text, of bounded length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from enum import Enum
from hashlib import sha256
from operator import index
from typing import Final, SupportsIndex, cast
from uuid import UUID

from rag_probe.stages import Identity
from rag_probe.wellformed import well_formed

MAX_ID: Final = 256
"""Characters of an id; a longer one is cut, and a digest of all of it says which it was."""
_DIGEST: Final = 16


def identifier(value: object) -> str | None:
    """`value` as an id: text, and integers (numpy's too), UUIDs, dates and enums as text; None for anything else."""
    try:
        return _identifier(value)
    except Exception:  # an array of several, too many digits to print, an object that raises when it is looked at
        return None


def _identifier(value: object) -> str | None:
    match value:
        case Enum():
            return _identifier(cast("object", value.value))
        case str():
            return well_formed(value if len(value) <= MAX_ID else _cut(value)) or None
        case bool() | None:
            return None
        case SupportsIndex():
            return _identifier(str(index(value)))
        case UUID():
            return str(value)
        case date():
            return value.isoformat()
        case _:
            return None


def _cut(text: str) -> str:
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{text[: MAX_ID - _DIGEST - 1]}~{digest}"


def identifier_of(item: object, keys: Iterable[str]) -> str | None:
    """The id of `item`: itself, its `id`, or the first of `keys` in its metadata, as a LangChain Document has it."""
    try:
        own = identifier(item) or identifier(_get(item, "id"))
        if own is None:
            metadata = _get(item, "metadata")
            own = next((found for key in keys if (found := identifier(_get(metadata, key)))), None)
    except Exception:  # an object whose attributes raise has no id
        return None
    return own


def _get(item: object, name: str) -> object:
    if isinstance(item, Mapping):
        return cast("Mapping[str, object]", item).get(name)
    return getattr(item, name, None)


def identity_of(value: object) -> Identity | None:
    """An `Identity`, or a mapping with `subject`, `tenant` and `roles`; raises a `ValueError` that names the part."""
    match value:
        case None:
            return None
        case Identity():
            fields: dict[object, object] = {"subject": value.subject, "tenant": value.tenant, "roles": value.roles}
        case Mapping():
            fields = dict(cast("Mapping[object, object]", value))
        case _:
            raise ValueError(f"identity: expected an Identity or a mapping, found {type(value).__name__}")
    unknown = set(fields) - {"subject", "tenant", "roles"}
    if unknown:
        raise ValueError(f"identity: expected subject, tenant and roles, found {', '.join(map(repr, unknown))}")
    return Identity(
        subject=identifier(fields.get("subject")),
        tenant=identifier(fields.get("tenant")),
        roles=_roles(fields.get("roles")),
    )


def _roles(value: object) -> tuple[str, ...]:
    match value:
        case None:
            return ()
        case str():
            return (value,)
        case Iterable():
            return tuple(role for item in cast("Iterable[object]", value) if (role := identifier(item)))
        case _:
            raise ValueError(f"identity.roles: expected a list of texts, found {type(value).__name__}")
