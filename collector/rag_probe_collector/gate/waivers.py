"""Exceptions: an investigated violation that may pass, for a time, on somebody's word (checklist 58)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from rag_probe_collector.gate.report_json import ExceptionJson
from rag_probe_collector.register import Thresholds, Waiver


@dataclass(slots=True)
class Waivers:
    """The exceptions of a thresholds file on one day; it notes which of them were needed."""

    thresholds: Thresholds
    today: date
    used: set[int] = field(default_factory=set[int])

    def excuse(self, case_id: str, violation: str) -> bool:
        """Whether an exception that has not expired covers it. Blockers and pending reviews are never excused."""
        if violation in self.thresholds.blockers or violation == "review_pending":
            return False
        covering = [at for at, each in enumerate(self.thresholds.exceptions) if self._covers(each, case_id, violation)]
        self.used.update(covering)
        return bool(covering)

    def told(self) -> list[ExceptionJson]:
        """Every exception and whether it counted; ask when all cases are judged."""
        return [self._told(at, each) for at, each in enumerate(self.thresholds.exceptions)]

    def _covers(self, waiver: Waiver, case_id: str, violation: str) -> bool:
        fits = waiver.case_id in (None, case_id) and waiver.violation in (None, violation)
        return fits and self.today <= waiver.expires

    def _told(self, at: int, waiver: Waiver) -> ExceptionJson:
        state = "used" if at in self.used else "expired" if self.today > waiver.expires else "unused"
        return {
            "owner": waiver.owner,
            "reason": waiver.reason,
            "expires": waiver.expires.isoformat(),
            "case_id": waiver.case_id,
            "violation": waiver.violation,
            "state": state,
        }
