"""Others' recorded traffic, played to the profiles: each says what was recorded, or its code.

The recordings are no part of this project. Set ``DSH_CORPUS`` to their folder; without it they
are looked for beside the checkout.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from adapter_sdk.testing import Exchange, Send, Split, byte_by_byte, seeded, whole

from .plain_reading import read
from .playing import Told, play, same_arguments

CORPUS: Final = Path(
    os.environ.get("DSH_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus"
)
APIS: Final = frozenset({"openai-chat", "openai-responses", "anthropic-messages"})

# Of the transport that recorded it, not of the answer.
_NOT_REPLAYED: Final = frozenset(
    {"connection", "content-encoding", "content-length", "transfer-encoding"}
)

# Contract section 3, for bodies that say nothing more specific.
CODE_OF_STATUS: Final = {
    400: "INVALID_REQUEST",
    401: "AUTH",
    404: "INVALID_REQUEST",
    429: "RATE_LIMIT",
}

# Byte by byte takes seconds for the larger ones.
_SMALL_BYTES: Final = 16 * 1024


class Differs(NamedTuple):
    """A failure in place of the recorded answer, and why."""

    code: str
    status: int
    reason: str


DIFFERENCES: Final = {
    "azure/openllmetry-0016": Differs(
        "CONTENT_FILTER", 200, "the finish reason content_filter is a refusal, never a success"
    ),
    "groq/req_llm-0062": Differs(
        "INVALID_REQUEST", 400, "an error event that names its own status is all that came"
    ),
    "openai/dd-trace-py-0128": Differs(
        "STREAM_CLOSED", 200, "a preview of 2023 with finish_details in place of a finish reason"
    ),
    "openrouter/req_llm-0401": Differs(
        "SERVER", 200, "the body of the 200 is an error without a status of HTTP"
    ),
}


def files() -> list[str]:
    index = CORPUS / "index.jsonl"
    if not index.is_file():
        return []
    rows = [json.loads(line) for line in index.read_text(encoding="utf-8").splitlines()]
    return [row["file"].removesuffix(".json") for row in rows if row["api"] in APIS]


FILES: Final = files()

pytestmark = pytest.mark.skipif(
    not FILES, reason="there is no corpus: set DSH_CORPUS to its folder, with index.jsonl in it"
)


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def body_of(recording: dict[str, Any]) -> bytes:
    encoded: str | None = recording.get("response_body_b64")
    if encoded:
        return base64.b64decode(encoded)
    text: str = recording["response_body"] or ""
    return text.encode()


def played(recording: dict[str, Any], split: Split) -> Told:
    headers = tuple(
        (name, value)
        for name, value in recording["response_headers"].items()
        if name.lower() not in _NOT_REPLAYED
    )
    answer = Exchange(recording["status"], headers, steps=(Send(body_of(recording)),))
    (told,) = play(recording["api"], [answer], split=split)
    return told


SPLITS: Final = {"whole": whole, "seeded": seeded(20261130), "byte-by-byte": byte_by_byte}


@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
@pytest.mark.parametrize("name", FILES)
def test_a_recording_says_what_was_recorded_or_its_code(name: str, split: Split) -> None:
    recording = recorded(name)
    if split is byte_by_byte and len(body_of(recording)) > _SMALL_BYTES:
        split = seeded(2)
    told = played(recording, split)
    differs = DIFFERENCES.get(name)
    if differs is not None:
        assert told.failure is not None, differs.reason
        assert (told.failure.code, told.failure.status) == differs[:2], differs.reason
        return
    if recording["status"] != 200:
        assert told.failure is not None
        assert told.failure.code == CODE_OF_STATUS[recording["status"]]
        assert told.failure.status == recording["status"]
        return
    said = read(recording["api"], body_of(recording))
    assert not said.is_error
    assert told.failure is None
    assert (told.text, same_arguments(told.calls)) == (said.text, same_arguments(said.calls))
    assert (told.finish, told.usage) == (said.finish, said.usage)


def test_every_difference_is_of_a_file_that_is_there() -> None:
    assert set(DIFFERENCES) - set(FILES) == set()


def test_the_corpus_has_streams_documents_and_refusals_of_every_dialect() -> None:
    kinds = {(it["api"], it["status"] == 200, it["is_stream"]) for it in map(recorded, FILES)}
    assert kinds == {
        (api, good, stream) for api in APIS for good, stream in ((True, True), (True, False))
    } | {(api, False, False) for api in APIS}
