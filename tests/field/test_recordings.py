"""The kit's own recordings of three dialects, whole and cut, played to the profiles."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from adapter_sdk.testing import Split, byte_by_byte, seeded, whole
from conformance._recording._file import exchange_of, load_recording, recording_names
from conformance._recording._values import Recording

from .plain_reading import Said, read
from .playing import play, same_arguments

API_OF_PATH: Final = {
    "/v1/chat/completions": "openai-chat",
    "/v1/responses": "openai-responses",
    "/v1/messages": "anthropic-messages",
}

# The code that each refusal and each error inside a good answer calls for.
CODES: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parents[1] / "conformance" / "recorded_outcomes.toml").read_text("utf-8")
)

RECORDINGS: Final = {name: load_recording(name) for name in recording_names()}
REPLAYED: Final = [
    name
    for name, it in RECORDINGS.items()
    if it.request.method == "POST" and it.request.path in API_OF_PATH
]

# Cut, but behind all evidence: the finish reason is what proves the end of these routes.
WHOLE_ENOUGH: Final = frozenset(
    f"derived/{name}"
    for name in (
        *("after_done_cut", "after_done_hold", "after_done_reset"),
        *("finish_without_done_cut", "finish_without_done_hold"),
    )
)
CODE_OF_ENDING: Final = {
    "fin": "TRANSPORT",
    "rst": "TRANSPORT",
    "open": "TIMEOUT",
    "client-close": "TIMEOUT",
    "client-rst": "TIMEOUT",
}

SPLITS: Final = {"whole": whole, "seeded": seeded(7), "byte-by-byte": byte_by_byte}
_SMALL_BYTES: Final = 8 * 1024


def said_by(recording: Recording) -> Said:
    """What the body says; one that is cut inside an event says nothing to the end."""
    try:
        return read(API_OF_PATH[recording.request.path], recording.body)
    except ValueError:  # half an event
        return Said()


def due_code(recording: Recording) -> str:
    """The code that a recording calls for, or nothing where it is a good answer."""
    row = CODES[recording.name]
    if recording.status is None:
        return CODE_OF_ENDING[recording.ending]
    if not 200 <= recording.status < 300:
        return str(row["code"])
    if "in_band_code" in row:
        return str(row["in_band_code"])
    if recording.name in WHOLE_ENOUGH:
        return ""
    if not recording.is_whole:
        return CODE_OF_ENDING[recording.ending]
    said = said_by(recording)
    if not said.finish:
        return "STREAM_CLOSED"
    is_empty = not said.text and not said.calls and not said.has_reasoning
    return "EMPTY_RESPONSE" if is_empty and said.finish == "stop" else ""


@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
@pytest.mark.parametrize("name", REPLAYED)
def test_a_recording_says_what_was_recorded_or_its_code(name: str, split: Split) -> None:
    recording = RECORDINGS[name]
    if split is byte_by_byte and len(recording.body) > _SMALL_BYTES:
        split = seeded(8)
    api = API_OF_PATH[recording.request.path]
    (told,) = play(api, [exchange_of(recording)], split=split)
    code = due_code(recording)
    assert (told.failure.code if told.failure else "") == code
    if code:
        return
    said = said_by(recording)
    # Of an answer that a limit has cut, the last call is half a call.
    calls = [] if said.finish == "max-tokens" else said.calls
    assert (told.text, same_arguments(told.calls)) == (said.text, same_arguments(calls))
    assert (told.finish, told.usage) == (said.finish, said.usage)


def test_every_recording_is_replayed_but_those_of_other_methods_and_paths() -> None:
    left_out = {
        (it.request.method, it.request.path)
        for name, it in RECORDINGS.items()
        if name not in REPLAYED
    }
    assert ("POST", "/v1/chat/completions") not in left_out
    assert all(method != "POST" or path not in API_OF_PATH for method, path in left_out)


@pytest.mark.parametrize("api", API_OF_PATH.values())
def test_there_are_whole_cut_and_refused_ones_of_every_dialect(api: str) -> None:
    mine = [RECORDINGS[n] for n in REPLAYED if API_OF_PATH[RECORDINGS[n].request.path] == api]
    assert any(it.is_whole and it.status == 200 for it in mine)
    assert any(not it.is_whole for it in mine)
    assert any(it.status is not None and it.status >= 400 for it in mine)
