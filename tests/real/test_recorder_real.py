"""The recorder in front of a live server: what was recorded is what came, and it replays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import anyio
import pytest

from adapter_sdk import Finish, ReasoningDelta, TextDelta, ToolCallDelta, UsageReport
from adapter_sdk.testing import FaultServer, Send
from conformance._fixtures_lint import linted
from conformance._record._proxy import Recorder
from conformance._record._store import Store
from conformance._record._upstream import upstream_of
from conformance._recording._file import (
    exchange_of,
    load_recording,
    recording_names,
    recording_text,
)
from reference_adapters.deepseek import DeepSeekAdapter

from .answers import TOOLS
from .bigram_model import Mode
from .connecting import PATIENT_SECONDS, QUESTION
from .llama_server import LlamaServer, ServerOptions

if TYPE_CHECKING:
    from pathlib import Path

    from adapter_sdk import Chunk, LlmRequest
    from conformance._recording._values import Recording

    from .conftest import StartServer

pytestmark = [pytest.mark.real, pytest.mark.anyio]

KEY: Final = "sk-real-0123456789abcdef"
LOCKED: Final = ServerOptions(api_key=KEY)


@contextmanager
def recorder_before(server: LlamaServer, folder: Path) -> Iterator[str]:
    """Record one exchange, which the block makes; yield the base URL of the recorder."""
    parts = urlsplit(server.base_url)
    upstream = upstream_of(f"{parts.scheme}://{parts.netloc}{parts.path}")
    store = Store(folder, "live")
    with Recorder(upstream, store, port=0, tell=lambda _: None) as recorder:
        serving = Thread(target=recorder.serve, args=(1,), daemon=True)
        serving.start()
        yield recorder.base_url
        serving.join(PATIENT_SECONDS)
    assert not serving.is_alive()
    assert recorder.lost == recorder.damaged == 0


def only_recording(folder: Path) -> Recording:
    (name,) = recording_names(folder)
    return load_recording(name, folder)


async def told(base_url: str, request: LlmRequest, *, api_key: str = KEY) -> list[Chunk]:
    async with (
        DeepSeekAdapter(
            base_url=base_url,
            api_key=api_key,
            idle_timeout=PATIENT_SECONDS,
            progress_timeout=None,
        ) as adapter,
        adapter.stream(request) as stream,
    ):
        return [chunk async for chunk in stream]


async def replayed(recording: Recording, request: LlmRequest) -> list[Chunk]:
    with FaultServer([exchange_of(recording)]) as server:
        return await told(server.base_url, request)


def content(chunks: list[Chunk]) -> list[Chunk]:
    kinds = (TextDelta, ReasoningDelta, ToolCallDelta, UsageReport, Finish)
    return [chunk for chunk in chunks if isinstance(chunk, kinds)]


@pytest.mark.parametrize(
    ("mode", "request_", "api_key", "status"),
    [
        pytest.param(Mode.TEXT, QUESTION, KEY, 200, id="text"),
        pytest.param(Mode.THINK, QUESTION, KEY, 200, id="reasoning"),
        pytest.param(Mode.TOOLS2, replace(QUESTION, tools=TOOLS), KEY, 200, id="tools"),
        pytest.param(Mode.TEXT, QUESTION, "sk-wrong-0123456789abc", 401, id="a-refused-key"),
    ],
)
async def test_what_was_recorded_replays_byte_for_byte(
    shared_server: StartServer,
    tmp_path: Path,
    mode: Mode,
    request_: LlmRequest,
    api_key: str,
    status: int,
) -> None:
    server = shared_server(mode, LOCKED)
    with recorder_before(server, tmp_path) as base_url:
        live = await told(base_url, request_, api_key=api_key)
    recording = only_recording(tmp_path)
    exchange = exchange_of(recording)
    again = await replayed(recording, request_)

    assert (recording.origin, recording.status, recording.is_whole) == ("recorded", status, True)
    assert recording.request.path == "/v1/chat/completions"
    sent = [step.data for step in exchange.steps if isinstance(step, Send)]
    assert b"".join(sent) == recording.body
    assert tuple(sent) == recording.body_reads
    assert content(again) == content(live)
    assert api_key not in recording_text(recording)
    assert linted(tmp_path).problems == ()


async def test_what_came_through_the_recorder_is_what_the_server_says_without_it(
    shared_server: StartServer, tmp_path: Path
) -> None:
    server = shared_server(Mode.TEXT, LOCKED)
    direct = await told(server.base_url, QUESTION)
    with recorder_before(server, tmp_path) as base_url:
        through = await told(base_url, QUESTION)

    def text(chunks: list[Chunk]) -> str:
        return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))

    assert text(through) == text(direct)
    assert [type(chunk) for chunk in through] == [type(chunk) for chunk in direct]


async def test_a_server_that_dies_is_recorded_as_it_died(
    own_server: StartServer, tmp_path: Path
) -> None:
    server = own_server(Mode.ENDLESS, ServerOptions(endless=True, api_key=KEY))
    with recorder_before(server, tmp_path) as base_url:
        live = await cut_after_some_text(base_url, server)
    recording = only_recording(tmp_path)
    again = await replayed(recording, QUESTION)

    assert recording.ending in ("fin", "rst")
    assert (recording.status, recording.is_whole) == (200, False)
    assert live[-1].reason.kind == again[-1].reason.kind == "error"  # type: ignore[union-attr]
    assert [c for c in content(again) if isinstance(c, TextDelta)] == [
        c for c in content(live) if isinstance(c, TextDelta)
    ]


async def cut_after_some_text(base_url: str, server: LlamaServer) -> list[Chunk]:
    chunks: list[Chunk] = []
    async with (
        DeepSeekAdapter(
            base_url=base_url, api_key=KEY, idle_timeout=PATIENT_SECONDS, progress_timeout=None
        ) as adapter,
        adapter.stream(QUESTION) as stream,
    ):
        async for chunk in stream:
            chunks.append(chunk)
            if len(chunks) == 6:
                await anyio.to_thread.run_sync(server.kill9)
    return chunks


async def test_a_frozen_server_is_recorded_as_silence(
    own_server: StartServer, tmp_path: Path
) -> None:
    server = own_server(Mode.ENDLESS, ServerOptions(endless=True, api_key=KEY))
    with recorder_before(server, tmp_path) as base_url:
        async with (
            DeepSeekAdapter(
                base_url=base_url, api_key=KEY, idle_timeout=0.5, progress_timeout=None
            ) as adapter,
            adapter.stream(QUESTION) as stream,
        ):
            chunks = []
            async for chunk in stream:
                chunks.append(chunk)
                if len(chunks) == 6:
                    await anyio.to_thread.run_sync(server.stop)
        server.resume()
    recording = only_recording(tmp_path)

    assert chunks[-1].reason.failure.code == "TIMEOUT"  # type: ignore[union-attr]
    assert recording.ending in ("client-close", "client-rst")
    assert exchange_of(recording).ending == "hold"
    assert recording.end_at_ms - recording.reads[-1].at_ms >= 400
