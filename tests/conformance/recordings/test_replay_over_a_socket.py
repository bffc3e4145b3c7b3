"""Recordings of every kind of ending, played to the DeepSeek adapter over a socket."""

from __future__ import annotations

from typing import Final

import anyio
import pytest

from adapter_sdk.testing import FaultServer
from conformance._recording._file import exchange_of
from reference_adapters.deepseek import DeepSeekAdapter

from .outcomes import RECORDINGS, TABLE, assert_as_recorded, read

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
_IDLE_S: Final = 5.0


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
