"""What labels must agree on before anything is scored with them (checklist 20 to 26, contracts 5)."""

from __future__ import annotations

from collections.abc import Iterator

from rag_probe_collector.register.case import Case, Passage
from rag_probe_collector.register.route import RouteError, parse_route


def contradictions(case: Case) -> Iterator[str]:
    """One line for each rule that the labels of a case break; `allowed_ids` are already resolved."""
    if not case.id.strip():
        yield "id: expected text that is not blank; name the case"
    for requirement in case.requirements:
        for group in requirement.groups:
            yield from _group(requirement.id, group)
    if isinstance(case.expected_route, str):
        yield from _route(case.expected_route)
    if case.requirements:
        yield from _requirements(case)
    else:
        yield from _strict(case)


def _route(pattern: str) -> Iterator[str]:
    try:
        parse_route(pattern)
    except RouteError as error:
        yield f"expected_route: expected a list of nodes or a pattern as `retrieve (draft check)+`: {error}"


def _strict(case: Case) -> Iterator[str]:
    gold = case.gold_ids or frozenset()
    outside = gold - (case.allowed_ids or frozenset())
    if outside:
        yield f"gold_ids: expected only ids of allowed_ids, got {min(outside)[:80]!r}; allow it or remove it"
    if case.answerable and not gold:
        yield "answerable: expected gold_ids for an answerable case, got none; name them or write false"
    if not case.answerable and gold:
        yield "answerable: expected no gold_ids for a case that is not answerable; remove them or write true"


def _requirements(case: Case) -> Iterator[str]:
    met = all(each.groups or each.supplied_by_question for each in case.requirements)
    if case.answerable and not met:
        name = next(each.id for each in case.requirements if not (each.groups or each.supplied_by_question))
        yield f"answerable: requirement {name[:80]!r} has no group; add one or write false"
    if not case.answerable and met:
        yield "answerable: expected a requirement without a group for a case that is not answerable, got none"
    names = [each.id for each in case.requirements]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        yield f"requirements: expected each id once, got {twice[:80]!r} twice; rename one"


def _group(requirement: str, group: tuple[Passage, ...]) -> Iterator[str]:
    if not group:
        yield f"requirements: {requirement[:80]!r} has an empty group; name its passages or remove it"
    for passage in group:
        if (passage.start is None) != (passage.end is None):
            yield f"requirements: {requirement[:80]!r}: expected both start and end of {passage.id[:80]!r}, got one"
        elif passage.start is not None and passage.end is not None and not 0 <= passage.start < passage.end:
            yield f"requirements: {requirement[:80]!r}: expected 0 <= start < end for {passage.id[:80]!r}"
