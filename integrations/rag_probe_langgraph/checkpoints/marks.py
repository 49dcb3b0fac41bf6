"""`@mapping(documents="retrieved", …)`: a state class says which stages its channels hold, as a mapping file does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import get_annotations
from typing import Final, TypeAlias, TypeVar, cast

from rag_probe_langgraph.checkpoints.roles import ROLES, Role

S = TypeVar("S", bound=type[object])
_MARK: Final = "__rag_probe_roles__"
_Subgraphs: TypeAlias = Callable[..., Iterable[tuple[str, object]]]


def mapping(**roles: Role) -> Callable[[S], S]:
    """Mark a state class; it stays what it is, and `of_graph` reads the mark.

    As in a mapping file, a channel without a role is then not read. Raises TypeError, when the class is defined, for a
    name that is none of its fields and for a role that there is none of.
    """

    def mark(state: S) -> S:
        fields = [name for kind in reversed(state.__mro__) for name in get_annotations(kind)]
        for channel, role in roles.items():
            if channel not in fields:
                raise TypeError(f"mapping({channel}=…): {state.__name__} has no such field; it has {', '.join(fields)}")
            if role not in ROLES:
                raise TypeError(f"mapping({channel}={role!r}): expected one of {', '.join(ROLES)}")
        setattr(state, _MARK, dict(roles))
        return state

    return mark


def roles_of(state: type[object]) -> Mapping[str, Role]:
    """What `mapping` says of a state class; empty for one that is not marked."""
    return cast("Mapping[str, Role]", getattr(state, _MARK, {}))


def roles_in(graph: object) -> Mapping[str, Role]:
    """The marks of a compiled graph's state and of its subgraphs'; of a channel that both name, the outer one's.

    Empty where the graph's own state has none: then its channels are read by type and name.
    """
    found: dict[str, Role] = dict(roles_of(_state(graph)))
    if not found:
        return found
    subgraphs = cast("_Subgraphs | None", getattr(graph, "get_subgraphs", None))
    for _, inner in () if subgraphs is None else subgraphs(recurse=True):
        found = {**roles_of(_state(inner)), **found}
    return found


def _state(graph: object) -> type[object]:
    """The state class of a graph; the functional API has none."""
    return cast("type[object]", getattr(getattr(graph, "builder", None), "state_schema", object))
