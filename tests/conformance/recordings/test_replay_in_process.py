"""Every recording, played in process to the DeepSeek adapter, ends as the table of outcomes says.

Through respx, and through the SDK's own scripted client at three ways to split the bytes. Waiting
takes no time: the clock is virtual.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Final, Literal, TypeAlias

import anyio
import httpx
import pytest
import respx
from typing_extensions import override

from adapter_sdk import Chunk, Finish
from adapter_sdk.testing import Split, byte_by_byte, run_virtual, scripted_client, whole
from conformance._recording._file import exchange_of
from conformance._recording._values import Recording
from reference_adapters.deepseek import DeepSeekAdapter

from .outcomes import RECORDINGS, REPLAYED, assert_as_recorded, read

Backend: TypeAlias = Literal["asyncio", "trio"]

# Byte by byte only where it takes milliseconds.
_SMALL_BYTES: Final = 8 * 1024
# In process these are virtual seconds: what is held open ends here.
_IDLE_S: Final = 5.0

BASE_URL: Final = "http://recorded.invalid/v1"

both_backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])


# ---- through respx -----------------------------------------------------------------------


class RecordedBody(httpx.AsyncByteStream):
    """The body of a recording as httpx meets it: read by read, then its ending."""

    _BREAKS: Final[dict[str, Callable[[], httpx.TransportError]]] = {
        "fin": lambda: httpx.RemoteProtocolError("peer closed the connection in mid body"),
        "rst": lambda: httpx.ReadError(""),
    }

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        for data in self._recording.body_reads:
            yield data
        if self._recording.is_whole:
            return
        if self._recording.ending in self._BREAKS:
            raise self._BREAKS[self._recording.ending]()
        await anyio.Event().wait()  # open, and silent


def respx_answer(recording: Recording) -> httpx.Response | Exception:
    if recording.status is None:
        return httpx.RemoteProtocolError("peer closed the connection before it answered")
    lines = [(name.encode(), value.encode("latin-1")) for name, value in recording.headers]
    return httpx.Response(recording.status, headers=lines, stream=RecordedBody(recording))


@both_backends
@pytest.mark.parametrize("name", REPLAYED)
def test_a_recording_ends_as_recorded_through_respx(name: str, backend: Backend) -> None:
    async def call() -> tuple[list[Chunk], int]:
        with respx.mock(base_url=BASE_URL) as router:
            route = router.post("/chat/completions")
            route.side_effect = [respx_answer(RECORDINGS[name])]
            async with DeepSeekAdapter(
                base_url=BASE_URL, api_key="sk-replay", idle_timeout=_IDLE_S
            ) as adapter:
                return await read(adapter, name), route.call_count

    chunks, requests = run_virtual(backend, call)

    assert_as_recorded(name, chunks)
    assert requests == 1


# ---- through the scripted client ----------------------------------------------------------

SPLITS: Final[dict[str, Split | None]] = {
    "as-read": None,
    "whole": whole,
    "byte-by-byte": byte_by_byte,
}


def _adds_something(split: Split | None, recording: Recording) -> bool:
    """Whether a split differs from the one before it and is quick."""
    if split is byte_by_byte:
        return 1 < len(recording.body) < _SMALL_BYTES
    return split is None or len(recording.body_reads) > 1


@both_backends
@pytest.mark.parametrize(
    ("name", "split"),
    [
        pytest.param(name, split, id=f"{name}-{label}")
        for name in REPLAYED
        for label, split in SPLITS.items()
        if _adds_something(split, RECORDINGS[name])
    ],
)
def test_a_recording_ends_as_recorded_however_its_bytes_are_split(
    name: str, split: Split | None, backend: Backend
) -> None:
    async def call() -> tuple[list[Chunk], int, int]:
        scripted = scripted_client([exchange_of(RECORDINGS[name])], split=split)
        adapter = DeepSeekAdapter(
            base_url=BASE_URL,
            api_key="sk-replay",
            idle_timeout=_IDLE_S,
            http_client=scripted.client,
        )
        chunks = await read(adapter, name)
        await scripted.client.aclose()
        return chunks, len(scripted.requests), scripted.open_responses

    chunks, requests, left_open = run_virtual(backend, call)

    assert_as_recorded(name, chunks)
    assert (requests, left_open) == (1, 0)


# ---- with the recorded silences -----------------------------------------------------------

SLOW: Final = "llamacpp/chat_stream_slow_prompt_default"  # comments 30 s apart for 127 s
PROGRESS: Final = "llamacpp/chat_stream_slow_prompt_progress"  # events without text for 42 s
STOPPED: Final = "llamacpp/chat_stop_process_silence"  # 3 s of nothing in mid text
GATEWAY: Final = "nginx/chat_cut_read_timeout_midstream"  # 0.8 s of nothing, then a cut


@both_backends
@pytest.mark.parametrize(
    ("name", "idle_s", "progress_s", "code"),
    [
        pytest.param(SLOW, 31.0, None, None, id="comments re-arm the idle limit"),
        pytest.param(SLOW, 29.0, None, "TIMEOUT", id="the idle limit is shorter than a silence"),
        pytest.param(SLOW, 31.0, 120.0, "TIMEOUT", id="comments are no progress"),
        pytest.param(SLOW, 31.0, 130.0, None, id="text comes within the progress limit"),
        pytest.param(PROGRESS, 20.0, 40.0, "TIMEOUT", id="events without text are no progress"),
        pytest.param(PROGRESS, 20.0, 43.0, None, id="text comes after many events without it"),
        pytest.param(STOPPED, 2.9, None, "TIMEOUT", id="a process stops for longer than the limit"),
        pytest.param(STOPPED, 3.2, None, None, id="a process stops for less than the limit"),
        pytest.param(GATEWAY, 0.5, None, "TIMEOUT", id="our limit comes before the gateway's"),
        pytest.param(GATEWAY, 1.0, None, "TRANSPORT", id="the gateway's limit comes before ours"),
    ],
)
def test_recorded_silences_meet_the_limits(
    name: str, idle_s: float, progress_s: float | None, code: str | None, backend: Backend
) -> None:
    async def call() -> list[Chunk]:
        scripted = scripted_client([exchange_of(RECORDINGS[name], timed=True)])
        adapter = DeepSeekAdapter(
            base_url=BASE_URL,
            api_key="sk-replay",
            idle_timeout=idle_s,
            progress_timeout=progress_s,
            http_client=scripted.client,
        )
        chunks = await read(adapter, name)
        await scripted.client.aclose()
        return chunks

    last = run_virtual(backend, call)[-1]

    assert isinstance(last, Finish)
    assert (None if last.failure is None else last.failure.code) == code
