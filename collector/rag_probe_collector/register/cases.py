"""The register's file as cases: strict, since a label that is misread judges every answer wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from rag_probe_collector.errors import InputError
from rag_probe_collector.register.case import Case, Register
from rag_probe_collector.register.corpus import Corpus
from rag_probe_collector.register.label_rules import contradictions
from rag_probe_collector.register.listing import Item, read_listing
from rag_probe_collector.register.validate import Shape, refuse_twice

_SHAPE: Final = Shape(Case, "case")


def load_cases(path: Path, corpus: Corpus | None = None) -> Register:
    """The register, selectors resolved over `corpus`; an empty one is an error, as is every contradiction."""
    listing = read_listing(path, "cases", "rag-probe.cases/1")
    cases = tuple(_case(item, corpus) for item in listing.items)
    if not cases:
        raise InputError(f"{listing.name}: expected at least one case, got none; an empty suite proves nothing")
    refuse_twice((case.id for case in cases), f"{listing.name}: id")
    warnings = [warning for item in listing.items for warning in _misspelt(item)]
    warnings += [f"{listing.name} {warning}" for case in cases for warning in _doubtful(case, corpus)]
    return Register(
        name=listing.name,
        cases=cases,
        dataset_version=listing.version("dataset_version"),
        corpus_version=listing.version("corpus_version"),
        warnings=tuple(warnings),
    )


def _case(item: Item, corpus: Corpus | None) -> Case:
    case = _SHAPE.read(item, unique=("allowed_ids", "gold_ids"))
    place = _SHAPE.place(item)
    meant = {right: f"is {written[:80]!r} meant for it?" for written, right in _SHAPE.misspelt(item.value)}
    if case.allowed_ids is None and case.allowed is None:
        remedy = meant.get("allowed_ids", "add it, or selectors as `allowed`")
        raise InputError(f"{place}: allowed_ids: expected a list, got none; {remedy}")
    case = replace(case, allowed_ids=_allowed(case, corpus, place))
    if case.gold_ids is None and not case.requirements:
        remedy = meant.get("gold_ids") or meant.get("requirements") or "write [] for a case without evidence"
        raise InputError(f"{place}: gold_ids: expected a list, got none; {remedy}")
    problem = next(contradictions(case), None)
    if problem is not None:
        raise InputError(f"{place}: {problem}")
    return case


def _allowed(case: Case, corpus: Corpus | None, place: str) -> frozenset[str] | None:
    if case.allowed is None:
        return case.allowed_ids
    if case.allowed_ids is not None:
        raise InputError(f"{place}: expected one of allowed_ids and allowed, got both; remove one")
    if corpus is None:
        raise InputError(f"{place}: allowed: expected a corpus manifest to select from; give --corpus FILE")
    return corpus.select(case.allowed, place)


def _misspelt(item: Item) -> Iterator[str]:
    for written, meant in _SHAPE.misspelt(item.value):
        yield f"{_SHAPE.place(item)}: field {written[:80]!r} is ignored; is {meant!r} meant?"


def _doubtful(case: Case, corpus: Corpus | None) -> Iterator[str]:
    """Labels that contradict nothing but can hardly be meant."""
    allowed = case.allowed_ids or frozenset()
    for requirement in case.requirements:
        seen = [group for group in requirement.groups if all(passage.id in allowed for passage in group)]
        if requirement.groups and not seen:
            yield f"case {case.id!r}: no group of requirement {requirement.id!r} lies wholly in allowed_ids"
    if corpus is not None:
        for missing in vanished(case, corpus):
            yield f"case {case.id!r}: id {missing!r} is not in {corpus.name}; was the corpus chunked anew?"


def vanished(case: Case, corpus: Corpus) -> list[str]:
    """Ids that the labels name and the manifest does not have, sorted."""
    named = {passage.id for each in case.requirements for group in each.groups for passage in group}
    named.update(case.allowed_ids or (), case.gold_ids or ())
    return sorted(named - corpus.entries.keys())
