"""What no report may carry: credentials, and characters that steer a terminal or a reader. Pure."""

from __future__ import annotations

import dataclasses
import re
from typing import Final

from .._result import Result

REDACTED: Final = "[redacted]"

# Four times what a failure message may have: enough to see what an adapter said, too little for
# a gateway's whole error page.
LONGEST_TEXT: Final = 8192

# Names under which a credential travels, in headers, in JSON and in keyword arguments.
_NAMES: Final = r"(?:x-(?:goog-)?api-key|api[-_]?key|(?:proxy-)?authorization|(?:set-)?cookie)"

# ``name: value``, ``"name": "value"``, ``name='value'`` and ``("name", "value")``.
_BETWEEN: Final = r"""(?:["']?\s*[:=]\s*(?:b(?=["']))?["']?|["']\s*,\s*b?["'])"""

# What ``keep`` matches stays, so that a reader sees which kind of secret was there.
_SECRETS: Final = (
    re.compile(r"(?<![A-Za-z0-9])(?P<keep>sk-)[A-Za-z0-9_-]{3,}"),
    # RFC 6750: a token follows; ``Bearer realm="..."`` is a challenge and no secret.
    re.compile(r"(?P<keep>\bbearer\s+)(?![a-z_]+=\")[A-Za-z0-9._~+/=-]+", re.IGNORECASE),
    # ``expected`` begins the words of a difference in a field of such a name.
    re.compile(
        rf"(?P<keep>\b{_NAMES}{_BETWEEN}(?:(?:bearer|basic|digest|token)\s+)?)"
        r"(?!expected\b)[^\s\"',;]+",
        re.IGNORECASE,
    ),
    # Keys that are known by their beginning, and JSON web tokens.
    re.compile(r"\b(?P<keep>AIza|AKIA|gsk_|hf_|ghp_)[A-Za-z0-9_-]{16,}"),
    re.compile(r"\b(?P<keep>eyJ)[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"),
    # RFC 3986 userinfo, and credentials in a query.
    re.compile(r"(?P<keep>://)[^\s/@:]+:[^\s/@]+(?=@)"),
    re.compile(
        r"(?P<keep>[?&](?:key|api[-_]?key|(?:access[-_])?token|signature)=)[^&\s\"'#]+",
        re.IGNORECASE,
    ),
)

# Controls but tab and newline, line and paragraph separators, what is invisible or turns the
# direction of writing, lone surrogates, and the two that are no character.
_UNPRINTABLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff\ufffe\uffff]"
)


def clean(text: str) -> str:
    """Return ``text`` as any report may show it; what is clean already stays as it is.

    Credentials become ``[redacted]``, control characters become visible escapes, and a text
    beyond 8192 characters is cut. Every text of a ``Report`` passes through here.
    """
    text = _UNPRINTABLE.sub(lambda m: m[0].encode("unicode_escape").decode("ascii"), text)
    for secret in _SECRETS:
        text = secret.sub(rf"\g<keep>{REDACTED}", text)
    if len(text) <= LONGEST_TEXT:
        return text
    ending = f"… ({len(text)} characters)"
    return text[: LONGEST_TEXT - len(ending)] + ending


def clean_result(result: Result) -> Result:
    """Return a verdict whose texts are clean, for those who print it."""
    return dataclasses.replace(
        result,
        differences=tuple(clean(text) for text in result.differences),
        said=clean(result.said),
        note=clean(result.note),
        timeline=tuple((at, clean(side), clean(what)) for at, side, what in result.timeline),
    )
