"""What the tasks of one turn have shown so far, as stages: filled write by write by the modules that read writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from langchain_core.messages import BaseMessage

from rag_probe.path import Drop, Filtered, Permission, Ranked, Step
from rag_probe.policy import CapturePolicy
from rag_probe.stages import ContextAssembly, Generation, Retrieval, ToolCall
from rag_probe_langchain.origin import unheard
from rag_probe_langchain.request import Made
from rag_probe_langchain.run import Ids
from rag_probe_langgraph.checkpoints.drafts import Draft, Drafts
from rag_probe_langgraph.checkpoints.roles import Role


class Said(NamedTuple):
    """A verdict in a channel, and the draft that it is about."""

    channel: str
    passed: bool
    node: str
    step: int | None
    """Of the checkpoint that the task ran on."""
    draft: Draft | None
    """None: there was none; one without text: nobody can tell which."""


class Evidence:
    """The stages of one turn; those that are None were not seen."""

    def __init__(self, policy: CapturePolicy, roles: Mapping[str, Role]) -> None:
        self.roles = roles
        self.request = unheard(policy)
        self.question: str | None = None
        self.named = False
        """Whether a channel of questions has said it."""
        self.retrievals: list[Step[Retrieval]] = []
        self.reranked: tuple[Ranked, ...] | None = None
        self.kept: Ids | None = None
        self.dropped: list[Drop] = []
        self.permissions: list[Permission] | None = None
        self.context: ContextAssembly | None = None
        self.generations: list[Step[Generation]] = []
        self.tools: list[Step[ToolCall]] = []
        self.sets: dict[str, Ids] = {}
        """The passages that each channel holds."""
        self.heard: list[BaseMessage] = []
        """The conversation of this turn."""
        self.output: dict[str, object] = {}
        """What the turn wrote last into every channel that may be its answer."""
        self.read_as: dict[str, list[Role]] = {}
        """How each channel was read, in the order in which it first was."""
        self.unmapped: dict[str, None] = {}
        """Channels that nothing was read from."""
        self.drafts = Drafts()
        self.verdicts: list[Said] = []
        self.saying: dict[str, bool] = {}
        """What the task that is read says, by channel."""
        self.held: dict[str, bool] = {}
        """What each channel of verdicts held last."""
        self.judges: set[tuple[str, str]] = set()
        """Channels of verdicts, and the nodes that decide what they hold."""
        self.unsettled = False
        """Whether a verdict stands in the state whose task is not in the store: nobody knows about which draft."""
        self.odd: dict[str, str] = {}
        """Channels that should hold verdicts, and the type of what they held instead."""
        self.closed: dict[str, str] = {}
        """Channels with values that could not be read, and why."""

    @property
    def last(self) -> Ids | None:
        """The last known set."""
        return self.request.known.last

    @property
    def filtered(self) -> Filtered | None:
        """What the last filter kept, and what any of them dropped, each passage once per step."""
        once = {(drop.id, drop.step): drop for drop in self.dropped}
        return None if self.kept is None else Filtered(kept=self.kept, dropped=tuple(once.values()))

    def note(self, channel: str, role: Role) -> None:
        """Remember how a channel was read."""
        roles = self.read_as.setdefault(channel, [])
        if role not in roles:
            roles.append(role)

    def asked(self, text: str | None) -> None:
        """What the question is."""
        self.question = self.request.asked = text

    def made(self, text: str, message: BaseMessage | None) -> None:
        """What a model wrote, over the context that it saw."""
        self.request.add_made(Made(text, None if self.context is None else self.context.ids, message))
