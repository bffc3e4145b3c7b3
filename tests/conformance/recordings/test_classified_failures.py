"""The classifier alone gives every recorded refusal and error frame the code of the table."""

from __future__ import annotations

import json
from typing import Final

import pytest

from adapter_sdk._classify import classify_body, classify_payload

from .outcomes import RECORDINGS, TABLE

REFUSED: Final = [
    name for name, it in RECORDINGS.items() if it.status is not None and not 200 <= it.status < 300
]


@pytest.mark.parametrize("name", REFUSED)
def test_every_refusal_has_the_code_that_its_status_and_body_call_for(name: str) -> None:
    recording = RECORDINGS[name]
    assert recording.status is not None

    error = classify_body(
        status=recording.status,
        media_type=recording.media_type,
        body=recording.body,
        complete=recording.is_whole,
    )

    assert error.code == TABLE[name]["code"]
    assert TABLE[name].get("said", "") in error.message


@pytest.mark.parametrize("name", [name for name in TABLE if "in_band_code" in TABLE[name]])
def test_every_error_inside_a_good_answer_has_the_code_that_it_calls_for(name: str) -> None:
    lines = RECORDINGS[name].body.splitlines()
    payloads = [line.removeprefix(b"data:").strip() for line in lines if line.startswith(b"data:")]
    last = [payload for payload in payloads if payload != b"[DONE]"][-1]

    assert classify_payload(json.loads(last)).code == TABLE[name]["in_band_code"]
