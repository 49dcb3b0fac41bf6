"""Filtering and PermissionCheck as attributes."""

from __future__ import annotations

from typing import Final

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.stages import Decision, Filtering, PermissionCheck
from rag_probe.wellformed import well_formed
from rag_probe.wire.columns import (
    get,
    get_column,
    get_count,
    get_ids,
    get_list,
    put_count,
    put_known,
    put_texts,
)

_FILTER: Final = (a.FILTER_KEPT, a.FILTER_DROPPED, a.FILTER_REASONS)
_PERMISSION: Final = (a.PERMISSION_IDS, a.PERMISSION_DECISIONS, a.PERMISSION_REASONS)
_DECISIONS: Final[dict[str, Decision]] = {"allow": "allow", "deny": "deny"}


def encode_filtering(stage: Filtering, cap: int) -> dict[str, Value]:
    """Both lists; an empty one as its count, one that was not told not at all."""
    out: dict[str, Value] = {a.STAGE: "filter"}
    put_texts(out, cap, _FILTER, (stage.kept or (), stage.dropped, stage.reasons))
    if stage.kept is not None:
        put_count(out, a.FILTER_KEPT_COUNT, len(stage.kept), stage.kept_count, cap)
    put_count(out, a.FILTER_DROPPED_COUNT, len(stage.dropped), stage.dropped_count, cap)
    put_known(out, (a.STEP_NAME, stage.step))
    return out


def encode_plain_filtering(step: str, kept: tuple[str, ...], dropped: tuple[str, ...]) -> dict[str, Value]:
    """`encode_filtering` of ids that are well-formed, some on either side and none of them cut."""
    return {a.STAGE: "filter", a.FILTER_KEPT: kept, a.FILTER_DROPPED: dropped, a.STEP_NAME: well_formed(step)}


def decode_filtering(attributes: Attributes) -> Filtering | None:
    """The inverse of `encode_filtering`; None without either list."""
    kept = get_ids(attributes, a.FILTER_KEPT, a.FILTER_KEPT_COUNT)
    dropped = get_ids(attributes, a.FILTER_DROPPED, a.FILTER_DROPPED_COUNT)
    if kept is None and dropped is None:
        return None
    dropped = dropped or ()
    return Filtering(
        step=get(attributes, a.STEP_NAME, str),
        kept=kept,
        dropped=dropped,
        reasons=get_column(attributes, a.FILTER_REASONS, len(dropped), str),
        kept_count=None if kept is None else get_count(attributes, a.FILTER_KEPT_COUNT, len(kept)),
        dropped_count=get_count(attributes, a.FILTER_DROPPED_COUNT, len(dropped)),
    )


def encode_permission(stage: PermissionCheck, cap: int) -> dict[str, Value]:
    """One decision per id."""
    out: dict[str, Value] = {a.STAGE: "permission"}
    put_texts(out, cap, _PERMISSION, (stage.ids, stage.decisions, stage.reasons))
    put_count(out, a.PERMISSION_COUNT, len(stage.ids), stage.count, cap)
    put_known(
        out,
        (a.PERMISSION_POLICY, stage.policy),
        (a.STEP_NAME, stage.step),
    )
    return out


def decode_permission(attributes: Attributes) -> PermissionCheck | None:
    """The inverse of `encode_permission`; None unless every id has a known decision."""
    ids = get_ids(attributes, a.PERMISSION_IDS, a.PERMISSION_COUNT)
    words = get_list(attributes, a.PERMISSION_DECISIONS, str) or ()
    decisions: tuple[Decision, ...] = tuple(_DECISIONS[word] for word in words if word in _DECISIONS)
    if ids is None or len(decisions) != len(ids) or len(words) != len(ids):
        return None
    return PermissionCheck(
        step=get(attributes, a.STEP_NAME, str),
        ids=ids,
        decisions=decisions,
        reasons=get_column(attributes, a.PERMISSION_REASONS, len(ids), str),
        policy=get(attributes, a.PERMISSION_POLICY, str),
        count=get_count(attributes, a.PERMISSION_COUNT, len(ids)),
    )
