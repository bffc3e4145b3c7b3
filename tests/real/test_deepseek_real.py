"""The DeepSeek adapter against a server that it did not grow up with: what is said and refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    FinishReason,
    LlmError,
    LlmFailure,
    LlmRequest,
    OutputBlock,
    TextBlock,
    TextDelta,
    TokenUsage,
    Tool,
    collect,
)

from .answers import (
    ANSWERS,
    LOCKED,
    REFUSALS,
    WITH_TOOLS,
    finish_behind_tool_results,
    with_plain_ids,
)
from .bigram_model import ENDLESS_ROUND, TEXT_SAID, TOOL_SAID, Mode
from .connecting import QUESTION, connected
from .llama_server import ServerOptions

if TYPE_CHECKING:
    from .conftest import StartServer

pytestmark = [pytest.mark.real, pytest.mark.anyio]


@pytest.mark.parametrize(
    ("mode", "request_", "content", "finish", "options", "output_tokens"),
    [
        pytest.param(*ANSWERS["text"], ServerOptions(), 18, id="text"),
        pytest.param(
            *ANSWERS["reasoning-then-text"], ServerOptions(), 16, id="reasoning-then-text"
        ),
        pytest.param(*ANSWERS["text-then-a-call"], ServerOptions(), 21, id="text-then-a-call"),
        pytest.param(*ANSWERS["two-calls"], ServerOptions(), 34, id="two-calls"),
        pytest.param(
            *ANSWERS["reasoning-then-a-call"], ServerOptions(), 27, id="reasoning-then-a-call"
        ),
        pytest.param(
            Mode.TOOL,
            replace(WITH_TOOLS, max_tokens=14),
            (TextBlock(TOOL_SAID),),
            MAX_TOKENS,
            ServerOptions(),
            14,
            id="length-inside-arguments-drops-the-call",
        ),
        pytest.param(
            Mode.TOOL,
            replace(WITH_TOOLS, max_tokens=2),
            (TextBlock("One look o"),),
            MAX_TOKENS,
            ServerOptions(),
            2,
            id="length-inside-text",
        ),
        pytest.param(
            Mode.TEXT,
            replace(QUESTION, stop=("brûl",)),
            (TextBlock("Bytes become words: crème "),),
            STOP,
            ServerOptions(),
            7,
            id="stop-sequence",
        ),
        pytest.param(
            Mode.ENDLESS,
            QUESTION,
            (TextBlock((ENDLESS_ROUND * 40)[:1114]),),
            MAX_TOKENS,
            ServerOptions(context_tokens=256),
            236,
            id="context-full-in-mid-answer",
        ),
    ],
)
async def test_an_answer_arrives_whole(
    shared_server: StartServer,
    mode: Mode,
    options: ServerOptions,
    request_: LlmRequest,
    content: tuple[OutputBlock, ...],
    finish: FinishReason,
    output_tokens: int,
) -> None:
    async with connected(shared_server(mode, options)) as adapter:
        completion = await collect(adapter.stream(request_))

    assert with_plain_ids(completion.message.content) == content
    assert completion.finish == finish
    assert completion.usage is not None
    assert completion.usage.output_tokens == output_tokens


async def test_text_is_handed_on_as_it_comes(shared_server: StartServer) -> None:
    server = shared_server(Mode.TEXT, ServerOptions())
    async with connected(server) as adapter, adapter.stream(QUESTION) as stream:
        pieces = [chunk.text async for chunk in stream if isinstance(chunk, TextDelta)]

    assert "".join(pieces) == TEXT_SAID
    assert len(pieces) == 15  # 17 tokens, two of which end inside a character


async def test_a_prompt_seen_before_counts_as_read_from_the_cache(own_server: StartServer) -> None:
    async with connected(own_server(Mode.TEXT, ServerOptions())) as adapter:
        usages = [(await collect(adapter.stream(QUESTION))).usage for _ in range(2)]

    assert usages == [
        TokenUsage(input_tokens=20, output_tokens=18, cache_read_tokens=0),
        TokenUsage(input_tokens=1, output_tokens=18, cache_read_tokens=19),
    ]


@pytest.mark.parametrize("mode", [Mode.TOOLS2, Mode.THINKTOOL])
async def test_the_server_takes_its_answer_back_as_history(
    shared_server: StartServer, mode: Mode
) -> None:
    async with connected(shared_server(mode, ServerOptions())) as adapter:
        finish = await finish_behind_tool_results(adapter)

    assert finish == STOP


@pytest.mark.parametrize(
    ("mode", "options", "request_", "failure"),
    [
        pytest.param(
            *REFUSALS["empty-answer"],
            LlmFailure(
                message="the provider finished without any content",
                code="EMPTY_RESPONSE",
                status=200,
            ),
            id="empty-answer",
        ),
        pytest.param(
            *REFUSALS["wrong-key"],
            LlmFailure(message="Invalid API Key", code="AUTH", status=401),
            id="wrong-key",
        ),
        pytest.param(
            *REFUSALS["overflow"],
            LlmFailure(
                message="request (418 tokens) exceeds the available context size (256 tokens), "
                "try increasing it",
                code="CONTEXT_WINDOW_EXCEEDED",
                status=400,
            ),
            id="overflow",
        ),
        pytest.param(
            Mode.TEXT,
            ServerOptions(),
            replace(QUESTION, tools=(Tool("broken", "", {"type": "nonsense"}),)),
            LlmFailure(
                message="Unable to generate parser for this template. Automatic parser generation "
                "failed: JSON schema error at #: unrecognized type nonsense",
                code="INVALID_REQUEST",
                status=400,
            ),
            id="tool-with-a-broken-schema",
        ),
    ],
)
async def test_a_refusal_is_told_with_its_facts(
    shared_server: StartServer,
    mode: Mode,
    options: ServerOptions,
    request_: LlmRequest,
    failure: LlmFailure,
) -> None:
    async with connected(shared_server(mode, options)) as adapter:
        with pytest.raises(LlmError) as caught:
            await collect(adapter.stream(request_))

    assert caught.value.failure == failure


async def test_a_right_key_is_let_in(shared_server: StartServer) -> None:
    server = shared_server(Mode.TEXT, LOCKED)
    async with connected(server, api_key="sk-of-somebody-else") as adapter:
        completion = await collect(adapter.stream(QUESTION))

    assert completion.message.text == TEXT_SAID


async def test_a_server_that_loads_is_503_and_answers_when_it_has_loaded(
    own_server: StartServer,
) -> None:
    server = own_server(Mode.TEXT, ServerOptions(held=True))
    async with connected(server) as adapter:
        with pytest.raises(LlmError) as caught:
            await collect(adapter.stream(QUESTION))
        server.finish_loading()
        completion = await collect(adapter.stream(QUESTION))

    assert caught.value.failure == LlmFailure(message="Loading model", code="SERVER", status=503)
    assert completion.message.text == TEXT_SAID
