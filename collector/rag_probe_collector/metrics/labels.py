"""A case's labels made ready for comparing: once per case, however many paths answer it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from rag_probe_collector.register import Case, Corpus, Entry, Passage


class Need(NamedTuple):
    """A fact that needs passages, and the groups of them that this caller may see."""

    id: str
    groups: tuple[tuple[Passage, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What the answer to a case is measured against."""

    case: Case
    corpus: Corpus | None
    allowed: frozenset[str]
    gold: frozenset[str]
    useful: frozenset[str]
    """What helps: the gold passages and the members of every group."""
    needs: tuple[Need, ...]
    """The requirements that the question does not supply itself; without any, each gold passage is one."""

    @property
    def known(self) -> Mapping[str, Entry]:
        """The manifest's passages; none without a manifest."""
        return {} if self.corpus is None else self.corpus.entries


def prepare(case: Case, corpus: Corpus | None = None) -> Labels:
    """The labels of `case`; documents and revisions that it leaves out come from the manifest."""
    gold = case.gold_ids or frozenset()
    allowed = case.allowed_ids or frozenset()
    needs = tuple(_needs(case, gold, allowed, corpus))
    members = {passage.id for need in needs for group in need.groups for passage in group}
    return Labels(case=case, corpus=corpus, allowed=allowed, gold=gold, useful=gold | members, needs=needs)


def _needs(case: Case, gold: frozenset[str], allowed: frozenset[str], corpus: Corpus | None) -> Iterator[Need]:
    for requirement in case.requirements:
        if requirement.groups and not requirement.supplied_by_question:
            seen = [group for group in requirement.groups if all(each.id in allowed for each in group)]
            yield Need(requirement.id, tuple(tuple(_filled(each, corpus) for each in group) for group in seen))
    if not case.requirements:
        for passage in sorted(gold):
            yield Need(passage, ((_filled(Passage(id=passage), corpus),),))


def _filled(passage: Passage, corpus: Corpus | None) -> Passage:
    entry = None if corpus is None else corpus.entries.get(passage.id)
    if entry is None:
        return passage
    return replace(
        passage,
        document=entry.document if passage.document is None else passage.document,
        revision=entry.revision if passage.revision is None else passage.revision,
    )
