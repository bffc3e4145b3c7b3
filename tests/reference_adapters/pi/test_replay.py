"""What an answer carries for its own replay, and who may restore it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

import pytest

from adapter_sdk import (
    LlmRequest,
    Message,
    ReasoningBlock,
    TextBlock,
    collect,
    user,
)
from adapter_sdk.testing import Exchange, Scripted, run_virtual, scripted_client
from reference_adapters.pi import PiAdapter

from .answers import APIS, EVENT_STREAM, ROUTES, events, good, request_to

# A thinking block with its signature, then text.
SIGNED: Final = Exchange(
    200,
    EVENT_STREAM,
    steps=events(
        {"type": "message_start", "message": {"id": "msg_7", "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "Hm."},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "signature_delta", "signature": "c2ln"},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ),
)
REFUSED: Final = Exchange(500, body=b"{}")
ASK: Final = LlmRequest(model="claude-sonnet-4-5", messages=(user("Hi?"),))
WITH_SIGNATURE: Final = [
    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
    {"type": "text", "text": "Hi"},
]
NEUTRAL: Final = [{"type": "text", "text": "Hi"}]


def anthropic(scripted: Scripted, told: list[str]) -> PiAdapter:
    return PiAdapter(
        profile="anthropic", api_key="k", http_client=scripted.client, tell=told.append
    )


async def answer_and_replay(
    change: Any = None, *, other_adapter: bool = False, model: str = ASK.model
) -> tuple[Any, list[str]]:
    """What the second request says of the first one's answer, and what is told of it."""
    scripted = scripted_client([SIGNED, REFUSED])
    told: list[str] = []
    adapter = anthropic(scripted, told)
    answer = (await collect(adapter.stream(ASK))).message
    if change is not None:
        answer = change(answer)
    again = anthropic(scripted, told) if other_adapter else adapter
    turns = (*ASK.messages, answer, user("And now?"))
    async for _ in again.stream(LlmRequest(model=model, messages=turns)):
        pass
    await scripted.client.aclose()
    sent = json.loads(scripted.requests[1].content)["messages"][1]
    return sent["content"], told


@pytest.mark.parametrize(
    ("api", "response_id", "stop_reason"),
    [
        ("openai-completions", "c1", "stop"),
        ("openai-responses", "resp_1", "completed"),
        ("anthropic-messages", "m1", "end_turn"),
    ],
)
def test_an_answer_carries_ids_native_stop_reason_and_one_entry_a_block(
    api: str, response_id: str, stop_reason: str
) -> None:
    async def answers() -> list[Any]:
        scripted = scripted_client([good(api), good(api)])
        states = []
        for _ in range(2):
            adapter = PiAdapter(profile=ROUTES[api][0], api_key="k", http_client=scripted.client)
            states.append((await collect(adapter.stream(request_to(api)))).message.replay_state)
        await scripted.client.aclose()
        return states

    first, second = run_virtual("asyncio", answers)
    instances = [dict(state).pop("instance") for state in (first, second)]
    assert instances[0] != instances[1]
    assert {**first, "instance": ""} == {
        "version": 1,
        "dialect": {"openai-completions": "openai-chat"}.get(api, api),
        "response_id": response_id,
        "stop_reason": stop_reason,
        "blocks": [{}],
        "adapter": "pi",
        "instance": "",
        "model": ROUTES[api][1],
    }


def test_a_whole_document_in_place_of_a_stream_is_noted_too() -> None:
    document = {
        "id": "chat_9",
        "choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "length"}],
    }

    async def answer() -> Any:
        scripted = scripted_client([Exchange(200, body=json.dumps(document).encode())])
        adapter = PiAdapter(profile="groq", api_key="k", http_client=scripted.client)
        request = LlmRequest(model="llama-3.3-70b-versatile", messages=(user("Hi"),))
        message = (await collect(adapter.stream(request))).message
        await scripted.client.aclose()
        return message.replay_state

    state = run_virtual("asyncio", answer)
    assert (state["response_id"], state["stop_reason"], state["blocks"]) == (
        "chat_9",
        "length",
        [{}],
    )


def test_the_same_adapter_restores_its_own_signatures() -> None:
    assert run_virtual("asyncio", answer_and_replay) == (WITH_SIGNATURE, [])


