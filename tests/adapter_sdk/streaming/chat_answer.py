"""A good answer on the chat completions wire: its events, its chunks, an adapter that reads it."""

from __future__ import annotations

from adapter_sdk import (
    STOP,
    BaseAdapter,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    LlmRequest,
    TextBlock,
    TextDelta,
    TokenUsage,
    UsageReport,
    user,
)
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.testing import Exchange, Send

REQUEST = LlmRequest(model="m", messages=(user("hi"),))

HEADERS = (("content-type", "text/event-stream"), ("x-request-id", "req_1"))
HI = Send(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n')
STOPPED = Send(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n')
USAGE = Send(b'data: {"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":1}}\n\n')
DONE = Send(b"data: [DONE]\n\n")
GOOD = Exchange(200, HEADERS, steps=(HI, STOPPED, USAGE, DONE))
HELD = Exchange(200, HEADERS, steps=(HI,), ending="hold")

OPEN: list[Chunk] = [BlockStart(0, "text"), TextDelta(0, "Hi")]
COUNTS = UsageReport(TokenUsage(4, 1))
GOOD_END: list[Chunk] = [BlockEnd(0, TextBlock("Hi")), COUNTS, Finish(STOP)]
GOOD_CHUNKS = OPEN + GOOD_END


class Example(BaseAdapter):
    dialect = OpenAIChat(terminal="done-sentinel")
    default_base_url = "http://api.example/v1"
