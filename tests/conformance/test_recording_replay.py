"""Every recording, played to the DeepSeek adapter, ends as the table of outcomes says.

In process through respx, in process through the SDK's own scripted client at three ways to
split the bytes, and a dozen over a socket. Waiting takes no time: the clock is virtual.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import anyio
import httpx
import pytest
import respx
from typing_extensions import override

from adapter_sdk import (
    BlockAssembler,
    Chunk,
    Finish,
    LlmRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    UsageReport,
    user,
)
from adapter_sdk._classify import classify_body, classify_payload
from adapter_sdk.testing import (
    FaultServer,
    Split,
    byte_by_byte,
    run_virtual,
    scripted_client,
    whole,
)
from conformance._recording import exchange_of, load_recording, recording_names
from conformance._recording_values import Recording
from reference_adapters.deepseek import DeepSeekAdapter

Backend: TypeAlias = Literal["asyncio", "trio"]
Outcome: TypeAlias = dict[str, Any]

TABLE: Final[dict[str, Outcome]] = tomllib.loads(
    Path(__file__).with_name("recorded_outcomes.toml").read_text(encoding="utf-8")
)
RECORDINGS: Final = {name: load_recording(name) for name in recording_names()}
REPLAYED: Final = [name for name, outcome in TABLE.items() if "not_replayed" not in outcome]
REFUSED: Final = [
    name for name, it in RECORDINGS.items() if it.status is not None and not 200 <= it.status < 300
]

# What the table says beside the outcome itself.
_ASIDE: Final = frozenset({"not_replayed", "in_band_code", "said"})
# A longer text stands in the table by its head, its length and its hash.
_LONG: Final = 200
# Byte by byte only where it takes milliseconds.
_SMALL_BYTES: Final = 8 * 1024
# In process these are virtual seconds: what is held open ends here.
_IDLE_S: Final = 5.0

BASE_URL: Final = "http://recorded.invalid/v1"
REQUEST: Final = LlmRequest(model="deepseek-v4-flash", messages=(user("Hi"),))

both_backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])


def expected(name: str) -> Outcome:
    return {key: value for key, value in TABLE[name].items() if key not in _ASIDE}


def observed(chunks: list[Chunk]) -> Outcome:
    """What the caller was told, in the words of the table."""
    assembler = BlockAssembler()
    for chunk in chunks:
        assembler.add(chunk)
    last = chunks[-1] if chunks else None
    told: Outcome = {"outcome": "left"}
    kept: list[list[str]] = []
    if isinstance(last, Finish) and last.failure is not None:
        told = {
            "outcome": "failure",
            **{
                key: value
                for key in ("code", "status", "provider_retry_after_ms", "request_id")
                if (value := getattr(last.failure, key)) is not None
            },
        }
    elif isinstance(last, Finish):
        told = {"outcome": "success", "finish": last.reason.kind}
        kept = [
            [block.id, block.name, block.arguments]
            for block in assembler.message().content
            if block.type == "tool-call"
        ]
    begun = _calls_of_deltas(chunks)
    usage = [chunk.usage for chunk in chunks if isinstance(chunk, UsageReport)]
    parts: Outcome = {
        "text": _in_short("".join(c.text for c in chunks if isinstance(c, TextDelta))),
        "reasoning": _in_short("".join(c.text for c in chunks if isinstance(c, ReasoningDelta))),
        "tools": kept,
        "cut_tools": [] if kept == begun else begun,
        "usage": {
            key: value
            for report in usage
            for key in report.__slots__
            if (value := getattr(report, key)) is not None
        },
    }
    return told | {key: value for key, value in parts.items() if value}


def _calls_of_deltas(chunks: list[Chunk]) -> list[list[str]]:
    calls: dict[int, list[str]] = {}
    for chunk in chunks:
        if isinstance(chunk, ToolCallDelta):
            call = calls.setdefault(chunk.index, [chunk.id, "", ""])
            call[1] += chunk.name or ""
            call[2] += chunk.arguments_delta
    return list(calls.values())


def _in_short(text: str) -> str | Outcome:
    if len(text) <= _LONG:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"head": text[:48], "length": len(text), "sha256": digest}


async def read(adapter: DeepSeekAdapter, name: str) -> list[Chunk]:
    """All chunks of one call; the caller of a recording that was left leaves at its last text."""
    leaves_at = expected(name)["text"] if TABLE[name]["outcome"] == "left" else None
    chunks: list[Chunk] = []
    async with adapter.stream(REQUEST) as stream:
        async for chunk in stream:
            chunks.append(chunk)
            if leaves_at is not None and observed(chunks).get("text") == leaves_at:
                break
    return chunks


def assert_as_recorded(name: str, chunks: list[Chunk]) -> None:
    assert observed(chunks) == expected(name)
    said = TABLE[name].get("said")
    if said is not None:
        last = chunks[-1]
        assert isinstance(last, Finish)
        assert last.failure is not None
        assert said in last.failure.message


# ---- in process, through respx ------------------------------------------------------------


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


# ---- in process, through the scripted client ----------------------------------------------

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


# ---- in process, with the recorded silences -----------------------------------------------

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


# ---- over a socket ------------------------------------------------------------------------

ON_A_SOCKET: Final = [
    "derived/after_the_head_reset",
    "derived/json_short_of_its_length",
    "litellm/chat_cut_upstream_sigkill",
    "litellm/chat_err_rate_limited",
    "llamacpp/chat_client_close",
    "llamacpp/chat_cut_graceful_stop",
    "llamacpp/chat_cut_sigkill",
    "llamacpp/chat_cut_sigkill_unread_data",
    "llamacpp/chat_err_context_overflow",
    "llamacpp/chat_inband_error_kv_full_1",
    "llamacpp/chat_stream_empty",
    "llamacpp/chat_stream_expect_100",
    "llamacpp/chat_stream_reasoning_text_tool",
    "llamacpp/chat_stream_tools_two_calls",
    "llamacpp/chat_text",
    "nginx/chat_close_before_headers_444",
    "nginx/chat_err_307",
    "nginx/chat_err_502_html",
    "nginx/chat_stream_gzip",
    "synthetic/deepseek_429_http_date",
    "synthetic/empty_204",
]
# Real time, for what is held open. Elsewhere the limit must not fire on a busy machine.
_HELD_IDLE_S: Final = 0.2


@pytest.mark.anyio
@pytest.mark.parametrize("name", ON_A_SOCKET)
async def test_a_recording_ends_as_recorded_over_a_socket(name: str) -> None:
    it = RECORDINGS[name]
    idle_s = _HELD_IDLE_S if TABLE[name].get("code") == "TIMEOUT" else _IDLE_S
    with FaultServer([exchange_of(it)]) as server:
        async with DeepSeekAdapter(
            base_url=server.base_url, api_key="sk-replay", idle_timeout=idle_s
        ) as adapter:
            chunks = await read(adapter, name)
        delivery = await anyio.to_thread.run_sync(lambda: server.delivered(0, within_s=1.0))

    assert_as_recorded(name, chunks)
    # A fault has to have gone out; behind a good end or an error frame the adapter may leave.
    assert delivery.state == "delivered" or (it.is_whole and delivery.state == "peer-left")
    assert len(server.requests) == 1


# ---- the classifier alone -----------------------------------------------------------------


@pytest.mark.parametrize("name", REFUSED)
def test_every_refusal_has_the_code_that_its_status_and_body_call_for(name: str) -> None:
    recording = RECORDINGS[name]
    assert recording.status is not None

    error = classify_body(
        status=recording.status,
        media_type=recording.media_type,
        body=recording.body,
        complete=recording.is_whole,
    )

    assert error.code == TABLE[name]["code"]
    assert TABLE[name].get("said", "") in error.message


@pytest.mark.parametrize("name", [name for name in TABLE if "in_band_code" in TABLE[name]])
def test_every_error_inside_a_good_answer_has_the_code_that_it_calls_for(name: str) -> None:
    lines = RECORDINGS[name].body.splitlines()
    payloads = [line.removeprefix(b"data:").strip() for line in lines if line.startswith(b"data:")]
    last = [payload for payload in payloads if payload != b"[DONE]"][-1]

    assert classify_payload(json.loads(last)).code == TABLE[name]["in_band_code"]


# ---- the table itself ---------------------------------------------------------------------


def test_the_table_has_every_recording_and_nothing_else() -> None:
    assert sorted(TABLE) == sorted(RECORDINGS)


def test_only_other_dialects_methods_and_endpoints_are_not_replayed() -> None:
    own = [
        name
        for name, recording in RECORDINGS.items()
        if recording.request.method == "POST"
        and recording.request.path.endswith("/chat/completions")
    ]

    assert set(own) <= set(REPLAYED)


@pytest.mark.parametrize(
    ("what", "origin", "matches"),
    [
        pytest.param("a 400", "recorded", lambda it: it.status == 400, id="400-recorded"),
        pytest.param("a 401", "recorded", lambda it: it.status == 401, id="401-recorded"),
        pytest.param("a 429", "recorded", lambda it: it.status == 429, id="429-recorded"),
        pytest.param("a 500", "recorded", lambda it: it.status == 500, id="500-recorded"),
        pytest.param("a 502", "recorded", lambda it: it.status == 502, id="502-recorded"),
        pytest.param("a 503", "recorded", lambda it: it.status == 503, id="503-recorded"),
        pytest.param("a 504", "recorded", lambda it: it.status == 504, id="504-recorded"),
        pytest.param("a 429", "synthetic", lambda it: it.status == 429, id="429-synthetic"),
        pytest.param(
            "a stream that was cut",
            "recorded",
            lambda it: it.media_type == "text/event-stream" and not it.is_whole,
            id="truncated-recorded",
        ),
        pytest.param(
            "a stream that was cut",
            "derived",
            lambda it: it.media_type == "text/event-stream" and not it.is_whole,
            id="truncated-derived",
        ),
        pytest.param(
            "an empty answer",
            "recorded",
            lambda it: TABLE[it.name].get("code") == "EMPTY_RESPONSE",
            id="empty-recorded",
        ),
        pytest.param(
            "an empty answer",
            "synthetic",
            lambda it: TABLE[it.name].get("code") == "EMPTY_RESPONSE",
            id="empty-synthetic",
        ),
    ],
)
def test_there_is_a_replayed_recording_of(
    what: str, origin: str, matches: Callable[[Recording], bool]
) -> None:
    found = [name for name in REPLAYED if RECORDINGS[name].origin == origin]

    assert any(matches(RECORDINGS[name]) for name in found), f"{what}, {origin}: none"
