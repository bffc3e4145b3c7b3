"""Sweeps: variants say the same, samples are repeatable, a failing split shrinks to its core."""

from __future__ import annotations

import json
import zlib

import pytest

from conformance._case import Case
from conformance._case_file import shipped_cases
from conformance._lanes import Means
from conformance._sweep import body_of, smallest_failing_cuts, sweeps, with_body
from conformance._target import load_target
from conformance._variants import VARIANTS

BODY = (
    b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n'
    b"data: [DONE]\n\n"
)
CALL = (
    b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"ls"}}]}}]}\n\n'  # noqa: E501 - why: one event a line
    b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"arguments":"{}"}}]}}]}\n\n'  # noqa: E501 - why: the same
)


def variant(name: str) -> bytes | None:
    return next(v for v in VARIANTS if v.name == name).apply(BODY)


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        pytest.param("CRLF line ends", BODY.replace(b"\n", b"\r\n"), id="crlf"),
        pytest.param("CR line ends", BODY.replace(b"\n", b"\r"), id="cr"),
        pytest.param("comments between the events", b": ping\n\ndata: ", id="comments"),
        pytest.param("no space after data:", b'data:{"choices"', id="no-space"),
        pytest.param("a byte order mark", b"\xef\xbb\xbfdata: ", id="byte-order-mark"),
        pytest.param("an unknown key first", b'data: {"x_unknown":', id="unknown-key"),
    ],
)
def test_a_framing_variant_changes_the_bytes(name: str, begins: bytes) -> None:
    changed = variant(name)

    assert changed is not None
    assert changed.startswith(begins)
    assert changed != BODY


def test_gzip_holds_the_same_bytes() -> None:
    changed = variant("gzip")

    assert changed is not None
    assert zlib.decompress(changed, zlib.MAX_WBITS | 16) == BODY


def payloads(body: bytes | None) -> list[object]:
    assert body is not None
    texts = [event.removeprefix(b"data: ") for event in body.split(b"\n\n") if event]
    return [text if text == b"[DONE]" else json.loads(text) for text in texts]


def test_the_finish_moves_onto_the_last_text() -> None:
    first = payloads(variant("the finish on the last text"))[0]

    assert first == {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}


def test_the_finish_is_there_twice() -> None:
    changed = payloads(variant("the finish twice"))

    assert changed[1] == changed[2]
    assert len(changed) == 5


def test_usage_moves_onto_the_finish() -> None:
    changed = payloads(variant("usage on the finish"))

    assert len(changed) == 3
    assert isinstance(changed[1], dict)
    assert changed[1]["usage"] == {"prompt_tokens": 1, "completion_tokens": 1}


def test_a_continuation_loses_its_id() -> None:
    blanked = next(v for v in VARIANTS if v.name == "blank ids on continuations").apply(CALL)

    second = payloads(blanked)[1]
    assert isinstance(second, dict)
    call = second["choices"][0]["delta"]["tool_calls"][0]
    assert (call["id"], call["function"]["name"]) == ("", "")


@pytest.mark.parametrize(
    ("cuts", "guilty"),
    [
        pytest.param(range(1, 50), {17}, id="one-cut"),
        pytest.param(range(1, 50), {3, 40}, id="two-together"),
        pytest.param([5], {5}, id="nothing-to-leave-out"),
    ],
)
def test_a_failing_split_shrinks_to_the_cuts_that_matter(cuts: range, guilty: set[int]) -> None:
    assert set(smallest_failing_cuts(list(cuts), lambda some: guilty <= set(some))) == guilty


def good_case() -> Case:
    return next(
        c for c in shipped_cases() if c.id == "finish_mapping/last_text_rides_finish_chunk_dropped"
    )


def test_a_sweep_tells_which_variant_and_what_differs() -> None:
    case = with_body(good_case(), body_of(good_case()))
    wrong = (
        case.expect.message.model_copy(update={"text": "other"}) if case.expect.message else None
    )
    broken = case.model_copy(update={"expect": case.expect.model_copy(update={"message": wrong})})

    found = sweeps([broken], load_target("deepseek"), Means(), extent="smoke", seed=1)
    differences = {sweep.check.id: sweep.run() for sweep in found}

    crlf = differences["sse_framing/variant_crlf_line_ends"]
    assert [str(d) for d in crlf] == [
        f"{case.id} with CRLF line ends: text: expected 'other', got 'Hello you'"
    ]
    cut = differences["sse_framing/every_two_way_split"]
    assert "a cut at byte" in str(cut[0])
