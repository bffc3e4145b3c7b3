"""The provider's name for one exchange: the one thing that its support asks for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Self

# Ids go into log lines and headers; the longest seen in the wild has 74 characters.
LONGEST_ID: Final = 256


class ProviderRequestId(str):
    """A request id that passed the one constructor: printable ASCII, 1 to 256 characters.

    Raises:
        ValueError: Anything else. The message does not repeat the value.
    """

    __slots__ = ()

    def __new__(cls, value: str) -> Self:
        if not isinstance(value, str) or not _is_clean(value):
            raise ValueError("a request id is 1 to 256 printable ASCII characters")
        return super().__new__(cls, value)


def _is_clean(value: str) -> bool:
    return 0 < len(value) <= LONGEST_ID and value.isascii() and value.isprintable()


def first_request_id(candidates: Iterable[object]) -> ProviderRequestId | None:
    """Return the first candidate that is an id once trimmed, or None.

    Args:
        candidates: Header values in the order that the adapter declares, or members of an
            error envelope; what is no string, empty, too long or not printable is skipped.
    """
    for candidate in candidates:
        if isinstance(candidate, str) and _is_clean(trimmed := candidate.strip(" \t")):
            return ProviderRequestId(trimmed)
    return None
