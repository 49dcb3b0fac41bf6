"""Which case a run answers, and for whom: set around a question, read at the root of its trace."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar, Token
from secrets import token_hex
from typing import Final, NamedTuple
from urllib.parse import quote_plus

from opentelemetry import baggage
from opentelemetry.context import Context, attach, create_key, detach, get_current, get_value, set_value

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.block import Block
from rag_probe.identifiers import MAX_ID, identity_of
from rag_probe.stages import NO_TAGS, CaseTags, Identity
from rag_probe.wellformed import well_formed
from rag_probe.wire import decode_tags, encode_tags

_NAMES: Final = (
    a.CASE_ID,
    a.EXPERIMENT,
    a.CASE_RUN,
    a.REPETITION,
    a.CONFIGURATION,
    a.DATASET_VERSION,
    a.CORPUS_VERSION,
)
_MAX_ENCODED: Final = 1024  # characters of one value in the header: all of them fit into baggage's 8192
_MAX_REPETITION: Final = 10**9
_IDENTITY: Final = create_key("rag_probe.identity")
_block: Final[ContextVar[object]] = ContextVar("rag_probe.case")


def case(
    case_id: str,
    *,
    experiment: str,
    repetition: int | None = None,
    configuration: str | None = None,
    dataset_version: str | None = None,
    corpus_version: str | None = None,
    identity: Identity | Mapping[str, object] | None = None,
) -> CaseBlock:
    """Tag everything in this block as the answer to one case of an experiment.

    ```
    with case("sale-window", experiment="nightly-12", identity={"tenant": "acme"}):
        chain.invoke(question)
    ```
    Also `async with`, and a decorator. Each block gets a random run id, which joins several traces to one question.
    The tags travel as W3C baggage to every service that the block calls with OpenTelemetry's propagation (by hand:
    `opentelemetry.propagate.inject(headers)`); the identity stays in this process. A block inside another starts anew.

    Raises `ValueError` for what baggage would not carry unchanged: text that is blank, has blanks at its ends,
    is longer than 256 characters (1024 once percent-encoded) or is not well-formed.
    """
    tags = CaseTags(
        experiment=_travelling("experiment", experiment),
        case_id=_travelling("case_id", case_id),
        repetition=_counted(repetition),
        configuration=None if configuration is None else _travelling("configuration", configuration),
        dataset_version=None if dataset_version is None else _travelling("dataset_version", dataset_version),
        corpus_version=None if corpus_version is None else _travelling("corpus_version", corpus_version),
    )
    return CaseBlock(tags, identity_of(identity))


def current_tags(context: Context | None = None) -> CaseTags:
    """The tags in the baggage of `context` (else of the current one), set in this process or arrived from another.

    What arrived is not to be trusted: a value longer than `case` would send is dropped.
    """
    carried = baggage.get_all(context)
    if not carried:
        return NO_TAGS
    found: dict[str, Value] = {}
    for name in _NAMES:
        text = carried.get(name)
        if isinstance(text, str) and 0 < len(text) <= MAX_ID:
            found[name] = well_formed(text)
    return decode_tags(found) if found else NO_TAGS


def current_identity(context: Context | None = None) -> Identity | None:
    """On whose behalf the case around this code asks; never from another process."""
    identity = get_value(_IDENTITY, context)
    return identity if isinstance(identity, Identity) else None


class _Entered(NamedTuple):
    context: Token[Context]
    block: Token[object]


class CaseBlock(Block[CaseTags]):
    """What `case` returns; `as` gives the tags with their run id."""

    __slots__ = ("_entered", "_identity", "_tags")

    def __init__(self, tags: CaseTags, identity: Identity | None) -> None:
        self._tags = tags
        self._identity = identity
        self._entered: list[_Entered] = []

    def open(self) -> CaseTags:
        """Attach a context with the tags and the identity."""
        carried = {name: str(tag) for name, tag in encode_tags(self._tags).items()}
        carried[a.CASE_RUN] = token_hex(16)
        context = set_value(_IDENTITY, self._identity, _with_baggage(carried))
        self._entered.append(_Entered(attach(context), _block.set(self)))
        return decode_tags(carried)

    def close(self, error: BaseException | None) -> None:  # noqa: ARG002  # a case records no errors
        """Detach it; in another context than it was attached in (a fixture, a thread) nothing is to be undone."""
        entered = self._entered.pop()
        try:
            _block.reset(entered.block)
        except ValueError:
            return
        detach(entered.context)

    def anew(self, name: str) -> CaseBlock:  # noqa: ARG002  # a case has its own name
        """The same case, to be run once more."""
        return CaseBlock(self._tags, self._identity)


def _with_baggage(tags: Mapping[str, str]) -> Context:
    # Ours first: propagators drop what is too much from the end.
    current = get_current()
    others = {name: other for name, other in baggage.get_all(current).items() if name not in _NAMES}
    context = baggage.clear(current)
    for name, tag in {**tags, **others}.items():
        context = baggage.set_baggage(name, tag, context)
    return context


def _travelling(name: str, text: str) -> str:
    carried = (
        isinstance(text, str)  # pyright: ignore[reportUnnecessaryIsInstance]  # the app may not be type-checked
        and 0 < len(text) <= MAX_ID
        and text == text.strip()
        and text == well_formed(text)
        and len(quote_plus(text)) <= _MAX_ENCODED
    )
    if not carried:
        raise ValueError(
            f"{name}: expected text of 1 to {MAX_ID} characters without blanks at its ends, found {text!r}"
        )
    return text


def _counted(repetition: int | None) -> int | None:
    if repetition is None or (type(repetition) is int and 0 <= repetition < _MAX_REPETITION):
        return repetition
    raise ValueError(f"repetition: expected a whole number from 0, found {repetition!r}")
