"""Errors as providers write them, and how one is classified as the body of a response."""

from __future__ import annotations

import json

from adapter_sdk._classify import ClassifiedError, classify_body


def body(
    status: int, value: object = None, *, text: str | bytes = b"", media_type: str = ""
) -> ClassifiedError:
    if value is not None:
        text, media_type = json.dumps(value), media_type or "application/json"
    data = text.encode() if isinstance(text, str) else text
    return classify_body(status=status, media_type=media_type, body=data)


BAD_KEY_400 = {
    "error": {
        "code": 400,
        "status": "INVALID_ARGUMENT",
        "message": "pass another one",
        "details": [{"@type": "x/ErrorInfo", "reason": "API_KEY_INVALID"}],
    }
}
GENERIC_401 = {
    "error": {
        "message": "Who is this?",
        "type": "authentication_error",
        "param": None,
        "code": "invalid_request_error",
    }
}
OVERFLOW = {
    "error": {
        "code": 400,
        "type": "exceed_context_size_error",
        "message": "9001 tokens",
        "n_ctx": 8000,
    }
}
OVERLOADED = {
    "type": "error",
    "error": {"type": "overloaded_error", "message": "busy"},
    "request_id": "  req_7",
}
TOKEN_RATE = {
    "error": {"type": "tokens", "code": "rate_limit_exceeded", "message": "TPM: limit 8000"}
}
WRAPPED = {
    "error": {
        "code": 502,
        "message": "Provider returned error",
        "metadata": {"raw": json.dumps({"error": {"code": "insufficient_quota"}})},
    }
}


def said_code() -> dict[str, object]:
    return {"error": {"code": "insufficient_quota"}}


def said(message: str, **more: object) -> dict[str, object]:
    return {"error": {"message": message, **more}}
