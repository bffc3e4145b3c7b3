"""What the tests of the step loop share: a listener, a tool, a call of it, and how a turn ended."""

from __future__ import annotations

from typing import Any, Final

from adapter_sdk import Tool, ToolCallBlock
from adapter_sdk.agent import AgentTool, CallNext, Decision, RequestError
from adapter_sdk.session import MemoryLog

CLOCK: Final = ToolCallBlock("c1", "clock", '{"zone":"UTC"}')


def end_of(log: MemoryLog) -> dict[str, Any]:
    event = log.events[-1]
    assert event.type == "turn/end"
    return dict(event.data)


async def always_retry(_: RequestError, __: CallNext) -> Decision:
    return "retry"


def tool(name: str, run: Any) -> AgentTool:
    return AgentTool(Tool(name), run)
