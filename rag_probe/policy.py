"""The one gate that content passes on its way out: what may leave, how long, and as what."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from rag_probe.stages import Content
from rag_probe.wire import CAP

CONTENT_VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
KEY_VARIABLE: Final = "RAG_PROBE_DIGEST_KEY"

_ON: Final = frozenset({"true", "span_only", "span_and_event"})
_logger: Final = logging.getLogger("rag_probe")


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
    """Applied to every text that leaves; when it raises, the text does not leave."""
    id_keys: tuple[str, ...] = ("id", "doc_id", "chunk_id", "_id")
    document_keys: tuple[str, ...] = ("document_id", "document", "parent_doc_id", "source")
    revision_keys: tuple[str, ...] = ("revision", "version")
    tenant_keys: tuple[str, ...] = ("tenant", "tenant_id")
    score_keys: tuple[str, ...] = ("relevance_score", "score", "_score", "similarity_score")
    """Metadata keys in the order in which they are tried; a reranker's score comes first."""

    def content_of(self, text: str) -> Content:
        """What may leave of `text`: always its length."""
        return Content(length=len(text), digest=self.digest(text), text=self.text(text))

    def text(self, text: str) -> str | None:
        """The text, redacted and capped, when content is on."""
        if not self.content:
            return None
        if self.redact is not None:
            try:
                text = self.redact(text)
            except Exception:  # a user's hook: its failure must neither leak the text nor reach the app
                _logger.debug("redact raised: the text is held back", exc_info=True)
                return None
        return text[: self.max_characters]

    def digest(self, text: str) -> str | None:
        """HMAC-SHA-256 in hex under the key; an unkeyed SHA-256 only where the text itself leaves too."""
        data = text.encode("utf-8", "replace")
        if self.digest_key is not None:
            return hmac.new(self.digest_key, data, hashlib.sha256).hexdigest()
        return hashlib.sha256(data).hexdigest() if self.content else None


def policy_from_environment(environ: Mapping[str, str] = os.environ) -> CapturePolicy:
    """The policy that the standard variables ask for; `event_only` means off for spans."""
    word = environ.get(CONTENT_VARIABLE, "").strip().lower()
    if word == "event_only":
        _logger.warning(
            "%s=event_only: rag-probe writes no content events, so no content is captured", CONTENT_VARIABLE
        )
    key = environ.get(KEY_VARIABLE, "")
    return CapturePolicy(content=word in _ON, digest_key=key.encode() if key else None)
