"""A stream that is cut anywhere never passes as complete, through any profile of the catalogue.

It may pass where all the evidence is there and only what follows it is missing; then it says
exactly what the whole stream says.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

import pytest

from adapter_sdk import LlmRequest, user
from adapter_sdk.testing import Ending, Exchange, Send
from reference_adapters.pi import PiAdapter, PiProfiles, Route

from .playing import Told, play

PROFILES: Final = PiProfiles().routes
EVENT_STREAM: Final = (("content-type", "text/event-stream"),)

ARGUMENTS: Final = '{"path":"é"}'


def events(*payloads: Any, named: bool = False) -> bytes:
    lines = []
    for payload in payloads:
        if isinstance(payload, str):
            lines.append(f"data: {payload}\n\n")
            continue
        name = f"event: {payload['type']}\n" if named else ""
        lines.append(f"{name}data: {json.dumps(payload, ensure_ascii=False)}\n\n")
    return "".join(lines).encode()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": "c1", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


CHAT: Final = events(
    delta(reasoning_content="Hm."),
    delta(content="Grüße"),
    delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "ls", "arguments": ""}}]),
    delta(tool_calls=[{"index": 0, "function": {"arguments": ARGUMENTS}}]),
    delta(finish="tool_calls"),
    {"id": "c1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 9}},
    "[DONE]",
)

_MESSAGE: Final = {
    "type": "message",
    "id": "m1",
    "content": [{"type": "output_text", "text": "Grüße"}],
}
_CALL: Final = {
    "type": "function_call",
    "id": "f1",
    "call_id": "a",
    "name": "ls",
    "arguments": ARGUMENTS,
}
RESPONSES: Final = events(
    {"type": "response.output_item.added", "output_index": 0, "item": {**_MESSAGE, "content": []}},
    {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Grüße"},
    {"type": "response.output_item.done", "output_index": 0, "item": _MESSAGE},
    {"type": "response.output_item.added", "output_index": 1, "item": {**_CALL, "arguments": ""}},
    {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": ARGUMENTS},
    {"type": "response.output_item.done", "output_index": 1, "item": _CALL},
    {
        "type": "response.completed",
        "response": {
            "id": "r1",
            "status": "completed",
            "output": [_MESSAGE, _CALL],
            "usage": {"input_tokens": 3, "output_tokens": 9},
        },
    },
    named=True,
)

MESSAGES: Final = events(
    {"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Grüße"}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "a", "name": "ls", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": ARGUMENTS},
    },
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
    named=True,
)

STREAMS: Final = {
    "openai-completions": CHAT,
    "openai-responses": RESPONSES,
    "anthropic-messages": MESSAGES,
}

# What a stream of a route holds when its evidence is complete.
EVIDENCE: Final = {
    "finish-reason": b'"finish_reason": "tool_calls"}]}\n\n',
    "done-sentinel": b"data: [DONE]\n\n",
    "openai-responses": RESPONSES[-2:],
    "anthropic-messages": b'{"type": "message_stop"}\n\n',
}


def evidence_of(route: Route) -> bytes:
    return EVIDENCE[route.compat.get("terminal", route.api)]


def played(route: Route, bodies: list[bytes], ending: Ending) -> list[Told]:
    exchanges = [
        Exchange(200, EVENT_STREAM, steps=(Send(body),) if body else (), ending=ending)
        for body in bodies
    ]
    request = LlmRequest(model=next(iter(route.models)), messages=(user("Hi"),))
    return play(route.api, exchanges, profile=route.name, profiles=PiProfiles(), request=request)


@pytest.mark.parametrize("route", PROFILES.values(), ids=PROFILES)
def test_the_whole_stream_is_complete(route: Route) -> None:
    (told,) = played(route, [STREAMS[route.api]], "eof")
    assert told == Told(
        text="Grüße",
        calls=(("ls", ARGUMENTS),),
        finish="tool-calls",
        usage=(3, 9),
        failure=None,
    )


# A clean end is the one that looks most like a good one; a broken connection is told to all
# profiles of a protocol in the same way.
EVERY_OFFSET: Final = ("deepseek", "openai-responses", "anthropic", "openrouter")
CUTS: Final = [(name, "eof") for name in PROFILES] + [
    (name, "cut") for name in ("deepseek", "openai-responses", "anthropic")
]


@pytest.mark.parametrize(("name", "ending"), CUTS)
def test_a_stream_that_is_cut_anywhere_is_not_complete(name: str, ending: Ending) -> None:
    route = PROFILES[name]
    body = STREAMS[route.api]
    (complete,) = played(route, [body], "eof")
    complete_from = body.index(evidence_of(route)) + len(evidence_of(route))
    if route.api == "openai-responses":
        complete_from = len(body)
    # Every offset up to the evidence where a protocol is seen first, and near the evidence; some
    # of the others, for the profiles of a protocol share its decoder.
    step = 1 if name in EVERY_OFFSET else 5
    near = range(complete_from - 40, complete_from)
    offsets = sorted({*range(0, complete_from, step), *near, *range(complete_from, len(body), 7)})
    told = played(route, [body[:offset] for offset in offsets], ending)
    for offset, one in zip(offsets, told, strict=True):
        if offset < complete_from:
            assert one.failure is not None, (
                f"cut at {offset}: {body[max(0, offset - 40) : offset]!r}"
            )
            assert one.failure.code in ("STREAM_CLOSED", "TRANSPORT"), one.failure
            assert one.calls == ()
        else:
            assert replace(one, usage=None) == replace(complete, usage=None)


def test_every_protocol_has_a_profile_here() -> None:
    assert {route.api for route in PROFILES.values()} == set(STREAMS)
    assert {type(PiAdapter.declaration(name)).__name__ for name in PROFILES} == {"Declaration"}
