"""Lists of an earlier turn, which a checkpointer brings back beside those of the present question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_probe_langchain.documents import bare
from rag_probe_langchain.known import union
from rag_probe_langchain.nodes import NODE
from rag_probe_langchain.run import Ids, Run
from rag_probe_langchain.scan import Found, lists_in


def without_leftovers(run: Run, before: Mapping[str, Ids], after: Sequence[Found]) -> Mapping[str, Ids]:
    """What went into a step, where it wrote over a list of an earlier turn with passages of another list.

    The ids may be the same, turn by turn; the objects are not. An empty list shows no objects: it was made of the only
    other list that a stage of this question let through. Where there is none, and the list came with no input and from
    no search of this question, the step has cleared what an earlier turn had left: nothing was filtered.
    """
    given = dict(lists_in(run.inputs))
    made = {key: passages for key, passages in after if key in before and passages is not given.get(key)}
    if not made:
        return before
    objects = {key: _objects(passages) for key, passages in given.items() if key in before}
    found = dict(before)
    for key, passages in made.items():
        if passages and _is_of_another(_objects(passages), key, objects):
            del found[key]
        elif not passages:
            found[key] = _source(run, before, key)
            if _is_of_an_earlier_turn(run, found[key]):
                del found[key]
    return found


def _source(run: Run, before: Mapping[str, Ids], key: str) -> Ids:
    root = run.request.root
    seen = (root.results if root is not None else None) or ()
    others = [ids for name, ids in before.items() if name != key and ids in seen]
    return others[0] if len(others) == 1 and before[key] not in seen else before[key]


def _is_of_an_earlier_turn(run: Run, ids: Ids) -> bool:
    """Only a graph has earlier turns; of a turn that goes on after a pause, all may be of this question."""
    root = run.request.root
    if root is None or root is run or run.request.resumed or NODE not in run.metadata:
        return False
    given = [run.request.documents.before(passages) for _, passages in lists_in(root.inputs)]
    return set(ids).isdisjoint(union([*given, *(root.results or ())]))


def _is_of_another(made: set[int], key: str, objects: Mapping[str, set[int]]) -> bool:
    return not made <= objects.get(key, set()) and any(made <= other for name, other in objects.items() if name != key)


def _objects(passages: Sequence[object]) -> set[int]:
    return set(map(id, bare(passages)))
