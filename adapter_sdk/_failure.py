"""What a failed call tells its caller: facts, never policy."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Final, NoReturn, Self

from typing_extensions import override

from ._codes import is_code
from ._request_id import ProviderRequestId

# Messages end up in log lines: gateways answer with megabytes, transports with nothing.
MESSAGE_LIMIT_BYTES: Final = 2048

_WIRE_NAMES: Final = {
    "message": "message",
    "code": "code",
    "status": "status",
    "provider_retry_after_ms": "providerRetryAfterMs",
    "request_id": "requestId",
}
_FIELD_NAMES: Final = {wire: field for field, wire in _WIRE_NAMES.items()}


def printable_message(text: str, *, otherwise: str) -> str:
    """Return ``text`` as one printable line of at most 2 KiB in UTF-8.

    Runs of white space and control characters become one space; a text of which
    nothing is left becomes ``otherwise``.
    """
    head = text[: MESSAGE_LIMIT_BYTES * 2]
    line = "".join(character if character.isprintable() else " " for character in head)
    line = " ".join(line.split()) or otherwise
    encoded = line.encode("utf-8", "replace")
    if len(encoded) <= MESSAGE_LIMIT_BYTES:
        return line
    ellipsis = "…".encode()
    return encoded[: MESSAGE_LIMIT_BYTES - len(ellipsis)].decode("utf-8", "ignore") + "…"


def _refuse(field: str, value: object, rule: str) -> NoReturn:
    raise ValueError(f"LlmFailure.{field}: {rule}, got {type(value).__name__}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmFailure:
    """The facts of one failed call, as seen on the wire.

    Attributes:
        message: One printable line for people, 1 byte to 2 KiB of UTF-8, without any credential.
        code: A name of the closed list in ``adapter_sdk.codes`` or ``HTTP_<status>``.
        status: HTTP status (100 to 999), or None where no response was seen.
        provider_retry_after_ms: Wait that the provider asked for, whole milliseconds above
            zero, never capped; None where it asked for none.
        request_id: The provider's id of the exchange, or None.

    Raises:
        ValueError: A field breaks its rule; the message names the field, never the value.

    Source: contract section 3.
    """

    message: str
    code: str
    status: int | None = None
    provider_retry_after_ms: int | None = None
    request_id: ProviderRequestId | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.message, str) or not self.message.strip():
            _refuse("message", self.message, "a non-empty string")
        if not self.message.isprintable():
            _refuse("message", self.message, "printable characters on one line")
        if len(self.message.encode()) > MESSAGE_LIMIT_BYTES:
            _refuse("message", self.message, f"at most {MESSAGE_LIMIT_BYTES} bytes")
        if not isinstance(self.code, str) or not is_code(self.code):
            _refuse("code", self.code, "a code of the closed list")
        for field in ("status", "provider_retry_after_ms"):
            value = getattr(self, field)
            if value is not None and (type(value) is not int or value <= 0):
                _refuse(field, value, "a whole number above zero, or None")
        if self.status is not None and not 100 <= self.status <= 999:
            _refuse("status", self.status, "100 to 999")
        if self.request_id is not None and type(self.request_id) is not ProviderRequestId:
            _refuse("request_id", self.request_id, "a ProviderRequestId, or None")

    def to_json(self) -> dict[str, Any]:
        """Return the stored form: camelCase keys, absent fields left out."""
        return {
            _WIRE_NAMES[field]: str(value) if field == "request_id" else value
            for field, value in asdict(self).items()
            if value is not None
        }

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read what ``to_json`` wrote.

        Raises:
            ValueError: Not an object, an unknown key, or a value that breaks a field's rule.
        """
        if not isinstance(value, dict):
            raise ValueError(f"LlmFailure: an object, got {type(value).__name__}")
        unknown = sorted(str(key) for key in value if key not in _FIELD_NAMES)
        if unknown:
            raise ValueError(f"LlmFailure: unknown keys {', '.join(unknown)}")
        arguments: dict[str, Any] = {_FIELD_NAMES[key]: item for key, item in value.items()}
        for field in fields(cls):
            if field.name in ("message", "code") and field.name not in arguments:
                raise ValueError(f"LlmFailure.{field.name}: missing")
        if arguments.get("request_id") is not None:
            arguments["request_id"] = ProviderRequestId(arguments["request_id"])
        return cls(**arguments)


class LlmError(Exception):
    """A failed call as an exception, for callers of ``collect`` and for code that raises.

    ``error.code == error.failure.code``; what broke underneath is ``__cause__``.
    """

    failure: LlmFailure
    __match_args__: ClassVar[tuple[str, ...]] = ("failure",)

    def __init__(self, failure: LlmFailure) -> None:
        super().__init__(failure)
        self.failure = failure

    @property
    def code(self) -> str:
        """The failure's code."""
        return self.failure.code

    @override
    def __str__(self) -> str:
        return f"{self.failure.code}: {self.failure.message}"


def local_error(code: str, message: str) -> LlmError:
    """Return the error of a call that was refused before anything was sent."""
    return LlmError(LlmFailure(message=printable_message(message, otherwise=code), code=code))
