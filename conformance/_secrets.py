"""What must not stand in a file that others read: credentials, accounts, addresses. Pure.

The recorder masks what this finds, ``fixtures lint`` refuses what is left of it. Secrets are told
by their look: what a person wrote about themself looks like any other text, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

MASK: Final = "***"

# By name, so that a scheme that nobody knows yet is covered too. The words are those of RFC 9110
# and RFC 6265 and those with which providers name keys and accounts in their headers.
_SENSITIVE_HEADER: Final = re.compile(
    r"authori[sz]ation|cookie|api[-_]?key|secret|password|credential|signature"
    r"|(?:^|[-_])key$"
    r"|(?:access|auth|security|session|csrf|refresh|id)[-_]?token"
    r"|organi[sz]ation|account|subscription"
    r"|(?:^|[-_])(?:org|project|tenant|workspace|user)(?:[-_]id)?$",
    re.IGNORECASE,
)
_SENSITIVE_QUERY: Final = re.compile(
    r"([?&](?:key|api[-_]?key|access[-_]token|token|sig|signature|code|password|secret)=)[^&#]+",
    re.IGNORECASE,
)
# An account in a path: a UUID, or a long number in hexadecimal.
_LONG_ID: Final = re.compile(
    r"(?<=/)(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{24,})(?=[/?#]|$)", re.IGNORECASE
)
# RFC 2606: these belong to nobody.
_NOBODYS: Final = rb"(?:[\w-]+\.)*(?:example(?:\.(?:com|net|org))?|invalid|test|localhost)\b"

_PATTERNS: Final = {
    "an API key": re.compile(
        rb"\b(?:sk|pk|rk|gsk|csk|pplx|nvapi|hf|gh[opsu]|github_pat|glpat|xox[abps]|x[a-z]i)[-_]"
        rb"[\w-]{16,}"
        rb"|\bAIza[\w-]{35}|\bAKIA[0-9A-Z]{16}\b"
    ),
    "a token": re.compile(rb"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*"),
    # Prose says bearer too; a token of eight characters and more has a digit among them.
    "a bearer token": re.compile(
        rb"(?i:\bbearer)\s+(?=[A-Za-z._~+/-]*[0-9])(?P<secret>[\w.~+/-]{8,}=*)"
    ),
    "an account id": re.compile(rb"\b(?:org|proj|user|acct)[-_](?=\w*[0-9])[A-Za-z0-9]{16,}\b"),
    "an e-mail address": re.compile(
        rb"(?<![\w.+/-])[A-Za-z0-9][\w.+-]*@(?!"
        + _NOBODYS
        + rb")(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}\b"
    ),
}
# A credential that a client sent is looked for in the answer; shorter ones are words.
_SHORTEST_CREDENTIAL: Final = 8


@dataclass(frozen=True, slots=True)
class Found:
    """One secret: what it is, and where it stands (from, to)."""

    kind: str
    start: int
    end: int


def secrets_in(data: bytes) -> Iterator[Found]:
    """Yield what looks like a secret in ``data``."""
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(data):
            start, end = match.span("secret" if "secret" in pattern.groupindex else 0)
            yield Found(kind, start, end)


def is_sensitive(header: str) -> bool:
    """Whether the value of a header, by its name, is nobody else's business."""
    return _SENSITIVE_HEADER.search(header) is not None


def is_masked(value: str) -> bool:
    """Whether a sensitive value was replaced; a scheme before it may stay."""
    return set(value.rpartition(" ")[2]) <= {"*"}


def credentials_of(headers: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Return the secrets that a client sent in its headers, longest first."""
    values = (value.rpartition(" ")[2] for name, value in headers if is_sensitive(name))
    found = {value for value in values if len(value) >= _SHORTEST_CREDENTIAL}
    return tuple(sorted(found, key=len, reverse=True))


def masked_headers(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return headers of a request without what is nobody's business; a scheme stays."""
    return tuple(
        (name, _masked_value(value) if is_sensitive(name) else masked_text(value))
        for name, value in headers
    )


def masked_path(path: str) -> str:
    """Return a path and query without keys and account ids."""
    return masked_text(_LONG_ID.sub(MASK, _SENSITIVE_QUERY.sub(rf"\g<1>{MASK}", path)))


def masked_text(text: str, credentials: tuple[str, ...] = ()) -> str:
    """Return ``text`` without ``credentials`` and what looks like a secret."""
    for credential in credentials:
        text = text.replace(credential, MASK)
    data = text.encode("utf-8", "surrogatepass")
    for start, end in reversed(_apart((found.start, found.end) for found in secrets_in(data))):
        data = data[:start] + MASK.encode() + data[end:]
    return data.decode("utf-8", "surrogatepass")


def _apart(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ``spans`` in order, those that overlap as one."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _masked_value(value: str) -> str:
    scheme, space, _ = value.rpartition(" ")
    # More than one word before it is no scheme but parameters or several cookies.
    return f"{scheme}{space}{MASK}" if scheme.isalpha() else MASK
