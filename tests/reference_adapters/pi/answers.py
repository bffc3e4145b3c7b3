"""What the tests of the three protocols share: a route of each, its request, a good answer."""

from __future__ import annotations

import json
from typing import Any, Final

from adapter_sdk import Finish, LlmRequest, user
from adapter_sdk.testing import Exchange, FaultServer, Send
from reference_adapters.pi import PiAdapter

KEY: Final = "sk-test-0123456789"
EVENT_STREAM: Final = (("content-type", "text/event-stream"),)
APIS: Final = ("openai-completions", "openai-responses", "anthropic-messages")

# Profile and model for each protocol, from the catalogue.
ROUTES: Final = {
    "openai-completions": ("openai", "gpt-5.1"),
    "openai-responses": ("openai-responses", "gpt-5.1"),
    "anthropic-messages": ("anthropic", "claude-sonnet-4-5"),
}


def events(*payloads: Any) -> tuple[Send, ...]:
    """Each payload as one event; a string goes out as it is."""
    return tuple(
        Send(b"data: " + (p if isinstance(p, str) else json.dumps(p)).encode() + b"\n\n")
        for p in payloads
    )


_RESPONSE: Final = {
    "id": "resp_1",
    "status": "completed",
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Hi"}],
        }
    ],
    "usage": {"input_tokens": 3, "output_tokens": 1},
}

_STEPS: Final[dict[str, tuple[Send, ...]]] = {
    "openai-completions": events(
        {"id": "c1", "choices": [{"index": 0, "delta": {"content": "Hi"}}]},
        {"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"id": "c1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}},
        "[DONE]",
    ),
    "openai-responses": events(
        {"type": "response.output_text.delta", "output_index": 0, "item_id": "msg_1",
         "content_index": 0, "delta": "Hi"},
        {"type": "response.completed", "response": _RESPONSE},
    ),
    "anthropic-messages": events(
        {"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0,
         "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"},
         "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ),
}  # fmt: skip


def good(api: str) -> Exchange:
    """The answer ``Hi`` of one protocol."""
    return Exchange(200, EVENT_STREAM, steps=_STEPS[api])


def request_to(api: str) -> LlmRequest:
    return LlmRequest(model=ROUTES[api][1], messages=(user("Say hi."),))


def adapter_to(api: str, server: FaultServer, **options: Any) -> PiAdapter:
    options = {"idle_timeout": 20.0, "api_key": KEY, **options}
    return PiAdapter(profile=ROUTES[api][0], base_url=server.base_url, **options)


async def finish_of(adapter: PiAdapter, request: LlmRequest) -> Finish:
    chunks = [chunk async for chunk in adapter.stream(request)]
    assert isinstance(chunks[-1], Finish)
    return chunks[-1]
