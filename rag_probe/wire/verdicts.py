"""What validating steps said of drafts, on the outermost span."""

from __future__ import annotations

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.stages import Verdicts
from rag_probe.wire.columns import get_column, get_count, get_list, put_columns, put_count


def put_verdicts(out: dict[str, Value], verdicts: Verdicts, cap: int) -> None:
    """Write them in their order; none at all is nothing."""
    if not verdicts.passed:
        return
    put_columns(
        out,
        cap,
        (a.VERDICT_PASSED, verdicts.passed),
        (a.VERDICT_NODES, verdicts.nodes),
        (a.VERDICT_STEPS, verdicts.steps),
        (a.VERDICT_LENGTHS, verdicts.lengths),
        (a.VERDICT_DIGESTS, verdicts.digests),
    )
    put_count(out, a.VERDICT_COUNT, len(verdicts.passed), verdicts.count, cap)


def get_verdicts(attributes: Attributes) -> Verdicts | None:
    """The inverse of `put_verdicts`; None when nobody told any."""
    passed = get_list(attributes, a.VERDICT_PASSED, bool)
    if not passed:
        return None
    size = len(passed)
    return Verdicts(
        passed=passed,
        nodes=get_column(attributes, a.VERDICT_NODES, size, str),
        steps=get_column(attributes, a.VERDICT_STEPS, size, int),
        lengths=get_column(attributes, a.VERDICT_LENGTHS, size, int),
        digests=get_column(attributes, a.VERDICT_DIGESTS, size, str),
        count=get_count(attributes, a.VERDICT_COUNT, size),
    )
