"""What the tasks of a turn wrote, read as stages: by the very rules by which the handler reads what steps return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from rag_probe.path import Drop, Filtered, Permission, Ranked, Step
from rag_probe.policy import CapturePolicy
from rag_probe.stages import Chunks, ContextAssembly, Generation, Retrieval, ToolCall
from rag_probe_langchain.builder import SHORTEST
from rag_probe_langchain.context import assemble
from rag_probe_langchain.flow import changes
from rag_probe_langchain.known import found, narrowed
from rag_probe_langchain.origin import unheard
from rag_probe_langchain.question import question_in
from rag_probe_langchain.reading.prompt_text import message_text, prompt_text
from rag_probe_langchain.reading.response import finish_reasons_of, response_model_of
from rag_probe_langchain.reading.usage import usage_of
from rag_probe_langchain.request import Made
from rag_probe_langchain.run import Ids, Inner
from rag_probe_langchain.scan import Found, lists_in
from rag_probe_langgraph.checkpoints.plain import Unreadable
from rag_probe_langgraph.checkpoints.roles import Role, role_of


class Evidence:
    """The stages of one turn, filled write by write."""

    def __init__(self, policy: CapturePolicy, roles: Mapping[str, Role]) -> None:
        self._roles = roles
        self.request = unheard(policy)
        self.question: str | None = None
        self.retrievals: list[Step[Retrieval]] = []
        self.reranked: tuple[Ranked, ...] | None = None
        self.kept: Ids | None = None
        self.dropped: list[Drop] = []
        self.permissions: list[Permission] | None = None
        self.context: ContextAssembly | None = None
        self.generations: list[Step[Generation]] = []
        self.tools: list[Step[ToolCall]] = []
        self.output: dict[str, object] = {}
        """What the turn wrote last into every channel that may be its answer."""
        self.read_as: dict[str, list[Role]] = {}
        """How each channel was read, in the order in which it first was."""
        self.unmapped: dict[str, None] = {}
        """Channels that nothing was read from."""
        self.closed: dict[str, str] = {}
        """Channels with values that could not be read, and why."""
        self._sets: dict[str, Ids] = {}

    @property
    def _last(self) -> Ids | None:
        """The last known set."""
        return self.request.known.last

    @property
    def filtered(self) -> Filtered | None:
        """What the last filter kept, and what all of them dropped."""
        return None if self.kept is None else Filtered(kept=self.kept, dropped=tuple(self.dropped))

    def asked(self, given: object) -> None:
        """What went into the graph."""
        self.question = question_in(_readable(given))
        self.request.asked = self.question

    def wrote(self, node: str, channel: str, value: object, *, given: bool) -> None:
        """Read one write; `given`: of what went into the graph, where a text is no answer of it."""
        role = role_of(channel, self._roles)
        if isinstance(value, Unreadable):
            self.closed[channel] = value.why
            return
        if given and role in (None, "answer") and isinstance(value, str):
            return
        lists = [each for each in lists_in(value) if each.passages or channel in self._sets]
        if role in ("messages", None) and (messages := _messages(value)):
            self._note(channel, "messages")
            self._talked(node, messages)
        elif lists and role not in ("ignore", "answer"):
            for each in lists:
                self._passages(node, channel, role, each)
        elif isinstance(value, (str, BaseMessage)) and role != "ignore":
            self._text(node, channel, role, value)
        elif role in ("answer", "citations", "confidence", "outcome"):
            self._note(channel, role)
            self.output[channel] = value
        else:
            self.unmapped[channel] = None

    def _note(self, channel: str, role: Role) -> None:
        roles = self.read_as.setdefault(channel, [])
        if role not in roles:
            roles.append(role)

    def _passages(self, node: str, channel: str, role: Role | None, listed: Found) -> None:
        documents = self.request.documents
        before = self._last
        chunks = documents.add(listed.passages) if documents.news(listed.passages) else None
        ids = documents.now(listed.passages) if chunks is None else chunks.ids
        fresh = before is None or not set(ids) <= {name for known in self._all() for name in known}
        self._sets[channel] = ids
        if role == "retrieved" or (role is None and fresh):
            self._arrived(node, channel, chunks or documents.add(listed.passages))
        elif role == "permitted":
            self._note(channel, role)
            self._checked(before or (), ids)
        elif role == "context":
            self._note(channel, role)
            left = set(ids)
            self.context = ContextAssembly(
                step=node, ids=ids, dropped=tuple([name for name in before or () if name not in left])
            )
        else:
            self._note(channel, role or "filtered")
            self._changed(node, before or (), ids)

    def _all(self) -> list[Ids]:
        return [step.stage.documents.ids for step in self.retrievals if step.stage.documents is not None]

    def _arrived(self, node: str, channel: str, chunks: Chunks) -> None:
        self._note(channel, "retrieved")
        self.retrievals.append(Step(Retrieval(name=node, documents=chunks)))
        found(None, self.request, Inner((), chunks.ids, chunks.scores, 0))

    def _checked(self, before: Ids, after: Ids) -> None:
        left = set(after)
        decided = [Permission(name, "allow" if name in left else "deny") for name in dict.fromkeys(before)]
        self.permissions = [*(self.permissions or ()), *decided]
        narrowed(None, self.request, after)

    def _changed(self, node: str, before: Ids, ids: Ids) -> None:
        for change in changes({"": before}, {"": ids}, ()):
            if change.moved:
                scores = self.request.documents.scores
                self.reranked = tuple([Ranked(name, rank, scores.get(name)) for rank, name in enumerate(ids, 1)])
            if change.dropped:
                self.kept = change.after
                self.dropped += [Drop(name, None, node) for name in change.dropped]
        narrowed(None, self.request, ids)

    def _text(self, node: str, channel: str, role: Role | None, value: str | BaseMessage) -> None:
        text = value if isinstance(value, str) else message_text(value)
        if role == "question":
            self._note(channel, role)
            self.question = self.request.asked = text or self.question
        elif role in ("confidence", "outcome", "citations"):
            self._note(channel, role)
            self.output[channel] = text
        elif role == "context":
            self._holds_passages(node, channel, text)
        elif role is not None or not self._holds_passages(node, channel, text):
            self._note(channel, "answer")
            self.output[channel] = text
            self._made(text, None)

    def _holds_passages(self, node: str, channel: str, text: str) -> bool:
        if len(text) < SHORTEST or self._last is None:
            return False
        seen = assemble(text, self._last, self.request)
        if seen is None or not seen.stage.ids:
            return False
        self._note(channel, "context")
        handed_on = self.context is not None and self.context.ids == seen.stage.ids
        self.context = replace(seen.stage, step=self.context.step if handed_on and self.context is not None else node)
        return True

    def _made(self, text: str, message: BaseMessage | None) -> None:
        self.request.add_made(Made(text, None if self.context is None else self.context.ids, message))

    def _talked(self, node: str, messages: Sequence[BaseMessage]) -> None:
        for message in _of_this_turn(messages):
            if any(message.id == heard.id and message.content == heard.content for heard in self._heard):
                continue  # written again, by a node around a subgraph or one that returns all messages
            if isinstance(message, ToolMessage):
                self.tools.append(Step(ToolCall(name=message.name, call_id=message.tool_call_id)))
                for each in lists_in(cast(object, message.artifact)):
                    if each.passages:
                        self._arrived(message.name or node, "messages", self.request.documents.add(each.passages))
            elif isinstance(message, AIMessage):
                self._called(message)
            self._heard.append(message)

    @property
    def _heard(self) -> list[BaseMessage]:
        return cast("list[BaseMessage]", self.output.setdefault("messages", []))

    def _called(self, message: AIMessage) -> None:
        """A message of a model is all that is left of its call; its prompt was what the conversation held before."""
        seen = assemble(prompt_text(self._heard), self._last, self.request) if self._last else None
        stage = None if seen is None else seen.stage
        if stage is not None:
            self.context = stage
        usage = usage_of(message)
        reasons = finish_reasons_of(message)
        text = message_text(message)
        self.generations.append(
            Step(
                Generation(
                    response_model=response_model_of(message),
                    input_tokens=usage.input_tokens,
                    output_tokens=usage.output_tokens,
                    cached_tokens=usage.cached_tokens,
                    cache_write_tokens=usage.cache_write_tokens,
                    reasoning_tokens=usage.reasoning_tokens,
                    finish_reasons=reasons,
                    output=self.request.options.policy.content_of(text),
                    context=stage,
                )
            )
        )
        self._made(text, message)


def _readable(given: object) -> object:
    if not isinstance(given, dict):
        return None if isinstance(given, Unreadable) else given
    entries = cast("dict[str, object]", given).items()
    return {channel: value for channel, value in entries if not isinstance(value, Unreadable)}


def _of_this_turn(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """What follows the last thing that a person said: a node may write the whole conversation again."""
    asked = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
    return messages[asked[-1] :] if asked else messages


def _messages(value: object) -> list[BaseMessage]:
    if isinstance(value, BaseMessage):
        return [value]
    items = cast("list[object]", value) if isinstance(value, list) else []
    messages = [item for item in items if isinstance(item, BaseMessage)]
    return messages if len(messages) == len(items) else []
