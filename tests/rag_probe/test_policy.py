"""What may leave: nothing but codes with content off, whole characters always."""

from __future__ import annotations

import hashlib
import hmac
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe.policy import CapturePolicy, policy_from_environment
from rag_probe.stages import Content, ContextAssembly, Filtering, PermissionCheck

from . import strategies

OFF, ON = CapturePolicy(), CapturePolicy(content=True)
texts = st.text(st.characters())
codes = st.from_regex(r"[A-Za-z0-9_.:-]{1,64}", fullmatch=True)


@given(texts)
def test_off_lets_out_the_length_only(text):
    """must-handle 15."""
    content = OFF.content_of(text)
    assert (content.length, content.text, content.digest) == (len(text), None, None)


@given(texts, st.integers(0, 20))
def test_on_lets_out_a_text_that_can_be_encoded_cut_on_a_character(text, cap):
    """must-handle 17 and 18: the length beside it is the original one, and offsets still hold."""
    content = CapturePolicy(content=True, max_characters=cap).content_of(text)
    content.text.encode()
    assert content.length == len(text)
    assert len(content.text) == min(cap, len(text))
    assert all(new in (old, "\ufffd") for old, new in zip(text, content.text, strict=False))


@given(texts, st.binary(min_size=1))
def test_a_digest_is_that_of_the_text_as_it_leaves(text, key):
    for policy in (CapturePolicy(digest_key=key), CapturePolicy(digest_key=key, content=True)):
        left = ON.text(text).encode()
        assert policy.digest(text) == hmac.new(key, left, hashlib.sha256).hexdigest()


@given(codes)
def test_a_short_code_leaves_always(code):
    assert OFF.reason(code) == ON.reason(code) == code


@pytest.mark.parametrize("reason", ["Alice asked about her salary", "", "x" * 65, "ümlaut", "code\n", "a/b", "\ud800"])
def test_another_reason_leaves_with_content_on_only(reason):
    assert OFF.reason(reason) is None
    assert ON.reason(reason) == reason.replace("\ud800", "\ufffd")


def test_a_long_reason_is_cut_and_redacted():
    policy = CapturePolicy(content=True, redact=lambda text: text.replace("Alice", "***"))
    assert policy.reason("Alice " + "x" * 1000) == "*** " + "x" * 252


@given(strategies.stages)
def test_admitting_changes_reasons_only(stage):
    admitted = OFF.admit(stage)
    assert type(admitted) is type(stage)
    assert OFF.admit(admitted) == admitted
    if not isinstance(stage, (Filtering, PermissionCheck, ContextAssembly)):
        assert admitted is stage


@pytest.mark.parametrize(
    ("stage", "column"),
    [
        (Filtering(dropped=("a", "b"), reasons=("stale", "it is old")), "reasons"),
        (PermissionCheck(ids=("a", "b"), decisions=("deny", "deny"), reasons=("stale", "it is old")), "reasons"),
        (ContextAssembly(dropped=("a", "b"), dropped_reasons=("stale", "it is old")), "dropped_reasons"),
    ],
)
def test_sentences_in_a_stage_are_held_back(stage, column):
    assert getattr(OFF.admit(stage), column) == ("stale", None)
    assert getattr(ON.admit(stage), column) == ("stale", "it is old")


def test_when_no_reason_may_leave_there_is_no_column():
    assert OFF.admit(Filtering(dropped=("a",), reasons=("it is old",))) == Filtering(dropped=("a",))


def test_a_redaction_that_fails_holds_the_text_back(caplog):
    def redact(text):
        raise RuntimeError(text)

    policy = CapturePolicy(content=True, redact=redact)
    assert [policy.text("secret"), policy.text("secret")] == [None, None]
    assert len(caplog.records) == 1
    assert "secret" not in caplog.text


@pytest.mark.parametrize("word", ["true", "TRUE", "span_only", "Span_And_Event"])
def test_words_that_mean_on(word):
    assert policy_from_environment({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": word}).content


@pytest.mark.parametrize("word", ["", "false", "no_content"])
def test_words_that_mean_off(word, caplog):
    assert not policy_from_environment({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": word}).content
    assert not caplog.records


@pytest.mark.parametrize("word", ["event_only", "yes"])
def test_words_that_mean_off_with_one_warning(word, caplog):
    environ = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": word}
    assert not policy_from_environment(environ).content
    assert not policy_from_environment(environ).content
    assert len(caplog.records) == 1


def test_the_key_comes_from_the_environment():
    assert policy_from_environment({"RAG_PROBE_DIGEST_KEY": "k"}).digest_key == b"k"
    assert policy_from_environment({"RAG_PROBE_DIGEST_KEY": ""}).digest_key is None
    assert policy_from_environment({"RAG_PROBE_DIGEST_KEY": os.fsdecode(b"\xff\xfe")}).digest_key == b"\xff\xfe"


@pytest.mark.parametrize("returned", [None, 4711, b"bytes", ["text"], object()])
def test_a_redactor_that_returns_no_text_lets_nothing_out(returned, caplog):
    policy = CapturePolicy(content=True, redact=lambda text: returned)
    assert policy.content_of("Thirty days.") == Content(length=12)
    assert f"found a {type(returned).__name__}" in caplog.text
    assert "Thirty" not in caplog.text


def test_a_redactor_sees_a_text_before_it_is_cut():
    policy = CapturePolicy(content=True, max_characters=6, redact=lambda text: text.replace("4711", "*"))
    assert policy.text("PIN 4711 and more") == "PIN * "


@pytest.mark.parametrize("bounds", [{"max_items": 0}, {"max_items": -1}, {"max_characters": -1}, {"max_items": True}])
def test_a_bound_that_bounds_nothing_is_refused(bounds):
    (name,) = bounds
    with pytest.raises(ValueError, match=rf"CapturePolicy\.{name}: expected a whole number"):
        CapturePolicy(**bounds)


@pytest.mark.parametrize("key", ["a secret", b"", bytearray(b"a secret")])
def test_a_key_that_hides_nothing_is_refused_and_not_quoted(key):
    with pytest.raises(ValueError, match=r"CapturePolicy\.digest_key: expected bytes") as refused:
        CapturePolicy(digest_key=key)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("name", ["id_keys", "document_keys", "revision_keys", "tenant_keys", "score_keys"])
def test_one_key_without_its_tuple_is_not_read_as_letters(name):
    with pytest.raises(TypeError, match=rf"CapturePolicy\.{name}: expected a tuple of keys, as \('uid',\)"):
        CapturePolicy(**{name: "uid"})
