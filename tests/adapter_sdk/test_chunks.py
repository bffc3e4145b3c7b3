"""Chunks, usage and finish reasons: their names, their fields and their rules."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    TOOL_CALLS,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    TokenUsage,
    ToolCallDelta,
    UsageReport,
)
from adapter_sdk._chunks import finish_with

FAILURE = LlmFailure(message="broke", code="SERVER")
ABORT = LlmFailure(message="stopped", code="ABORTED")


@pytest.mark.parametrize(
    ("chunk", "fields"),
    [
        pytest.param(
            BlockStart(0, "text"),
            {"index": 0, "block_type": "text", "type": "block-start"},
            id="block-start",
        ),
        pytest.param(
            TextDelta(1, "a"), {"index": 1, "text": "a", "type": "text-delta"}, id="text-delta"
        ),
        pytest.param(
            ReasoningDelta(1, "a"),
            {"index": 1, "text": "a", "type": "reasoning-delta"},
            id="reasoning-delta",
        ),
        pytest.param(
            ToolCallDelta(2, "c1"),
            {
                "index": 2,
                "id": "c1",
                "arguments_delta": "",
                "name": None,
                "type": "tool-call-delta",
            },
            id="tool-call-delta",
        ),
        pytest.param(
            BlockEnd(0, TextBlock("a")),
            {"index": 0, "block": TextBlock("a"), "type": "block-end"},
            id="block-end",
        ),
        pytest.param(
            UsageReport(TokenUsage(1, 2)),
            {"usage": TokenUsage(1, 2), "type": "usage"},
            id="usage",
        ),
        pytest.param(
            Finish(STOP), {"reason": STOP, "replay_state": None, "type": "finish"}, id="finish"
        ),
    ],
)
def test_a_chunk_has_the_name_and_fields_of_the_contract(
    chunk: Chunk, fields: dict[str, object]
) -> None:
    assert {field.name: getattr(chunk, field.name) for field in dataclasses.fields(chunk)} == fields
    assert (chunk, hash(chunk)) == (dataclasses.replace(chunk), hash(dataclasses.replace(chunk)))


@pytest.mark.parametrize(
    "chunk",
    [
        pytest.param(BlockStart(0, "text"), id="block-start"),
        pytest.param(BlockEnd(0, TextBlock("a")), id="block-end"),
        pytest.param(UsageReport(TokenUsage(1, 2)), id="usage"),
        pytest.param(Finish(STOP), id="finish"),
    ],
)
def test_what_comes_once_a_block_or_a_call_cannot_be_changed(chunk: Chunk) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        chunk.type = "other"  # type: ignore[assignment,misc]  # why: this is what must not work


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="both-totals"),
        pytest.param({"input_tokens": 0, "output_tokens": 0}, id="zeros"),
        pytest.param(
            {"cache_read_tokens": 0, "cache_write_tokens": 3, "reasoning_tokens": 9}, id="details"
        ),
    ],
)
def test_counts_are_whole_and_not_negative(fields: dict[str, int]) -> None:
    counts = {"input_tokens": 1, "output_tokens": 2, **fields}
    absent = dict.fromkeys(("cache_read_tokens", "cache_write_tokens", "reasoning_tokens"))
    assert dataclasses.asdict(TokenUsage(**counts)) == absent | counts


@pytest.mark.parametrize(
    "name",
    [
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "reasoning_tokens",
    ],
)
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(-1, id="negative"),
        pytest.param(1.0, id="float"),
        pytest.param(True, id="bool"),
        pytest.param("1", id="text"),
    ],
)
def test_a_count_that_is_none_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError) as caught:
        TokenUsage(**{"input_tokens": 1, "output_tokens": 2, name: value})
    assert str(caught.value) == f"TokenUsage.{name}: a whole number of 0 or more"


@pytest.mark.parametrize(
    ("kind", "failure"),
    [
        pytest.param("stop", None, id="stop"),
        pytest.param("tool-calls", None, id="tool-calls"),
        pytest.param("max-tokens", None, id="max-tokens"),
        pytest.param("pause", None, id="a-kind-of-tomorrow"),
        pytest.param("aborted", ABORT, id="aborted"),
        pytest.param("error", FAILURE, id="error"),
    ],
)
def test_a_finish_carries_a_failure_where_it_is_one(kind: str, failure: LlmFailure | None) -> None:
    assert Finish(FinishReason(kind, failure)).failure == failure


@pytest.mark.parametrize(
    ("kind", "failure"),
    [
        pytest.param("stop", FAILURE, id="a-good-end-with-a-failure"),
        pytest.param("pause", FAILURE, id="a-kind-of-tomorrow-with-a-failure"),
        pytest.param("error", None, id="an-error-without-one"),
        pytest.param("aborted", None, id="an-abort-without-one"),
    ],
)
def test_a_finish_that_contradicts_itself_is_refused(kind: str, failure: LlmFailure | None) -> None:
    with pytest.raises(ValueError) as caught:
        FinishReason(kind, failure)
    assert str(caught.value) == "FinishReason.failure: set for aborted and error, and only there"


def test_the_good_ends_are_constants() -> None:
    assert (STOP.kind, TOOL_CALLS.kind, MAX_TOKENS.kind) == ("stop", "tool-calls", "max-tokens")


@pytest.mark.parametrize(
    ("failure", "kind"),
    [pytest.param(ABORT, "aborted", id="abort"), pytest.param(FAILURE, "error", id="the-rest")],
)
def test_a_failure_becomes_the_terminal_chunk(failure: LlmFailure, kind: str) -> None:
    assert finish_with(failure) == Finish(FinishReason(kind, failure), None)
