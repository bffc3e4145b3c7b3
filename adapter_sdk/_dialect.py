"""What a dialect is: a request becomes a body, payloads become chunks. Pure; no I/O, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from ._chunks import Chunk, TokenUsage
from ._request import LlmRequest

Json: TypeAlias = Any
"""Decoded JSON: narrow it before use."""


class InBandError(Exception):
    """A payload that carries an error; the core classifies it like the body of an HTTP error."""

    def __init__(self, payload: Json) -> None:
        super().__init__("the provider reported an error inside the response")
        self.payload = payload


class ProtocolFault(Exception):
    """The response says something that has no good meaning, or ends too early.

    Args:
        code: The failure's code, for example ``MALFORMED_RESPONSE``.
        message: For people; the core makes it printable.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Translator(Protocol):
    """Turns the payloads of one response into chunks. One instance a call.

    Every method may raise ``InBandError`` or ``ProtocolFault``, which end the call.
    """

    @property
    def usage(self) -> TokenUsage | None:
        """The last full usage seen; reported before a failure."""
        ...

    @property
    def settled(self) -> bool:
        """Whether the evidence for a good end is complete although more may follow."""
        ...

    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        """Translate one event. A ``Finish`` among the chunks ends the call."""
        ...

    def document(self, payload: Json) -> Iterable[Chunk]:
        """Translate a whole JSON answer that came in place of a stream."""
        ...

    def close(self) -> Iterable[Chunk]:
        """The body ended cleanly: return the chunks that end the call, or raise."""
        ...


class Dialect(Protocol):
    """How one family of providers speaks."""

    @property
    def name(self) -> str:
        """For example ``openai-chat``; conformance cases apply by it."""
        ...

    @property
    def path(self) -> str:
        """Appended to the base URL, for example ``/chat/completions``."""
        ...

    @property
    def terminal(self) -> str:
        """What proves a good end, for example ``done-sentinel``; part of the declaration."""
        ...

    def body(self, request: LlmRequest) -> Mapping[str, Json]:
        """Return the request's JSON body; raises ``LlmError`` for what it cannot say."""
        ...

    def credential_headers(self, credential: str) -> Mapping[str, str]:
        """Return the headers that carry the credential."""
        ...

    def translator(self) -> Translator:
        """Return a fresh translator."""
        ...
