"""Ask a model to think, and give its signed thoughts back with the next turn.
When: a conversation goes on after reasoning; a provider refuses or forgets thoughts without proof.
The proof is in the message's `replay_state`. Store it as JSON; never read or change it.
"""

import json
from dataclasses import replace
from typing import Any

import anyio

from adapter_sdk import LlmRequest, collect, user
from adapter_sdk.testing import Exchange, FaultServer, Send
from reference_adapters.pi import PiAdapter

SIGNATURE = "RXJrQg=="
THINKING = {"type": "thinking", "thinking": "", "signature": ""}
EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 9}}},
    {"type": "content_block_start", "index": 0, "content_block": THINKING},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "thinking_delta", "thinking": "12 · 12"},
    },
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "signature_delta", "signature": SIGNATURE},
    },
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "144"}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]
STREAM = (("content-type", "text/event-stream"),)
ANSWER = Exchange(
    200, STREAM, steps=tuple(Send(b"data: " + json.dumps(e).encode() + b"\n\n") for e in EVENTS)
)
ASK = LlmRequest(
    model="claude-sonnet-4-5", messages=(user("What is 12 · 12?"),), reasoning_effort="low"
)


async def main() -> None:
    told: list[str] = []
    with FaultServer([ANSWER] * 3) as server:
        async with PiAdapter(
            profile="anthropic", base_url=server.base_url, api_key="any", tell=told.append
        ) as claude:
            answer = (await collect(claude.stream(ASK))).message
            stored = replace(answer, replay_state=json.loads(json.dumps(answer.replay_state)))
            spoiled = replace(answer, replay_state={"version": 0})
            for before in (stored, spoiled):
                turns = (*ASK.messages, before, user("And halved?"))
                await collect(claude.stream(replace(ASK, messages=turns)))
        first, signed, neutral = (json.loads(request.body) for request in server.requests)

    assert first["thinking"]["type"] == "enabled"
    assert [block.type for block in answer.content] == ["reasoning", "text"]
    thought = {"type": "thinking", "thinking": "12 · 12", "signature": SIGNATURE}
    text = {"type": "text", "text": "144"}
    assert signed["messages"][1]["content"] == [thought, text]
    # State of another version, model or adapter fails no call: its message goes without thoughts.
    assert neutral["messages"][1]["content"] == [text]
    assert told == ["messages[1]: its replay state is left out: it is of another adapter"]
    print(f"the second request carried the thought and its signature {SIGNATURE!r}")
    print(f"the third did without: {told[0]}")


if __name__ == "__main__":
    anyio.run(main)
