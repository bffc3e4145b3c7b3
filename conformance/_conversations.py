"""The named reference conversations: what the caller of a case asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from adapter_sdk import (
    ImageBlock,
    LlmRequest,
    Message,
    ReasoningBlock,
    TextBlock,
    Tool,
    ToolCallBlock,
    ToolResultBlock,
    assistant,
    system,
    user,
)

# One pixel, transparent: the smallest PNG that every decoder takes.
PIXEL: Final = ImageBlock(
    "image/png",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
)

LIST_FILES: Final = Tool(
    name="ls",
    description="List the files of a folder.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string", "description": "A folder."}},
        "required": ["path"],
    },
)


def _text(model: str) -> LlmRequest:
    return LlmRequest(model=model, messages=(system("Be brief."), user("Say hi.")))


def _tools(model: str) -> LlmRequest:
    turns: tuple[Message, ...] = (
        system("Be brief."),
        user("What is in this folder?"),
        assistant("I look.", ToolCallBlock("call_1", "ls", '{"path":"."}')),
        user(ToolResultBlock("call_1", (TextBlock("notes.txt"),))),
        assistant(TextBlock("One file."), ToolCallBlock("call_2", "ls", '{"path":"/tmp"}')),
        user(ToolResultBlock("call_2")),
    )
    return LlmRequest(model=model, messages=turns, tools=(LIST_FILES,))


def _reasoning(model: str) -> LlmRequest:
    return LlmRequest(
        model=model,
        messages=(
            user("Is 91 prime?"),
            assistant(ReasoningBlock("7 times 13 is 91."), TextBlock("No.")),
            user("And 97?"),
        ),
    )


def _images(model: str) -> LlmRequest:
    return LlmRequest(model=model, messages=(user("What is this?", PIXEL),))


CONVERSATIONS: Final[Mapping[str, Callable[[str], LlmRequest]]] = {
    "text": _text,
    "tools": _tools,
    "reasoning": _reasoning,
    "images": _images,
}
