"""A body that was cut or is no error at all: a known code still, and no exception."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter_sdk._classify import classify_body
from adapter_sdk._codes import is_code

from .provider_errors import BAD_KEY_400, GENERIC_401, OVERFLOW, OVERLOADED, TOKEN_RATE, body, said


@pytest.mark.parametrize(
    ("status", "value"),
    [
        pytest.param(400, BAD_KEY_400, id="bad-key"),
        pytest.param(401, GENERIC_401, id="generic"),
        pytest.param(400, OVERFLOW, id="overflow"),
        pytest.param(529, OVERLOADED, id="overloaded"),
        pytest.param(413, TOKEN_RATE, id="token-rate"),
        pytest.param(429, said("Prompt 超长 \ud83d", code="400"), id="not-ascii"),
        pytest.param(429, [said("Insufficient Balance")], id="array"),
        pytest.param(422, {"detail": [{"loc": ["a"], "msg": "quota exceeded"}]}, id="detail"),
        pytest.param(400, {"code": 4290, "message": "quota exceeded"}, id="number-cut-to-a-status"),
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_body_cut_anywhere_gives_the_code_of_the_status_or_of_the_whole(
    status: int, value: object, *, ascii_only: bool
) -> None:
    whole = json.dumps(value, ensure_ascii=ascii_only, indent=1).encode("utf-8", "surrogatepass")
    allowed = {body(status).code, body(status, text=whole).code}
    for end in range(len(whole)):
        for cut in (whole[:end], whole[:end] + b"\xff", whole[:end] + b"\n"):
            error = classify_body(status=status, media_type="", body=cut, complete=False)
            assert error.code in allowed
            assert error.message


@given(
    text=st.binary(max_size=80) | st.text('{}[]"\\:,ud834error mesag0429<html>', max_size=80),
    status=st.integers(300, 599),
    media_type=st.sampled_from(["", "text/html", "application/json"]),
)
def test_no_body_ever_raises(text: bytes | str, status: int, media_type: str) -> None:
    error = body(status, text=text, media_type=media_type)
    assert is_code(error.code)
    assert error.message.strip()
