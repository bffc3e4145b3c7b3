"""Credentials: a reference that is resolved once per call and shown nowhere."""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from typing_extensions import override

from ._codes import INVALID_CREDENTIAL, MISSING_CREDENTIAL
from ._failure import local_error

CredentialSource: TypeAlias = Callable[[], str | Awaitable[str | None] | None]
"""Returns the credential of the moment, now or after an await."""


class Credential:
    """A reference to a credential. Its repr says where it comes from and nothing else.

    Args:
        value: The credential itself, a callable that returns it, or None.
        environment: Environment variable to read where ``value`` is None.
    """

    __slots__ = ("_environment", "_value")

    def __init__(self, value: str | CredentialSource | None, *, environment: str | None) -> None:
        self._value = value
        self._environment = environment

    @override
    def __repr__(self) -> str:
        return f"<Credential from {self._origin()}>"

    @override
    def __reduce__(self) -> str:
        raise TypeError("a credential is not copied or stored")

    def _origin(self) -> str:
        if callable(self._value):
            return "a callable"
        if self._value is None and self._environment is not None:
            return f"${self._environment}"
        return "an argument"

    async def resolve(self) -> str:
        """Return the credential, trimmed and fit for a header.

        Raises:
            LlmError: MISSING_CREDENTIAL or INVALID_CREDENTIAL; the message shows no part of it.
        """
        value = self._value
        if callable(value):
            returned = value()
            value = await returned if inspect.isawaitable(returned) else returned
        elif value is None and self._environment is not None:
            value = os.environ.get(self._environment)
        return checked_credential(value, origin=self._origin())


def checked_credential(value: object, *, origin: str) -> str:
    """Return ``value`` without the spaces around it.

    Raises:
        LlmError: MISSING_CREDENTIAL where it is None or blank, INVALID_CREDENTIAL where it
            is no string of printable ASCII.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        raise local_error(MISSING_CREDENTIAL, f"there is no API key: {origin} gives none")
    if not isinstance(value, str):
        raise local_error(INVALID_CREDENTIAL, f"the API key from {origin} is no string")
    trimmed = value.strip(" \t")
    if not (trimmed.isascii() and trimmed.isprintable()):
        raise local_error(
            INVALID_CREDENTIAL,
            f"the API key from {origin} holds a character that no header can carry, "
            "such as a line break or a dash that only looks like one: copy it again",
        )
    return trimmed
