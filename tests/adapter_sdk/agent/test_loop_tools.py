"""The step loop and tools: when they run, what the model reads of them, where the loop stops."""

from __future__ import annotations

from typing import Any, Final

import pytest

from adapter_sdk import (
    BlockStart,
    Finish,
    FinishReason,
    TextBlock,
    Tool,
    ToolCallBlock,
    ToolCallDelta,
    ToolResultBlock,
    assistant,
    user,
)
from adapter_sdk.agent import CallNext, Decision, RequestError, ToolError, Turn
from adapter_sdk.session import MemoryLog

from .playing import BUSY, Play, Player, calls, loop_over, says, types_of
from .turning import CLOCK, end_of, tool

pytestmark = pytest.mark.anyio


async def test_tools_run_only_after_their_message_is_committed() -> None:
    log = MemoryLog()
    stood: list[list[str]] = []

    async def clock(arguments: dict[str, Any]) -> str:
        stood.append(types_of(log.events)[-2:])
        return f"noon in {arguments['zone']}"

    player = Player([calls(CLOCK), says("Noon.")])
    turn = await loop_over(log, player, tools=[tool("clock", clock)]).run_turn("Time?")
    assert stood == [["assistant/message", "tool/start"]]
    assert turn == Turn(1, "complete", assistant("Noon."))
    result = user(ToolResultBlock("c1", (TextBlock("noon in UTC"),)))
    assert player.asked[1] == (user("Time?"), assistant(CLOCK), result)
    assert player.requests[0].tools == (Tool("clock"),)
    (event,) = (e for e in log.events if e.type == "tool/result")
    sources = [e.seq for e in log.events if e.type in ("assistant/message", "tool/start")][:2]
    assert event.source_event_seqs == tuple(sources)


@pytest.mark.parametrize("kind", ["max-tokens", "error"])
async def test_calls_of_an_answer_that_was_cut_are_never_run(kind: str) -> None:
    ran: list[object] = []

    async def clock(arguments: dict[str, Any]) -> None:
        ran.append(arguments)

    reason = FinishReason(kind, BUSY if kind == "error" else None)
    script: Play = [
        BlockStart(0, "tool-call"),
        ToolCallDelta(0, "c1", "{", "clock"),
        Finish(reason),
    ]
    log = MemoryLog()
    await loop_over(log, Player([script]), tools=[tool("clock", clock)]).run_turn("Time?")
    assert ran == []
    assert "tool/start" not in types_of(log.events)


async def boom(_: dict[str, Any]) -> str:
    raise ZeroDivisionError("by nought")


async def refuse(_: dict[str, Any]) -> str:
    raise ToolError("not on a Sunday")


async def number(_: dict[str, Any]) -> Any:
    return 7


async def echo(arguments: dict[str, Any]) -> str:
    return str(arguments)


async def broken_text(_: dict[str, Any]) -> str:
    return "a\ud83d\udc4d\udcff"


async def nothing(_: dict[str, Any]) -> None:
    return None


TOOLS: Final = [
    tool("boom", boom),
    tool("refuse", refuse),
    tool("number", number),
    tool("echo", echo),
    tool("broken", broken_text),
    tool("nothing", nothing),
]
KNOWN: Final = "boom, refuse, number, echo, broken, nothing"


@pytest.mark.parametrize(
    ("name", "arguments", "text", "is_error"),
    [
        ("boom", "{}", "ZeroDivisionError: by nought", True),
        ("refuse", "{}", "not on a Sunday", True),
        ("number", "{}", "TypeError: 'int' object is not iterable", True),
        ("unknown", "{}", f"no tool is called 'unknown'; there are: {KNOWN}", True),
        ("echo", '{"a', "the arguments are no JSON object", True),
        ("echo", "[1]", "the arguments are no JSON object", True),
        ("echo", "[" * 100_000, "the arguments are no JSON object", True),
        ("echo", "", "{}", False),
        ("echo", '{"a":1}', "{'a': 1}", False),
        ("broken", "{}", "a\U0001f44d\ufffd", False),
        ("nothing", "{}", None, False),
    ],
)
async def test_whatever_a_tool_does_is_a_result_that_the_model_reads(
    name: str, arguments: str, text: str | None, *, is_error: bool
) -> None:
    asked: list[RequestError] = []

    async def note(payload: RequestError, _: CallNext) -> Decision:
        asked.append(payload)
        return None

    log = MemoryLog()
    player = Player([calls(ToolCallBlock("c1", name, arguments)), says("Sorry.")])
    turn = await loop_over(log, player, note, tools=TOOLS).run_turn("Go")
    content = () if text is None else (TextBlock(text),)
    assert player.asked[1][-1] == user(ToolResultBlock("c1", content, is_error=is_error))
    assert (turn.reason, asked) == ("complete", [])


async def test_calls_run_one_after_the_other_in_their_order() -> None:
    ran: list[str] = []

    async def note(arguments: dict[str, Any]) -> str:
        ran.append(arguments["n"])
        return ran[-1]

    two = [ToolCallBlock(f"c{n}", "note", f'{{"n":"{n}"}}') for n in (1, 2)]
    log = MemoryLog()
    await loop_over(log, Player([calls(*two), says("x")]), tools=[tool("note", note)]).run_turn(
        "Go"
    )
    assert ran == ["1", "2"]
    assert types_of(log.events).count("tool/result") == 2


async def test_a_model_that_calls_for_ever_is_stopped_at_the_limit() -> None:
    log = MemoryLog()
    scripts = [calls(ToolCallBlock(f"c{n}", "echo", "{}")) for n in range(9)]
    player = Player(scripts)
    turn = await loop_over(log, player, tools=TOOLS, max_steps=3).run_turn("Go")
    assert (turn.reason, len(player.requests)) == ("step-limit", 3)
    assert end_of(log) == {"turn": 1, "reason": "step-limit"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tools": [tool("a", echo), tool("a", boom)]}, "tools: each name once"),
        ({"max_steps": 0}, "max_steps: a whole number of 1 or more"),
        ({"max_steps": True}, "max_steps: a whole number of 1 or more"),
    ],
)
async def test_a_loop_that_cannot_work_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        loop_over(MemoryLog(), Player([]), **options)
