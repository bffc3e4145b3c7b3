"""The table of outcomes names every recording, and every kind of failure is replayed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance._recording._values import Recording

from .outcomes import RECORDINGS, REPLAYED, TABLE


def test_the_table_has_every_recording_and_nothing_else() -> None:
    assert sorted(TABLE) == sorted(RECORDINGS)


def test_only_other_dialects_methods_and_endpoints_are_not_replayed() -> None:
    own = [
        name
        for name, recording in RECORDINGS.items()
        if recording.request.method == "POST"
        and recording.request.path.endswith("/chat/completions")
    ]

    assert set(own) <= set(REPLAYED)


@pytest.mark.parametrize(
    ("what", "origin", "matches"),
    [
        pytest.param("a 400", "recorded", lambda it: it.status == 400, id="400-recorded"),
        pytest.param("a 401", "recorded", lambda it: it.status == 401, id="401-recorded"),
        pytest.param("a 429", "recorded", lambda it: it.status == 429, id="429-recorded"),
        pytest.param("a 500", "recorded", lambda it: it.status == 500, id="500-recorded"),
        pytest.param("a 502", "recorded", lambda it: it.status == 502, id="502-recorded"),
        pytest.param("a 503", "recorded", lambda it: it.status == 503, id="503-recorded"),
        pytest.param("a 504", "recorded", lambda it: it.status == 504, id="504-recorded"),
        pytest.param("a 429", "synthetic", lambda it: it.status == 429, id="429-synthetic"),
        pytest.param(
            "a stream that was cut",
            "recorded",
            lambda it: it.media_type == "text/event-stream" and not it.is_whole,
            id="truncated-recorded",
        ),
        pytest.param(
            "a stream that was cut",
            "derived",
            lambda it: it.media_type == "text/event-stream" and not it.is_whole,
            id="truncated-derived",
        ),
        pytest.param(
            "an empty answer",
            "recorded",
            lambda it: TABLE[it.name].get("code") == "EMPTY_RESPONSE",
            id="empty-recorded",
        ),
        pytest.param(
            "an empty answer",
            "synthetic",
            lambda it: TABLE[it.name].get("code") == "EMPTY_RESPONSE",
            id="empty-synthetic",
        ),
    ],
)
def test_there_is_a_replayed_recording_of(
    what: str, origin: str, matches: Callable[[Recording], bool]
) -> None:
    found = [name for name in REPLAYED if RECORDINGS[name].origin == origin]

    assert any(matches(RECORDINGS[name]) for name in found), f"{what}, {origin}: none"
