"""The step loop and its log: one turn at a time, and what the log refuses."""

from __future__ import annotations

from typing import Any

import pytest

from adapter_sdk import ToolCallBlock
from adapter_sdk.agent import StepLoop
from adapter_sdk.session import InvariantError, LogClosedError, LosslessError, MemoryLog, recover

from .playing import Player, calls, half, loop_over, says
from .turning import end_of, tool

pytestmark = pytest.mark.anyio


async def test_a_second_turn_at_once_is_refused_and_harms_the_first_in_nothing() -> None:
    log = MemoryLog()
    refused: list[str] = []
    box: list[StepLoop] = []

    async def another(_: dict[str, Any]) -> None:
        try:
            await box[0].run_turn("Me too")
        except RuntimeError as error:
            refused.append(str(error))

    two = Player([calls(ToolCallBlock("c1", "another", "{}")), says("x")])
    box.append(loop_over(log, two, tools=[tool("another", another)]))
    assert (await box[0].run_turn("Hi")).reason == "complete"
    assert refused == ["turn 1 is open: wait for it, or recover the log"]


async def test_a_log_that_was_not_recovered_is_refused() -> None:
    log = MemoryLog()
    log.append("turn/start", {"turn": 1})
    loop = loop_over(log, Player([says("x")]))
    with pytest.raises(RuntimeError, match="recover the log"):
        await loop.run_turn("Hi")
    recover(log)
    assert (await loop.run_turn("Hi")).turn == 2


async def test_words_that_json_would_lose_are_refused() -> None:
    log = MemoryLog()
    loop = loop_over(log, Player([says("x")]))
    with pytest.raises(LosslessError):
        await loop.run_turn("\ud83d")
    assert end_of(log) == {"turn": 1, "reason": "fault"}
    assert (await loop.run_turn("Hi")).reason == "complete"


async def test_a_log_that_fails_in_the_turn_says_so_itself() -> None:
    log = MemoryLog()
    player = Player([[*half("x"), log.close, *says("y")[2:]]])
    with pytest.raises(LogClosedError, match="the log is closed"):
        await loop_over(log, player).run_turn("Hi")
    assert player.closed == 1


async def test_an_invariant_of_the_products_that_breaks_ends_the_turn() -> None:
    def quiet(events: Any) -> list[str]:
        return ["too loud"] if any(e.type == "assistant/message" for e in events) else []

    log = MemoryLog(invariants=[quiet])
    with pytest.raises(InvariantError, match="too loud"):
        await loop_over(log, Player([says("x")])).run_turn("Hi")
    assert end_of(log) == {"turn": 1, "reason": "fault"}
    assert log.events[-2].type == "step/end"
