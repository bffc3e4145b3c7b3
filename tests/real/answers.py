"""What the models are asked, the answers that arrive whole, and what the server refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from adapter_sdk import (
    STOP,
    TOOL_CALLS,
    FinishReason,
    LlmRequest,
    OutputBlock,
    ReasoningBlock,
    TextBlock,
    Tool,
    ToolCallBlock,
    ToolResultBlock,
    collect,
    user,
)

from .bigram_model import (
    CLOCK_ARGUMENTS,
    TEXT_SAID,
    THINK_REASONED,
    THINK_SAID,
    THINKTOOL_REASONED,
    TOOL_SAID,
    WEATHER_ARGUMENTS,
    Mode,
)
from .connecting import QUESTION
from .llama_server import ServerOptions

if TYPE_CHECKING:
    from adapter_sdk import Adapter

TOOLS: Final = (
    Tool(
        "get_weather",
        "The sky over a city.",
        {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
        },
    ),
    Tool(
        "get_time",
        "The clock in a zone.",
        {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
    ),
)
WITH_TOOLS: Final = replace(QUESTION, tools=TOOLS)
WEATHER_CALL: Final = ToolCallBlock("id-0", "get_weather", WEATHER_ARGUMENTS)
CLOCK_CALL: Final = ToolCallBlock("id-1", "get_time", CLOCK_ARGUMENTS)

# Mode and request, then the blocks and the finish that come of them.
ANSWERS: Final[dict[str, tuple[Mode, LlmRequest, tuple[OutputBlock, ...], FinishReason]]] = {
    "text": (Mode.TEXT, QUESTION, (TextBlock(TEXT_SAID),), STOP),
    "reasoning-then-text": (
        Mode.THINK,
        QUESTION,
        (ReasoningBlock(THINK_REASONED), TextBlock(THINK_SAID)),
        STOP,
    ),
    "text-then-a-call": (Mode.TOOL, WITH_TOOLS, (TextBlock(TOOL_SAID), WEATHER_CALL), TOOL_CALLS),
    "two-calls": (Mode.TOOLS2, WITH_TOOLS, (WEATHER_CALL, CLOCK_CALL), TOOL_CALLS),
    "reasoning-then-a-call": (
        Mode.THINKTOOL,
        WITH_TOOLS,
        (ReasoningBlock(THINKTOOL_REASONED), WEATHER_CALL),
        TOOL_CALLS,
    ),
}

LOCKED: Final = ServerOptions(api_key="sk-of-somebody-else")
# Mode, server and request of a call that ends as a failure.
REFUSALS: Final[dict[str, tuple[Mode, ServerOptions, LlmRequest]]] = {
    "empty-answer": (Mode.EMPTY, ServerOptions(), QUESTION),
    "wrong-key": (Mode.TEXT, LOCKED, QUESTION),
    "overflow": (
        Mode.TEXT,
        ServerOptions(context_tokens=256),
        replace(QUESTION, messages=(user("x" * 400),)),
    ),
}


def with_plain_ids(content: tuple[object, ...]) -> tuple[object, ...]:
    """Number the calls: the server draws their ids at random; they only have to differ."""
    calls = [block.id for block in content if isinstance(block, ToolCallBlock)]
    assert all(calls)
    return tuple(
        replace(block, id=f"id-{calls.index(block.id)}")
        if isinstance(block, ToolCallBlock)
        else block
        for block in content
    )


async def finish_behind_tool_results(adapter: Adapter) -> FinishReason:
    """Answer the calls of a first answer, send all of it as history, return how that call ends."""
    first = await collect(adapter.stream(WITH_TOOLS))
    results = tuple(
        ToolResultBlock(block.id, (TextBlock("sunny, noon"),))
        for block in first.message.content
        if isinstance(block, ToolCallBlock)
    )
    assert results
    history = (*QUESTION.messages, first.message, user(*results))
    return (await collect(adapter.stream(LlmRequest(model="tiny", messages=history)))).finish
