"""The one gate that content passes on its way out: what may leave, how long, and as what."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rag_probe.faults import log_once, warn_once
from rag_probe.stages import Content, ContextAssembly, Filtering, PermissionCheck, Stage
from rag_probe.wellformed import well_formed
from rag_probe.wire import CAP

CONTENT_VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
KEY_VARIABLE: Final = "RAG_PROBE_DIGEST_KEY"
MAX_REASON: Final = 256
"""Characters of a free-text reason."""

_ON: Final = frozenset({"true", "span_only", "span_and_event"})
_OFF: Final = frozenset({"", "false", "no_content", "event_only"})
_SHORT_CODE: Final = re.compile(r"[A-Za-z0-9_.:-]{1,64}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturePolicy:
    """Content off is the default: ids, lengths, counts, positions and decisions leave, texts do not."""

    content: bool = False
    """Whether question, chunk, prompt and answer texts leave."""
    digest_key: bytes | None = None
    """With a key, texts leave as HMAC-SHA-256 digests; without one and with content off, as lengths only."""
    max_items: int = CAP
    max_characters: int = 100_000
    """Of one text; the length recorded beside it is the original one."""
    redact: Callable[[str], str] | None = None
    """Applied to every text that leaves, in the app's thread: one that hangs hangs the app.

    When it raises or returns something else than text, the text does not leave.
    """
    id_keys: tuple[str, ...] = ("id", "doc_id", "chunk_id", "_id")
    document_keys: tuple[str, ...] = ("document_id", "document", "parent_doc_id", "source")
    revision_keys: tuple[str, ...] = ("revision", "version")
    tenant_keys: tuple[str, ...] = ("tenant", "tenant_id")
    score_keys: tuple[str, ...] = ("relevance_score", "score", "_score", "similarity_score")
    """The metadata keys that may leave, in the order in which they are tried; a reranker's score comes first."""

    def __post_init__(self) -> None:
        """Raise a `ValueError` for a bound or a key that is none; a `TypeError` for one name in place of several."""
        for name, least in (("max_items", 1), ("max_characters", 0)):
            value: object = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"CapturePolicy.{name}: expected a whole number from {least}, found {value!r}")
        key: object = getattr(self, "digest_key")  # noqa: B009
        if key is not None and not (isinstance(key, bytes) and key):
            raise ValueError(f"CapturePolicy.digest_key: expected bytes, at least one, found {type(key).__name__}")
        for name in ("id_keys", "document_keys", "revision_keys", "tenant_keys", "score_keys"):
            if isinstance(value := getattr(self, name), str):
                raise TypeError(f"CapturePolicy.{name}: expected a tuple of keys, as ({value!r},), found {value!r}")

    def content_of(self, text: str) -> Content:
        """What may leave of `text`: always its length."""
        if not self.content and self.digest_key is None:
            return Content(length=len(text))
        return Content(length=len(text), digest=self.digest(text), text=self.text(text))

    def text(self, text: str) -> str | None:
        """The text, redacted, well-formed and cut on a character, when content is on."""
        if not self.content:
            return None
        redacted = text if self.redact is None else self._redacted(text)
        return None if redacted is None else well_formed(redacted[: self.max_characters])

    def _redacted(self, text: str) -> str | None:
        """A user's hook: its failure must neither leak the text nor reach the app."""
        try:
            redacted: object = None if self.redact is None else self.redact(text)
        except Exception as error:
            log_once("redact", error)
            return None
        if isinstance(redacted, str):
            return redacted
        warn_once("redact", "redact= returns text, found a %s: the text does not leave", type(redacted).__name__)
        return None

    @property
    def without_content(self) -> CapturePolicy:
        """The same with content off."""
        return replace(self, content=False)

    @property
    def clear(self) -> bool:
        """Whether texts leave as they are, so that an unkeyed hash of them tells nothing more."""
        return self.content and self.redact is None

    def digest(self, text: str) -> str | None:
        """HMAC-SHA-256 in hex under the key; an unkeyed SHA-256 only where the text itself leaves too."""
        if self.digest_key is not None:
            return hmac.new(self.digest_key, well_formed(text).encode(), hashlib.sha256).hexdigest()
        return hashlib.sha256(well_formed(text).encode()).hexdigest() if self.clear else None

    def reason(self, reason: str | None) -> str | None:
        """A short code (`[A-Za-z0-9_.:-]`, at most 64 characters) always; a sentence only with content on."""
        if reason is None or is_code(reason):
            return reason
        text = self.text(reason)
        return None if text is None else text[:MAX_REASON]

    def reasons(self, reasons: Sequence[str | None]) -> tuple[str | None, ...]:
        """A column of reasons; `()` when none may leave."""
        admitted = tuple(self.reason(reason) for reason in reasons)
        return admitted if any(reason is not None for reason in admitted) else ()

    def admit(self, stage: Stage) -> Stage:
        """`stage` as it may leave: what an app told in its own words passes here before it is encoded."""
        match stage:
            case Filtering(reasons=reasons) if reasons:
                return replace(stage, reasons=self.reasons(reasons))
            case PermissionCheck(reasons=reasons) if reasons:
                return replace(stage, reasons=self.reasons(reasons))
            case ContextAssembly(dropped_reasons=reasons) if reasons:
                return replace(stage, dropped_reasons=self.reasons(reasons))
            case _:
                return stage


def is_code(reason: str) -> bool:
    """Whether a reason is a short code, which leaves always, and not a sentence."""
    return _SHORT_CODE.match(reason) is not None


def policy_from_environment(environ: Mapping[str, str] = os.environ) -> CapturePolicy:
    """The policy that the standard variables ask for; `event_only` means off for spans."""
    word = environ.get(CONTENT_VARIABLE, "").strip().lower()
    if word == "event_only":
        warn_once(
            word, "%s=event_only: rag-probe writes no content events, so no content is captured", CONTENT_VARIABLE
        )
    elif word not in _ON | _OFF:
        warn_once(
            CONTENT_VARIABLE,
            "%s is none of true, false, span_only, span_and_event: no content is captured",
            CONTENT_VARIABLE,
        )
    return CapturePolicy(content=word in _ON, digest_key=key_from_environment(environ))


def key_from_environment(environ: Mapping[str, str] = os.environ) -> bytes | None:
    """The digest key's bytes as they stand in the environment, UTF-8 or not; None when there is none."""
    key = environ.get(KEY_VARIABLE, "")
    return key.encode("utf-8", "surrogateescape") if key else None
