"""Whole messages in place of a stream."""

from __future__ import annotations

from typing import Any, Final

import pytest

from .messages_wire import DIALECT, USED
from .playing import JSON, SPLITS, Bad, Good, chunks_of, seen, sse


def whole_message(*content: Any, **more: Any) -> bytes:
    message = {"type": "message", "id": "msg_1", "content": list(content), **more}
    message.setdefault("stop_reason", "end_turn")
    message["usage"] = {"input_tokens": 7, "output_tokens": 5}
    return sse(message)[len("event: message\ndata: ") :]


TEXT: Final = {"type": "text", "text": "Hi"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(whole_message(TEXT), Good(text="Hi", usage=USED), id="text"),
        pytest.param(
            whole_message(
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                TEXT,
                {"type": "tool_use", "id": "t1", "name": "ls", "input": {"a": 1}},
                stop_reason="tool_use",
            ),
            Good(
                finish="tool-calls",
                text="Hi",
                reasoning=("hm",),
                tools=(("t1", "ls", '{"a":1}'),),
                usage=USED,
            ),
            id="everything",
        ),
        pytest.param(b"data: " + whole_message(TEXT), Good(text="Hi", usage=USED), id="one-event"),
        pytest.param(
            whole_message(TEXT, stop_reason="refusal"),
            Bad(code="CONTENT_FILTER", text="Hi", usage=USED),
            id="refusal",
        ),
        pytest.param(whole_message(), Bad(code="EMPTY_RESPONSE", usage=USED), id="without-content"),
        pytest.param(
            whole_message(TEXT, stop_reason=None),
            Bad(code="STREAM_CLOSED", text="Hi", usage=USED),
            id="without-a-stop-reason",
        ),
        pytest.param(
            b'{"type":"error","error":{"type":"authentication_error"}}',
            Bad(code="AUTH"),
            id="error",
        ),
        pytest.param(b'{"detail":"no"}', Bad(code="SERVER"), id="detail"),
        pytest.param(b'{"id":"msg_1"}', Bad(code="MALFORMED_RESPONSE"), id="without-meaning"),
        pytest.param(b"[]", Bad(code="MALFORMED_RESPONSE"), id="array"),
        pytest.param(
            whole_message("Hi"), Bad(code="MALFORMED_RESPONSE", usage=USED), id="a-block-of-text"
        ),
    ],
)
def test_a_whole_message_in_place_of_a_stream(body: bytes, expected: Good | Bad) -> None:
    for split in SPLITS:
        assert seen(chunks_of(DIALECT, body, split=split, media_type=JSON)) == expected
