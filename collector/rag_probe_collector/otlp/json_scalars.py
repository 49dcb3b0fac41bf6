"""Single values of OTLP JSON as protobuf takes them; each reader raises `OtlpJsonError` for what it does not expect."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Final

from google.protobuf.descriptor import FieldDescriptor

_DECIMAL: Final = re.compile(r"-?[0-9]{1,20}", re.ASCII)
INTEGER_BOUNDS: Final = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64),
}
"""The lowest that each kind holds, and the first beyond it."""


class OtlpJsonError(ValueError):
    """The body is no OTLP JSON. The message names the field by its path and says what was expected there."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self._expected = expected
        self._path: list[str] = []

    def within(self, step: str) -> "OtlpJsonError":
        """Return this error seen from one level further out; `step` is `.name` or `[index]`."""
        self._path.append(step)
        return self

    def __str__(self) -> str:
        place = "".join(reversed(self._path)).lstrip(".") or "the body"
        return f"{place}: expected {self._expected}"


def read_enum(field: FieldDescriptor, value: object) -> int:
    """A number, also of no known meaning, or a name."""
    if not isinstance(value, str) or _DECIMAL.fullmatch(value):
        return read_integer(-(2**31), 2**31, value)
    named = field.enum_type.values_by_name.get(value) if field.enum_type else None
    if named is None:
        raise OtlpJsonError("a number or one of the enum's names")
    return named.number


def read_integer(lowest: int, beyond: int, value: object) -> int:
    """A number or its digits."""
    if (isinstance(value, float) and value.is_integer()) or (isinstance(value, str) and _DECIMAL.fullmatch(value)):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value < beyond:
        raise OtlpJsonError(f"an integer from {lowest} to {beyond - 1}, as a number or a string")
    return value


def read_identifier(size: int, value: object) -> bytes:
    """Hex as OTLP has it, in any case; base64, which no hex id can be mistaken for by its length, as Tempo has it."""
    if isinstance(value, str):
        try:
            if len(value.rstrip("=")) == (size * 8 + 5) // 6:
                return _base64(value)
            return binascii.unhexlify(value)
        except ValueError:
            pass
    raise OtlpJsonError(f"{2 * size} hexadecimal digits")


def _base64(value: str) -> bytes:
    standard = value.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)


def _bytes(value: object) -> bytes:
    if isinstance(value, str):
        try:
            return _base64(value)
        except ValueError:
            pass
    raise OtlpJsonError("base64")


def read_text(value: object) -> str:
    """A string."""
    if isinstance(value, str):
        return value
    raise OtlpJsonError("a string")


def read_boolean(value: object) -> bool:
    """True or false."""
    if isinstance(value, bool):
        return value
    raise OtlpJsonError("true or false")


def read_double(value: object) -> float:
    """A number or how one is written, `NaN` and `Infinity` too."""
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    raise OtlpJsonError("a number")


SCALARS: Final[Mapping[int, Callable[[object], object]]] = {
    FieldDescriptor.TYPE_STRING: read_text,
    FieldDescriptor.TYPE_BYTES: _bytes,
    FieldDescriptor.TYPE_BOOL: read_boolean,
    FieldDescriptor.TYPE_DOUBLE: read_double,
}
"""By the kind of a field."""
