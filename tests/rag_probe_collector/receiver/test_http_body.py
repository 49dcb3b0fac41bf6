"""Any framing and compression of a body gives the same bytes, and none takes more memory than allowed."""

import gzip
import io
import itertools
import zlib
from email.message import Message

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe_collector.receiver.admission import ByteBudget
from rag_probe_collector.receiver.http_body import Body
from rag_probe_collector.receiver.inflate import PIECE, gathered, inflated
from rag_probe_collector.receiver.refusal import Reason, RefusalError

bodies = st.binary(max_size=300) | st.builds(
    lambda pattern, size: (pattern * (size // len(pattern) + 1))[:size],
    st.binary(min_size=1, max_size=3),
    st.sampled_from([PIECE - 1, PIECE, PIECE + 1, 2 * PIECE]),
)


def members(body: bytes, cuts: list[int]) -> bytes:
    """Compress a body as several gzip members, cut at the given places."""
    bounds = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    return b"".join(gzip.compress(body[start:end], 1) for start, end in itertools.pairwise(bounds)) or gzip.compress(
        b""
    )


def framed(body: bytes, sizes: list[int] | None) -> tuple[dict[str, str], bytes]:
    """Frame a body by its length, or in chunks of the given sizes, repeated."""
    if sizes is None:
        return {"Content-Length": str(len(body))}, body
    chunks: list[bytes] = []
    for size in itertools.cycle(sizes):
        part, body = body[:size], body[size:]
        if not part:
            return {"Transfer-Encoding": "Chunked"}, b"".join([*chunks, b"0\r\n\r\n"])
        chunks.append(b"%X\r\n%b\r\n" % (len(part), part))
    raise AssertionError


def read(headers: dict[str, str], sent: bytes, limit: int = 1 << 30) -> tuple[bytes, bytes]:
    message = Message()
    for name, value in headers.items():
        message[name] = value
    stream = io.BytesIO(sent)
    with ByteBudget(1 << 30).lease() as lease:
        return Body(message, stream).read(limit, lease), stream.read()


@given(
    body=bodies,
    sizes=st.none()
    | st.lists(st.sampled_from([1, 7, 4096, 1 << 20]), min_size=1, max_size=3).filter(lambda it: max(it) > 99),
    coding=st.sampled_from(["identity", "gzip", "members", "deflate"]),
    cuts=st.lists(st.integers(0, 300), max_size=3),
)
def test_every_framing_and_coding_gives_the_same_body_and_leaves_what_follows(body, sizes, coding, cuts):
    coded = {
        "identity": lambda: body,
        "gzip": lambda: gzip.compress(body, 1),
        "members": lambda: members(body, cuts),
        "deflate": lambda: zlib.compress(body, 1),
    }[coding]()
    headers, sent = framed(coded, sizes)
    headers["Content-Encoding"] = "gzip" if coding == "members" else coding
    assert read(headers, sent + b"next") == (body, b"next")


@given(body=st.binary(min_size=1, max_size=200), cut=st.integers(1, 20))
def test_a_compressed_body_cut_anywhere_is_malformed(body, cut):
    coded = gzip.compress(body)
    with pytest.raises(RefusalError) as caught:
        read({"Content-Encoding": "gzip", "Content-Length": str(len(coded[:-cut]))}, coded[:-cut])
    assert caught.value.reason is Reason.MALFORMED


@given(st.binary(min_size=1, max_size=60), st.binary(max_size=60))
def test_arbitrary_bytes_after_a_chunked_header_are_a_body_or_one_error(sent, more):
    try:
        read({"Transfer-Encoding": "chunked"}, sent + more)
    except (RefusalError, ConnectionError) as error:
        assert str(error)  # noqa: PT017 - either outcome is right


def test_a_bomb_is_refused_at_the_limit_and_never_unpacked_whole():
    """A thousandfold bomb of 1 GiB: what is held at any moment stays below limit and one piece."""
    limit = 8 * PIECE
    bomb = gzip.compress(bytes(1 << 20), 9) * 1024
    produced = 0

    def counted():
        nonlocal produced
        for piece in inflated(iter([bomb])):
            assert len(piece) <= PIECE
            produced += len(piece)
            yield piece

    budget = ByteBudget(1 << 30)
    with budget.lease() as lease, pytest.raises(RefusalError) as caught:
        gathered(counted(), limit, lease)
    assert caught.value.reason is Reason.TOO_LARGE
    assert produced <= limit + PIECE


def test_a_body_that_outgrows_the_budget_is_an_overload_not_an_error_of_the_client():
    budget = ByteBudget(3 * PIECE)
    with budget.lease() as other, budget.lease() as lease:
        other.grow(PIECE)
        with pytest.raises(RefusalError) as caught:
            gathered(inflated(iter([gzip.compress(bytes(8 * PIECE))])), 64 * PIECE, lease)
    assert caught.value.retryable
    assert budget.held == 0
