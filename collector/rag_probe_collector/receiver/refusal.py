"""Why a request is refused, and how that is said in both protocols.

Source: https://opentelemetry.io/docs/specs/otlp/#failures. Only OVERLOADED may be sent again; real exporters drop their
spans on a bare RESOURCE_EXHAUSTED, so overload never says that.
"""

from enum import Enum
from http import HTTPStatus
from typing import Final

from google.protobuf.duration_pb2 import Duration
from google.rpc.code_pb2 import Code
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

RETRY_SECONDS: Final = 1
"""How long a client is asked to wait after OVERLOADED; exporters wait exactly so long, and give up after about ten."""


class Reason(Enum):
    """The HTTP status and the gRPC code of one kind of refusal."""

    MALFORMED = HTTPStatus.BAD_REQUEST, Code.INVALID_ARGUMENT
    UNKNOWN_PATH = HTTPStatus.NOT_FOUND, Code.NOT_FOUND
    WRONG_METHOD = HTTPStatus.METHOD_NOT_ALLOWED, Code.UNIMPLEMENTED
    TOO_LARGE = HTTPStatus.REQUEST_ENTITY_TOO_LARGE, Code.RESOURCE_EXHAUSTED
    UNKNOWN_TYPE = HTTPStatus.UNSUPPORTED_MEDIA_TYPE, Code.INVALID_ARGUMENT
    OVERLOADED = HTTPStatus.SERVICE_UNAVAILABLE, Code.UNAVAILABLE

    def __init__(self, http: HTTPStatus, grpc: int) -> None:
        self.http = http
        self.grpc = grpc


class RefusalError(Exception):
    """The request is not stored; `message` tells the sender why, in one line."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.reason is Reason.OVERLOADED

    def status(self) -> Status:
        """Return the body of the answer; a retryable one says after how long."""
        status = Status(code=self.reason.grpc, message=self.message)
        if self.retryable:
            status.details.add().Pack(retry_info())
        return status


def retry_info() -> RetryInfo:
    """Return the detail that makes a client wait RETRY_SECONDS and send again."""
    return RetryInfo(retry_delay=Duration(seconds=RETRY_SECONDS))
