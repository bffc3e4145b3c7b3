"""What real servers sent says the same whether each payload is parsed or only its text is read."""

from __future__ import annotations

import itertools
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import pytest

from adapter_sdk._http import ResponseHead
from adapter_sdk._stream_core import StreamCore
from adapter_sdk.dialects import AnthropicMessages, OpenAIChat
from adapter_sdk.dialects._repeated_payload import RepeatedPayload
from conformance._recording._wire import read_answer

from .outcomes import RECORDINGS

if TYPE_CHECKING:
    from adapter_sdk import Chunk, Dialect
    from conformance._recording._values import Recording

NEVER: Final = datetime(2026, 1, 1, tzinfo=UTC)

DIALECTS: Final[dict[str, Dialect]] = {
    "/chat/completions": OpenAIChat(terminal="done-sentinel"),
    "/messages": AnthropicMessages(),
}
STREAMS: Final = {
    name: (recording, dialect)
    for name, recording in RECORDINGS.items()
    for path, dialect in DIALECTS.items()
    if recording.media_type == "text/event-stream" and recording.request.path.endswith(path)
}


def chunks_of(
    recording: Recording, dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> list[Chunk]:
    numbers = itertools.count()
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=next(numbers)))  # made-up call ids
    answer = read_answer([read.data for read in recording.reads])
    core = StreamCore(dialect.translator(), request_id_headers=())
    core.head(ResponseHead(200, [("content-type", "text/event-stream")]), received_at=NEVER)
    for piece in answer.pieces:
        core.data(piece)
    core.end()
    return list(core.out)


@pytest.mark.parametrize("name", STREAMS)
def test_both_ways_say_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recording, dialect = STREAMS[name]
    by_the_short_way = chunks_of(recording, dialect, monkeypatch)
    monkeypatch.setattr(RepeatedPayload, "text_of", lambda *_: None)

    assert chunks_of(recording, dialect, monkeypatch) == by_the_short_way


def test_of_what_servers_send_most_is_read_by_the_short_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[bool] = []
    text_of = RepeatedPayload.text_of

    def counted(self: RepeatedPayload[str], name: str, data: bytes) -> str | None:
        text = text_of(self, name, data)
        found.append(text is not None)
        return text

    monkeypatch.setattr(RepeatedPayload, "text_of", counted)
    for recording, dialect in STREAMS.values():
        chunks_of(recording, dialect, monkeypatch)

    assert sum(found) > len(found) / 2
