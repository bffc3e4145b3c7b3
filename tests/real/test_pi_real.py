"""Every protocol of the profiles against llama.cpp's server, which speaks all three of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    AbortSignal,
    Chunk,
    Finish,
    FinishReason,
    LlmError,
    LlmRequest,
    OutputBlock,
    TextBlock,
    TextDelta,
    codes,
    collect,
)
from reference_adapters.pi import PiAdapter, PiProfiles, discover_models

from .answers import (
    ANSWERS,
    LOCKED,
    REFUSALS,
    WITH_TOOLS,
    finish_behind_tool_results,
    with_plain_ids,
)
from .bigram_model import TEXT_SAID, TOOL_SAID, Mode
from .connecting import PATIENT_SECONDS, QUESTION
from .llama_server import ServerOptions

if TYPE_CHECKING:
    from .conftest import StartServer
    from .llama_server import LlamaServer

pytestmark = [pytest.mark.real, pytest.mark.anyio]

APIS = ("openai-completions", "openai-responses", "anthropic-messages")


def connected(server: LlamaServer, api: str, **options: Any) -> PiAdapter:
    """Return an adapter for one protocol of ``server``."""
    base_url = server.base_url
    if api == "anthropic-messages":  # its path begins with the version itself
        base_url = base_url.removesuffix("/v1")
    compat = {"reasoning_field": "reasoning_content"} if api == "openai-completions" else {}
    row = {"api": api, "base_url": base_url, "compat": compat, "models": [{"id": "tiny"}]}
    return PiAdapter(
        profile="llama",
        profiles=PiProfiles({"llama": row}),
        **{"api_key": "sk-test", "idle_timeout": PATIENT_SECONDS, **options},
    )


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("mode", "request_", "content", "finish"), ANSWERS.values(), ids=ANSWERS)
async def test_an_answer_arrives_whole(
    shared_server: StartServer,
    api: str,
    mode: Mode,
    request_: LlmRequest,
    content: tuple[OutputBlock, ...],
    finish: FinishReason,
) -> None:
    async with connected(shared_server(mode, ServerOptions()), api) as adapter:
        completion = await collect(adapter.stream(request_))

    assert with_plain_ids(completion.message.content) == content
    assert completion.finish == finish
    assert completion.usage is not None
    assert completion.usage.output_tokens > 1


@pytest.mark.parametrize(
    ("max_tokens", "content"),
    [
        pytest.param(14, (TextBlock(TOOL_SAID),), id="inside-arguments-drops-the-call"),
        pytest.param(2, (TextBlock("One look o"),), id="inside-text"),
    ],
)
@pytest.mark.parametrize("api", ["openai-completions", "anthropic-messages"])
async def test_an_answer_that_the_limit_cuts_says_so(
    shared_server: StartServer, api: str, max_tokens: int, content: tuple[OutputBlock, ...]
) -> None:
    async with connected(shared_server(Mode.TOOL, ServerOptions()), api) as adapter:
        completion = await collect(adapter.stream(replace(WITH_TOOLS, max_tokens=max_tokens)))

    assert (completion.message.content, completion.finish) == (content, MAX_TOKENS)


async def test_the_responses_of_this_server_call_an_answer_completed_that_its_limit_cuts(
    shared_server: StartServer,
) -> None:
    """Its fault, and nothing on the wire shows it: other servers say ``incomplete``."""
    server = shared_server(Mode.TOOL, ServerOptions())
    async with connected(server, "openai-responses") as adapter:
        completion = await collect(adapter.stream(replace(WITH_TOOLS, max_tokens=2)))

    assert completion.message.content == (TextBlock("One look o"),)
    assert completion.finish == STOP
    assert completion.usage is not None
    assert completion.usage.output_tokens == 2


@pytest.mark.parametrize("api", APIS)
async def test_text_is_handed_on_as_it_comes(shared_server: StartServer, api: str) -> None:
    server = shared_server(Mode.TEXT, ServerOptions())
    async with connected(server, api) as adapter, adapter.stream(QUESTION) as stream:
        pieces = [chunk.text async for chunk in stream if isinstance(chunk, TextDelta)]

    assert "".join(pieces) == TEXT_SAID
    assert len(pieces) > 10


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("mode", [Mode.TOOLS2, Mode.THINKTOOL])
async def test_the_server_takes_its_answer_back_as_history(
    shared_server: StartServer, api: str, mode: Mode
) -> None:
    async with connected(shared_server(mode, ServerOptions()), api) as adapter:
        finish = await finish_behind_tool_results(adapter)

    assert finish == STOP


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("mode", "options", "request_", "code", "status"),
    [
        pytest.param(*REFUSALS["empty-answer"], codes.EMPTY_RESPONSE, 200, id="empty-answer"),
        pytest.param(*REFUSALS["wrong-key"], codes.AUTH, 401, id="wrong-key"),
        pytest.param(*REFUSALS["overflow"], codes.CONTEXT_WINDOW_EXCEEDED, 400, id="overflow"),
    ],
)
async def test_a_refusal_is_told_with_its_facts(
    shared_server: StartServer,
    api: str,
    mode: Mode,
    options: ServerOptions,
    request_: LlmRequest,
    code: str,
    status: int,
) -> None:
    async with connected(shared_server(mode, options), api) as adapter:
        with pytest.raises(LlmError) as caught:
            await collect(adapter.stream(request_))

    assert (caught.value.code, caught.value.failure.status) == (code, status)


@pytest.mark.parametrize("api", APIS)
async def test_a_right_key_is_let_in(shared_server: StartServer, api: str) -> None:
    server = shared_server(Mode.TEXT, LOCKED)
    async with connected(server, api, api_key="sk-of-somebody-else") as adapter:
        completion = await collect(adapter.stream(QUESTION))

    assert completion.message.text == TEXT_SAID


async def first_text(stream: Any, seen: list[Chunk]) -> None:
    """Read up to the first text."""
    async for chunk in stream:
        seen.append(chunk)
        if isinstance(chunk, TextDelta):
            return


@pytest.mark.parametrize("api", APIS)
async def test_a_server_that_is_killed_in_mid_answer_is_no_success(
    own_server: StartServer, api: str
) -> None:
    server = own_server(Mode.ENDLESS, ServerOptions(endless=True))
    seen: list[Chunk] = []
    async with connected(server, api) as adapter, adapter.stream(QUESTION) as stream:
        await first_text(stream, seen)
        server.kill9()
        seen += [chunk async for chunk in stream]

    assert isinstance(seen[-1], Finish)
    assert seen[-1].failure is not None
    assert (seen[-1].failure.code, seen[-1].failure.status) == (codes.TRANSPORT, 200)


@pytest.mark.parametrize("api", APIS)
async def test_a_server_that_freezes_ends_at_the_idle_limit(
    own_server: StartServer, api: str
) -> None:
    server = own_server(Mode.ENDLESS, ServerOptions(endless=True))
    seen: list[Chunk] = []
    async with (
        connected(server, api, idle_timeout=1.0) as adapter,
        adapter.stream(QUESTION) as stream,
    ):
        await first_text(stream, seen)
        server.stop()
        try:
            seen += [chunk async for chunk in stream]
        finally:
            server.resume()

    assert isinstance(seen[-1], Finish)
    assert seen[-1].failure is not None
    assert (seen[-1].failure.code, seen[-1].failure.status) == (codes.TIMEOUT, 200)


@pytest.mark.parametrize("api", APIS)
async def test_an_abort_frees_the_server(shared_server: StartServer, api: str) -> None:
    server = shared_server(Mode.ENDLESS, ServerOptions(endless=True))
    signal = AbortSignal()
    seen: list[Chunk] = []
    async with connected(server, api) as adapter, adapter.stream(QUESTION, signal) as stream:
        await first_text(stream, seen)
        signal.abort("enough")
        seen += [chunk async for chunk in stream]
        server.wait_for_idle()

    assert isinstance(seen[-1], Finish)
    assert seen[-1].failure is not None
    assert (seen[-1].failure.code, seen[-1].failure.message) == (codes.ABORTED, "enough")


async def test_the_server_lists_its_one_model_to_those_with_the_key(
    shared_server: StartServer,
) -> None:
    server = shared_server(Mode.TEXT, LOCKED)
    (found,) = await discover_models(base_url=server.base_url, key="sk-of-somebody-else")
    with pytest.raises(LlmError) as caught:
        await discover_models(base_url=server.base_url, key="sk-test")

    assert found.id
    assert (caught.value.code, caught.value.failure.status) == (codes.INVALID_CREDENTIAL, 401)