def with_state(**changes: Any) -> Any:
    def changed(message: Message) -> Message:
        return replace(message, replay_state={**(message.replay_state or {}), **changes})

    return changed


LEFT_OUT: Final = "messages[1]: its replay state is left out: "


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        pytest.param(
            None, {"other_adapter": True}, "it is of another instance", id="another-adapter"
        ),
        pytest.param(
            None, {"model": "claude-haiku-4-5"}, "it is of another model", id="another-model"
        ),
        pytest.param(with_state(version=2), {}, "it is of another version", id="another-version"),
        pytest.param(
            with_state(adapter="x"), {}, "it is of another adapter", id="another-kind-of-adapter"
        ),
        pytest.param(
            with_state(dialect="openai-responses"),
            {},
            "it is of another dialect",
            id="another-dialect",
        ),
        pytest.param(
            with_state(blocks=[{}]), {}, "it does not fit the blocks of the message", id="too-few"
        ),
        pytest.param(
            with_state(blocks={}), {}, "it does not fit the blocks of the message", id="no-list"
        ),
        pytest.param(
            with_state(blocks=["x", {}]), {}, "an entry is no table", id="an-entry-of-text"
        ),
        pytest.param(
            lambda m: replace(m, replay_state=[1]), {}, "it is no table", id="no-table-at-all"
        ),
        pytest.param(
            lambda m: replace(m, replay_state={}), {}, "it is of another adapter", id="empty"
        ),
    ],
)
def test_unusable_state_degrades_its_message_and_says_so(
    change: Any, options: dict[str, Any], said: str
) -> None:
    content, told = run_virtual("asyncio", lambda: answer_and_replay(change, **options))
    assert content == NEUTRAL
    assert told == [LEFT_OUT + said]


def test_a_message_without_state_is_neutral_and_nothing_is_told() -> None:
    content, told = run_virtual(
        "asyncio", lambda: answer_and_replay(lambda m: replace(m, replay_state=None))
    )
    assert (content, told) == (NEUTRAL, [])


def test_state_survives_json() -> None:
    def stored(message: Message) -> Message:
        return replace(message, replay_state=json.loads(json.dumps(message.replay_state)))

    assert run_virtual("asyncio", lambda: answer_and_replay(stored)) == (WITH_SIGNATURE, [])


def test_without_a_listener_the_degradation_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def call() -> None:
        scripted = scripted_client([REFUSED])
        adapter = PiAdapter(profile="anthropic", api_key="k", http_client=scripted.client)
        foreign = Message("assistant", (ReasoningBlock("Hm."), TextBlock("Hi")), {"version": 1})
        turns = (*ASK.messages, foreign, user("100% sure?"))
        async for _ in adapter.stream(replace(ASK, messages=turns)):
            pass
        await scripted.client.aclose()

    run_virtual("asyncio", call)
    assert [(r.name, r.levelname, r.getMessage()) for r in caplog.records if "pi" in r.name] == [
        ("adapter_sdk.pi", "WARNING", LEFT_OUT + "it is of another adapter")
    ]


def detail(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"delta": {"reasoning_details": [fields]}}]}


DETAILED: Final = Exchange(
    200,
    EVENT_STREAM,
    steps=events(
        detail(type="reasoning.text", index=0, text="Hm"),
        detail(type="reasoning.text", index=0, text=".", signature=None),
        detail(type="reasoning.text", index=0, signature="c2ln"),
        detail(type="reasoning.encrypted", index=1, data="AA"),
        detail(type="reasoning.encrypted", index=1, data="BB", id="r1"),
        {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]},
        "[DONE]",
    ),
)
WHOLE_DETAILS: Final = [
    {"type": "reasoning.text", "index": 0, "text": "Hm.", "signature": "c2ln"},
    {"type": "reasoning.encrypted", "index": 1, "data": "AABB", "id": "r1"},
]
DETAILED_DOCUMENT: Final = Exchange(
    200,
    (("content-type", "application/json"),),
    body=json.dumps(
        {
            "choices": [
                {
                    "message": {"content": "Hi", "reasoning_details": WHOLE_DETAILS},
                    "finish_reason": "stop",
                }
            ]
        }
    ).encode(),
)


