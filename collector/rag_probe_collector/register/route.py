"""Patterns over graph nodes: `retrieve filter (draft validate)+`, with `|`, `?`, `*` and `+` as one expects.

Matched by sets of places, so that no pattern of a hostile file takes more than polynomial time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, TypeAlias

Places: TypeAlias = AbstractSet[int]
Route: TypeAlias = Callable[[Sequence[str], Places], Places]
"""Where a match of the pattern may end when it may start at the given places."""

_TOKEN: Final = re.compile(r"\s*(?:([^\s()|?*+]+)|([()|?*+]))")
_DEEPEST: Final = 50


class RouteError(ValueError):
    """A pattern that says nothing: what is wrong with it."""


def follows(nodes: Sequence[str], route: str | tuple[str, ...]) -> bool:
    """Whether the nodes, in the order they ran, are the listed ones or fit the pattern; raises `RouteError`."""
    if not isinstance(route, str):
        return tuple(nodes) == route
    return len(nodes) in parse_route(route)(nodes, {0})


def parse_route(text: str) -> Route:
    """The pattern as a matcher; raises `RouteError`."""
    tokens = _tokens(text.strip())
    route, rest = _alternatives(tokens, 0)
    if rest:
        raise RouteError(f"unexpected {rest[-1]!r}")
    return route


def _tokens(text: str) -> list[str]:
    """The tokens in reverse, so that the next one is popped from the end."""
    found: list[str] = []
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise RouteError(f"unexpected {text[place]!r}")
        found.append(token[1] or token[2])
        place = token.end()
    return found[::-1]


def _alternatives(tokens: list[str], depth: int) -> tuple[Route, list[str]]:
    if depth > _DEEPEST:
        raise RouteError("too many parentheses")
    branches = [_sequence(tokens, depth)]
    while tokens and tokens[-1] == "|":
        tokens.pop()
        branches.append(_sequence(tokens, depth))
    return lambda nodes, places: {end for branch in branches for end in branch(nodes, places)}, tokens


def _sequence(tokens: list[str], depth: int) -> Route:
    parts: list[Route] = []
    while tokens and tokens[-1] not in "|)":
        parts.append(_repeated(_one(tokens, depth), tokens))
    if not parts:
        raise RouteError("expected the name of a node")

    def run(nodes: Sequence[str], places: Places) -> Places:
        for part in parts:
            places = part(nodes, places)
        return places

    return run


def _one(tokens: list[str], depth: int) -> Route:
    word = tokens.pop()
    if word == "(":
        route, _ = _alternatives(tokens, depth + 1)
        if not tokens or tokens.pop() != ")":
            raise RouteError("expected )")
        return route
    if word in "?*+":
        raise RouteError(f"expected the name of a node before {word!r}")
    return lambda nodes, places: {at + 1 for at in places if at < len(nodes) and nodes[at] == word}


def _repeated(route: Route, tokens: list[str]) -> Route:
    while tokens and tokens[-1] in "?*+":
        mark = tokens.pop()
        route = route if mark == "?" else _many(route)
        route = route if mark == "+" else _maybe(route)
    return route


def _maybe(once: Route) -> Route:
    return lambda nodes, places: places | once(nodes, places)


def _many(once: Route) -> Route:
    def run(nodes: Sequence[str], places: Places) -> Places:
        found: set[int] = set()
        new: Places = once(nodes, places)
        while new - found:
            found |= new
            new = once(nodes, new)
        return found

    return run
