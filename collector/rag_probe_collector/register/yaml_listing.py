"""YAML that cannot hurt: no tags of Python's, no alias bombs, no cycles, no numbers that JSON lacks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Final, cast

import yaml
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from rag_probe_collector.errors import InputError
from rag_probe_collector.register.visible import visible

_Loader: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SPARE: Final = 10_000
"""Nodes that aliases may add however small the file is."""
_TIMES: Final = 10
"""How many times larger than written a file may become through aliases."""


def _finite(constructor: SafeConstructor, node: ScalarNode) -> float:
    number = constructor.construct_yaml_float(node)
    if not math.isfinite(number):
        raise ConstructorError(None, None, "a number that is not finite", node.start_mark)
    return number


class _Constructor(SafeConstructor):
    yaml_constructors: ClassVar = {**SafeConstructor.yaml_constructors, "tag:yaml.org,2002:float": _finite}


def yaml_object(data: bytes, name: str) -> object:
    """The whole document as plain Python; raises `InputError`."""
    root = _compose(data, name)
    return None if root is None else yaml_value(root, name)


def yaml_nodes(data: bytes, name: str, key: str) -> tuple[Mapping[str, object], list[Node]]:
    """The nodes of the list in `data` and what stands around it; raises `InputError`."""
    root = _compose(data, name)
    if root is None:
        return {}, []
    around: dict[str, object] = {}
    if isinstance(root, MappingNode):
        rest = [(left, right) for left, right in root.value if left.value != key]
        found = [right for left, right in root.value if left.value == key]
        around = {str(left.value): yaml_value(right, name) for left, right in rest}
        root = found[0] if found else root
    if not isinstance(root, SequenceNode):
        line = root.start_mark.line + 1
        raise InputError(f"{name}:{line}: expected a list, or an object with a list {key!r}")
    return around, list(root.value)


def yaml_value(node: Node, name: str) -> object:
    """The node as plain Python; raises `InputError` for whatever JSON could not say."""
    try:
        return cast("object", _Constructor().construct_document(node))  # pyright: ignore[reportUnknownMemberType]
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError, TypeError) as error:
        place = _place(error, f"{name}:{node.start_mark.line + 1}", name)
        raise InputError(f"{place}: expected plain YAML: {_problem(error)}") from None


def _compose(data: bytes, name: str) -> Node | None:
    try:
        root: Node | None = yaml.compose(data, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{_place(error, name)}: expected YAML: {_problem(error)}") from None
    if root is not None:
        _refuse_bombs(root, name)
    return root


def _place(error: Exception, otherwise: str, name: str | None = None) -> str:
    mark = getattr(error, "problem_mark", None)
    return otherwise if mark is None else f"{name or otherwise}:{mark.line + 1}"


def _problem(error: Exception) -> str:
    text = getattr(error, "problem", None) or getattr(error, "reason", None) or type(error).__name__
    return " ".join(str(text).split())[:200]


def _refuse_bombs(root: Node, name: str) -> None:
    """Counts what aliases would expand to, before anything is built; a node inside itself is refused too."""
    sizes: dict[int, int | None] = {}
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, children_done = stack.pop()
        if children_done:
            sizes[id(node)] = 1 + sum(sizes[id(child)] or 0 for child in _children(node))
        elif id(node) not in sizes:
            sizes[id(node)] = None
            _refuse_repeated(node, name)
            stack.append((node, True))
            stack.extend((child, False) for child in _children(node))
        elif sizes[id(node)] is None:
            raise InputError(f"{name}:{node.start_mark.line + 1}: expected no alias to a node inside itself")
    if (sizes[id(root)] or 0) > _TIMES * len(sizes) + _SPARE:
        raise InputError(f"{name}: expected few aliases: written out they make {sizes[id(root)]} nodes; write it out")


def _refuse_repeated(node: Node, name: str) -> None:
    """A key written twice: the last would win without a word."""
    if not isinstance(node, MappingNode):
        return
    seen: set[str] = set()
    for key, _ in node.value:
        if isinstance(key, ScalarNode):
            if key.value in seen:
                place = f"{name}:{key.start_mark.line + 1}"
                raise InputError(
                    f"{place}: expected each field once, got {visible(key.value[:80])!r} twice; remove one"
                )
            seen.add(key.value)


def _children(node: Node) -> list[Node]:
    if isinstance(node, SequenceNode):
        return list(node.value)
    if isinstance(node, MappingNode):
        return [child for pair in node.value for child in pair]
    return []
