"""How `stage` and `tell` of rag_probe reach the run that the calling code stands in."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.current import Told
from rag_probe.faults import log_once
from rag_probe.policy import CapturePolicy
from rag_probe.stages import ContextAssembly, Filtering, PermissionCheck, Rerank, Retrieval, Stage, Verdicts
from rag_probe.verdicts import followed
from rag_probe.wire import encode
from rag_probe.wire.columns import put_known
from rag_probe_langchain.bodies import around
from rag_probe_langchain.known import at_hand, found, narrowed, passed
from rag_probe_langchain.nodes import LONGEST
from rag_probe_langchain.request import StageSpan
from rag_probe_langchain.run import Ids, Inner, Run
from rag_probe_langchain.scan import is_document
from rag_probe_langchain.searching import innermost


@dataclass(frozen=True, slots=True)
class Current:
    """The run around the calling code."""

    run: Run

    @property
    def policy(self) -> CapturePolicy:
        """What may leave of what the app tells."""
        return self.run.request.options.policy

    def record(self, stage: Stage, started_ns: int, ended_ns: int, error: str | None) -> None:
        """Add a stage that the app recorded itself, as a child of this run; never raises."""
        try:
            with self.run.request.lock:
                if self.run.request.recording:
                    self.run.request.touched = max(self.run.request.touched, ended_ns)
                    _record(self.run, stage, started_ns, ended_ns, error)
        except Exception as fault:  # as promised
            log_once("stage", fault)

    def fail(self, kind: str, step: str | None, started_ns: int, ended_ns: int, error: str) -> None:
        """Add a stage that raised before the app had said anything of it; never raises."""
        try:
            request = self.run.request
            with request.lock:
                if request.recording:
                    request.touched = max(request.touched, ended_ns)
                    said: dict[str, Value] = {a.STAGE: kind, a.ERROR_TYPE: error}
                    put_known(said, (a.STEP_NAME, step))
                    request.pending.append(StageSpan(self.run, said, started_ns, ended_ns))
        except Exception as fault:  # as promised
            log_once("stage", fault)

    def name_of(self, item: object) -> str | None:
        """The id that a Document has in this question, by every rule of the chain; never raises."""
        try:
            request = self.run.request
            if request.recording and is_document(item):
                with request.lock:
                    return request.documents.name_of(item)
        except Exception as fault:  # as promised
            log_once("the id of a passage", fault)
        return None

    def tell(self, told: Told) -> None:
        """Note what the app says about the question that this run belongs to; never raises."""
        try:
            with self.run.request.lock:
                said = {item.name: getattr(told, item.name) for item in fields(told)}
                news = {name: value for name, value in said.items() if value is not None}
                if told.verdicts is not None:
                    news["verdicts"] = _judged(self.run, told.verdicts)
                self.run.request.told = replace(self.run.request.told, **news)
        except Exception as fault:  # as promised
            log_once("tell", fault)


def resolve() -> Current | None:
    """The innermost open run around the calling code; None outside of any.

    One that is not recorded is a run as well: without it, `stage` would begin a trace of its own inside a refused one.
    """
    run = innermost(around())
    return None if run is None else Current(run)


def _judged(run: Run, verdicts: Verdicts) -> Verdicts:
    """After those before it, said by the node around the calling code, or else by its step."""
    around: Run | None = run
    while around is not None and around.node is None:
        around = around.parent
    node = None if around is None else around.node
    name, step = (run.name[:LONGEST], None) if node is None else (node.name, node.step)
    named = replace(verdicts, nodes=(name,), steps=(step,))
    return followed(run.request.told.verdicts, named, run.request.options.policy.max_items)


def _record(run: Run, stage: Stage, started: int, ended: int, error: str | None) -> None:
    attributes = encode(stage, run.request.options.policy.max_items)
    if error is not None:
        attributes[a.ERROR_TYPE] = error
    run.request.pending.append(StageSpan(run, attributes, started, ended))
    _flow(run, stage, started)


def _flow(run: Run, stage: Stage, started: int) -> None:
    """What the app told is not inferred again."""
    request = run.request
    match stage:
        case Retrieval(documents=chunks) if chunks is not None:
            found(run, request, Inner((), chunks.ids, chunks.scores, started))
            passed(run, request, chunks.ids)
        case Rerank(ids=ids):
            _decided(run, ids or None, ())
        case Filtering(kept=kept, dropped=dropped):
            _decided(run, kept, dropped)
        case PermissionCheck(ids=ids, decisions=decisions):
            pairs = list(zip(ids, decisions, strict=False))
            kept = tuple([name for name, decision in pairs if decision == "allow"])
            _decided(run, kept or None, tuple([name for name, decision in pairs if decision == "deny"]))
        case ContextAssembly(budget=budget):
            request.builder = stage
            _built(run)
            if budget is not None:
                request.told = replace(request.told, budget=budget)
        case _:
            pass


def _built(run: Run) -> None:
    around: Run | None = run
    while around is not None:
        around.built = True
        around = around.parent


def _decided(run: Run, kept: Ids | None, dropped: Ids) -> None:
    """What the app told it kept, else what is left of the last known set."""
    around: Run | None = run
    while around is not None:
        around.denied = {*(around.denied or ()), *dropped}
        around = around.parent
    if kept is None:
        kept = tuple([name for name in at_hand(run, run.request) if name not in dropped])
    narrowed(run, run.request, kept)
    passed(run, run.request, kept)
