"""A permission check, told decision by decision."""

from __future__ import annotations

from collections.abc import Sequence

from rag_probe.identifiers import identifier
from rag_probe.recorders.recorder import Recorder, known, words
from rag_probe.stages import Decision, PermissionCheck


class PermissionRecorder(Recorder):
    """`with stage("permission", policy="v7") as s`."""

    kind = "permission"

    def __init__(self, step: str | None, policy: str | None) -> None:
        super().__init__(step)
        self._policy = identifier(policy)
        self._rows: list[tuple[str, Decision, str | None]] = []

    def allow(self, item: object, reason: str | None = None) -> None:
        """The caller may see this passage."""
        self._note(item, "allow", reason)

    def deny(self, item: object, reason: str | None = None) -> None:
        """The caller may not see it; `reason` is a short code, as `foreign_tenant`."""
        self._note(item, "deny", reason)

    def stage(self) -> PermissionCheck:
        """One decision for each call, in their order."""
        return PermissionCheck(
            step=self.step,
            ids=tuple(row[0] for row in self._rows),
            decisions=tuple(row[1] for row in self._rows),
            reasons=known(row[2] for row in self._rows),
            policy=self._policy,
        )

    def flowed(self, given: Sequence[str], returned: Sequence[str]) -> None:
        """What came back is allowed, the rest denied."""
        through = set(returned)
        for item in given:
            self._note(item, "allow" if item in through else "deny", None)

    def _note(self, item: object, decision: Decision, reason: object) -> None:
        name = self._id(item)
        if name is not None:
            self._rows.append((name, decision, words(reason)))
