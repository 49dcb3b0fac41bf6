"""The texts of messages, as one string, whatever shape their content has. Nothing here raises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Final, NamedTuple

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.prompt_values import ChatPromptValue, StringPromptValue

from rag_probe_langchain.reading.loose import items_of, mapping_of

LONGEST_TEXT: Final = 400_001
"""Code points after which a prompt is cut: one more than is searched for chunks, so that a cut one is known as such."""

_SEPARATOR: Final = "\n\n"
_MOST_STEPS: Final = 20_000
_DATA: Final = "json"
_NOTHING: Final[dict[str, object]] = {}
_HOLDERS: Final = ("text", "content", "value", "output", "source", "document", "toolResult", "tool_result", _DATA)
"""Keys of content blocks under which text stands: standard blocks, Anthropic's and OpenAI's, Bedrock's Converse."""

_TEXT_HOLDERS: Final = ("text", "data")
_ROLES: Final = frozenset({"human", "user", "ai", "assistant", "system", "developer", "tool", "placeholder"})
_STR: Final = frozenset({str})
_SPEAKERS: Final = frozenset({HumanMessage, SystemMessage})
"""Messages that hold nothing beside their content."""
_CONTENT_OF: Final[Callable[[BaseMessage], object]] = attrgetter("content")
_ASKERS: Final = frozenset({"human", "user"})


def prompt_text(prompt: object) -> str:
    """All text of a prompt (a string, messages, a `PromptValue`) in order: what the model saw, as far as it is text.

    Messages, and the text blocks in a message, are two line breaks apart; tool results and documents inside blocks
    count. At most 400,001 code points.
    """
    if isinstance(prompt, str):
        return prompt[:LONGEST_TEXT]
    pieces: list[str] = []
    room = LONGEST_TEXT
    for text in _texts(prompt):
        pieces.append(text[:room])
        room -= len(text) + len(_SEPARATOR)
        if room <= 0:
            break
    return _SEPARATOR.join(pieces)


class Asked(NamedTuple):
    """What a model was asked, as text."""

    text: str
    """As `prompt_text` gives it."""
    plain: bool
    """Whether that is all of it, as `is_text_only` says."""


def asked_in(prompt: Sequence[BaseMessage] | str) -> Asked:
    """What a model was asked, without a look into blocks where there are none."""
    if isinstance(prompt, str):
        return Asked(prompt_text(prompt), plain=True)
    contents = list(map(_CONTENT_OF, prompt))
    if not _STR.issuperset(map(type, contents)):
        return Asked(prompt_text(prompt), is_text_only(prompt))
    plain = _SPEAKERS.issuperset(map(type, prompt)) or is_text_only(prompt)
    return Asked(_SEPARATOR.join(contents)[:LONGEST_TEXT], plain)


def is_text_only(prompt: object) -> bool:
    """Whether a string or a list of messages holds nothing but text: no image, no file, no call of a tool."""
    if isinstance(prompt, str):
        return True
    messages = items_of(prompt)
    return bool(messages) and all(map(_is_plain, messages))


def _is_plain(message: object) -> bool:
    content: object = getattr(message, "content", None)
    # By storage: a message without calls has no such field, and pydantic is slow to say so.
    if getattr(message, "__dict__", _NOTHING).get("tool_calls"):
        return False
    return isinstance(content, str) or all(block_text(block) is not None for block in items_of(content))


def message_text(message: object) -> str:
    """What a message says: its content, or its text blocks without anything between them, as `BaseMessage.text`."""
    content: object = getattr(message, "content", message)
    if isinstance(content, str):
        return content
    return "".join(islice(text_blocks(content), _MOST_STEPS))


def text_blocks(content: object) -> Iterator[str]:
    """The text of each plain string and `text` block in a message's content."""
    if isinstance(content, str):
        yield content
    yield from (text for text in map(block_text, items_of(content)) if text is not None)


def block_text(block: object) -> str | None:
    """The text of a plain string or a `text` block; None for every other block."""
    match block:
        case str():
            return str(block)
        case {"type": "text", "text": str(text)}:
            return text
        case _:
            return None


def last_human_text(state: object) -> str | None:
    """The text of the last human message in a list of messages, or in a state's `messages`. None when there is none."""
    messages = mapping_of(state).get("messages", state)
    if isinstance(messages, ChatPromptValue):
        messages = messages.messages
    for message in reversed(items_of(messages) or (messages,)):
        text = _asked(message)
        if text:
            return text
    return None


def _asked(message: object) -> str | None:
    if isinstance(message, BaseMessage):
        return message_text(message) if isinstance(message, HumanMessage) else None
    role, content = _spoken(message)
    return message_text(content) if isinstance(role, str) and role in _ASKERS else None


def _spoken(message: object) -> tuple[object, object]:
    """Role and content of a message written as `(role, content)` or `{"role": …, "content": …}`."""
    entries = mapping_of(message)
    if entries:
        return entries.get("role"), entries.get("content")
    items = items_of(message)
    return (items[0], items[1]) if len(items) == 2 else (None, None)


def _texts(prompt: object) -> Iterator[str]:
    pending: list[object] = [prompt]
    for _ in range(_MOST_STEPS):
        if not pending:
            return
        value = pending.pop()
        if isinstance(value, str):
            yield value
        else:
            pending += reversed(_inside(value)[: max(0, _MOST_STEPS - len(pending))])


class _Json(NamedTuple):
    """A tool's result as data: every text in it is text, whatever its key."""

    value: object


def _inside(value: object) -> Sequence[object]:
    """What may hold text inside `value`, in order."""
    if isinstance(value, _Json):
        inner = mapping_of(value.value).values() or items_of(value.value)
        return (value.value,) if isinstance(value.value, str) else [_Json(each) for each in inner]
    if isinstance(value, BaseMessage):
        return (value.content,)
    if isinstance(value, ChatPromptValue):
        return value.messages
    if isinstance(value, StringPromptValue):
        return (value.text,)
    block = mapping_of(value)
    if block:
        keys = _HOLDERS if block.get("type") != "text" else _TEXT_HOLDERS
        held = [(key, block[key]) for key in keys if block.get(key) is not None]
        return [_Json(inner) if key == _DATA else inner for key, inner in held]
    items = items_of(value)
    return items[1:] if len(items) == 2 and _is_role(items[0]) else items


def _is_role(value: object) -> bool:
    return isinstance(value, str) and value in _ROLES
