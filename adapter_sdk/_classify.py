"""One classifier for HTTP bodies, frames inside a stream and errors wrapped in either.

Order of evidence (contract section 3): a specific code or type, wording, the status that
the error names, the HTTP status, a generic type. An error that says nothing is SERVER.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ._codes import QUOTA, RATE_LIMIT, SERVER
from ._error_envelope import read_error_envelope
from ._error_tables import GENERIC_NAMES, SPECIFIC_NAMES, code_of_status, plain_name
from ._error_wording import code_of_wording
from ._wire_json import parse_cut_json, parse_json

if TYPE_CHECKING:
    from ._error_envelope import ErrorFacts
    from ._request_id import ProviderRequestId

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

# A body of plain text is an error message when it is short; a longer one is a page or a dump,
# in which any word may occur.
_LONGEST_PLAIN_TEXT: Final = 1000

_PAGE_MEDIA_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_PAGE_START: Final = re.compile(r"\s*<(?:!doctype html|html|head|body|title|h1|a|script)\b", re.I)
_PAGE_TITLE: Final = re.compile(r"<title[^>]*>([^<]{1,200})", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedError:
    """What one error of the provider says.

    Attributes:
        code: A failure code, never empty.
        message: The provider's words where there are any; not yet made printable.
        status: The HTTP status that the error itself names (400 to 599), or None.
        request_id: From the envelope, or None.
        payload: The decoded body or frame, or None where it is no JSON.
    """

    code: str
    message: str
    status: int | None = None
    request_id: ProviderRequestId | None = None
    payload: Any = None


def classify_error(facts: ErrorFacts, *, status: int | None = None, is_page: bool = False) -> str:
    """Return the failure code of an error.

    Args:
        facts: What the error says; empty where its body says nothing.
        status: HTTP status of the response; a 2xx (or None) is no evidence.
        is_page: The body is an HTML page: of an edge or a proxy, not of the provider.
    """
    names = [plain_name(name) for name in facts.names]
    named = [SPECIFIC_NAMES[name] for name in names if name in SPECIFIC_NAMES]
    if named:
        # A gateway names its own 429 in front of the empty account that it was told of.
        return QUOTA if named[0] == RATE_LIMIT and QUOTA in named else named[0]
    worded = code_of_wording(facts.texts)
    if worded is not None:
        return worded
    if facts.status is not None:
        return code_of_status(facts.status)
    if status is not None and not 200 <= status <= 299:
        # A challenge page says nothing about the key.
        return SERVER if is_page and status == 403 else code_of_status(status)
    for name in names:
        if name in GENERIC_NAMES:
            return GENERIC_NAMES[name]
    return SERVER


def classify_payload(payload: object) -> ClassifiedError:
    """Classify a decoded error that came inside a response with a good status."""
    facts = read_error_envelope(payload)
    return ClassifiedError(
        code=classify_error(facts),
        message=facts.message or _named("an error inside the response", facts, "without a message"),
        status=facts.status,
        request_id=facts.request_id,
        payload=payload,
    )


def classify_body(
    *, status: int, media_type: str, body: bytes, complete: bool = True
) -> ClassifiedError:
    """Classify the body of a response outside 2xx. No body makes it raise.

    Args:
        status: HTTP status of the response.
        media_type: From the content-type header, lower case, without parameters; may be empty.
        body: Its bytes, up to a bound of the caller's.
        complete: Whether they are all; a cut body counts as far as it goes.
    """
    body = body.removeprefix(_BYTE_ORDER_MARK).strip()
    payload = _decoded(body)
    text = "" if payload is not None or b"\0" in body else body.decode("utf-8", "replace")
    is_page = _is_page(text, media_type)
    readable = not is_page and len(text) <= _LONGEST_PLAIN_TEXT
    facts = read_error_envelope(text if payload is None and readable else payload)
    if body:
        otherwise = _described(text, media_type, is_page=is_page)
    else:
        otherwise = "an empty body" if complete else "a body that did not arrive"
    return ClassifiedError(
        code=classify_error(facts, status=status, is_page=is_page),
        message=facts.message or _named(f"HTTP {status} from the provider", facts, otherwise),
        status=facts.status,
        request_id=facts.request_id,
        payload=payload,
    )


def _decoded(body: bytes) -> Any:
    for parse in (parse_json, parse_cut_json):
        try:
            return parse(body)
        except ValueError:  # no JSON, or not all of it
            if not body.startswith((b"{", b"[")):
                return None
    return None


def _is_page(text: str, media_type: str) -> bool:
    return bool(text) and (media_type in _PAGE_MEDIA_TYPES or bool(_PAGE_START.match(text)))


def _described(text: str, media_type: str, *, is_page: bool) -> str:
    title = _PAGE_TITLE.search(text) if is_page else None
    if title is not None and title[1].strip():
        return f"a page titled {' '.join(title[1].split())}"
    kind = "a page" if is_page else "no message in the body"
    return f"{kind} ({media_type or 'no content-type'})"


def _named(subject: str, facts: ErrorFacts, otherwise: str) -> str:
    names = list(dict.fromkeys(facts.names))
    return f"{subject}: {', '.join(names[:3])}" if names else f"{subject}, {otherwise}"
