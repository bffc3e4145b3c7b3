"""Where a request goes and which header carries the credential, as a dialect is told. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_BEARER: Final = "authorization"

# RFC 9110 section 5.1: a header's name is a token.
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")

# RFC 3986 sections 3.3 and 3.4: some gateways want their version in a query.
_PATH: Final = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*")


def check_path(path: str) -> None:
    """Refuse what cannot be appended to a base URL.

    Raises:
        ValueError: No slash at its beginning, or a character that no address holds.
    """
    if _PATH.fullmatch(path) is None:
        raise ValueError(f"path: begins with one slash and holds what an address may; got {path!r}")


def check_header_name(argument: str, name: str) -> None:
    """Refuse what is no header's name.

    Raises:
        ValueError: The message begins with ``argument``.
    """
    if _HEADER_NAME.fullmatch(name) is None:
        raise ValueError(f"{argument}: the name of a header, got {name!r}")


def carried_in(header: str, credential: str) -> Mapping[str, str]:
    """Return the header that carries ``credential``: a bearer token, or the key as it is."""
    name = header.lower()
    return {name: f"Bearer {credential}" if name == _BEARER else credential}