@pytest.mark.parametrize(
    ("profile", "model", "answer", "sent"),
    [
        pytest.param(
            *("openrouter", "anthropic/claude-sonnet-4.5", DETAILED, WHOLE_DETAILS), id="stream"
        ),
        pytest.param(
            *("openrouter", "anthropic/claude-sonnet-4.5", DETAILED_DOCUMENT, WHOLE_DETAILS),
            id="document",
        ),
        pytest.param(
            *("groq", "llama-3.3-70b-versatile", DETAILED, None), id="a-route-that-takes-none"
        ),
    ],
)
def test_reasoning_details_go_back_whole_where_the_route_takes_them(
    profile: str, model: str, answer: Exchange, sent: Any
) -> None:
    async def replayed() -> Any:
        scripted = scripted_client([answer, REFUSED])
        adapter = PiAdapter(profile=profile, api_key="k", http_client=scripted.client)
        ask = LlmRequest(model=model, messages=(user("Hi?"),))
        message = (await collect(adapter.stream(ask))).message
        again = replace(ask, messages=(*ask.messages, message, user("And?")))
        async for _ in adapter.stream(again):
            pass
        await scripted.client.aclose()
        return json.loads(scripted.requests[1].content)["messages"][1]

    assert run_virtual("asyncio", replayed).get("reasoning_details") == sent


@pytest.mark.parametrize(
    "details",
    [
        pytest.param([{"text": float("nan")}], id="nan"),
        pytest.param([{"text": "\ud800"}], id="half-a-surrogate-pair"),
        pytest.param([{1, 2}], id="no-json"),
        pytest.param("text", id="no-list"),
        pytest.param([], id="empty"),
    ],
)
def test_details_that_cannot_be_sent_do_not_fail_the_call(details: Any) -> None:
    async def replayed() -> Any:
        scripted = scripted_client([DETAILED, REFUSED])
        adapter = PiAdapter(profile="openrouter", api_key="k", http_client=scripted.client)
        ask = LlmRequest(model="qwen/qwen3-coder", messages=(user("Hi?"),))
        message = with_state(reasoning_details=details)(
            (await collect(adapter.stream(ask))).message
        )
        async for _ in adapter.stream(replace(ask, messages=(*ask.messages, message, user("?")))):
            pass
        await scripted.client.aclose()
        return json.loads(scripted.requests[1].content)["messages"][1]

    assert run_virtual("asyncio", replayed) == {
        "role": "assistant",
        "content": "Hi",
        "reasoning": "Hm.",
    }


@pytest.mark.parametrize(
    "details",
    [
        pytest.param(b'"x"', id="a-text"),
        pytest.param(b"[7]", id="a-number-in-it"),
        pytest.param(b'[{"type":"t","index":0,"text":"\xff"}]', id="a-byte-that-is-no-utf-8"),
        pytest.param(b'[{"type":"t","index":0,"text":null},{"index":0}]', id="holes"),
        pytest.param(b"null", id="null"),
    ],
)
def test_details_without_sense_do_not_fail_the_answer(details: bytes) -> None:
    delta = b'{"content":"Hi","reasoning_details":' + details + b"}"
    line = b'data: {"choices":[{"delta":' + delta + b',"finish_reason":"stop"}]}\n\n'

    async def answer() -> str:
        scripted = scripted_client([Exchange(200, EVENT_STREAM, body=line)])
        adapter = PiAdapter(profile="openrouter", api_key="k", http_client=scripted.client)
        ask = LlmRequest(model="qwen/qwen3-coder", messages=(user("Hi?"),))
        message = (await collect(adapter.stream(ask))).message
        await scripted.client.aclose()
        return message.text

    assert run_virtual("asyncio", answer) == "Hi"


@pytest.mark.parametrize("api", APIS)
def test_a_failed_call_carries_no_state(api: str) -> None:
    async def finish() -> Any:
        scripted = scripted_client([REFUSED])
        adapter = PiAdapter(profile=ROUTES[api][0], api_key="k", http_client=scripted.client)
        chunks = [chunk async for chunk in adapter.stream(request_to(api))]
        await scripted.client.aclose()
        return chunks[-1]

    assert run_virtual("asyncio", finish).replay_state is None
