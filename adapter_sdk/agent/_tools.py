"""Tools that the model may call: what they are, and how one call is run."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .. import ImageBlock, TextBlock, Tool, ToolCallBlock, ToolResultBlock
from .._failure import printable_message

ToolOutput: TypeAlias = str | Sequence[TextBlock | ImageBlock] | None


class ToolError(Exception):
    """Raised by a tool that could not do what it was asked; the model reads the message."""


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool and what runs it.

    Attributes:
        tool: What the model is told.
        run: Called with the decoded arguments; returns text, blocks, or None for no output.
            What it raises becomes the result that the model reads, and ends nothing.
    """

    tool: Tool
    run: Callable[[dict[str, Any]], Awaitable[ToolOutput]]


async def run_call(tools: Mapping[str, AgentTool], call: ToolCallBlock) -> ToolResultBlock:
    """Run one call and return its result; every failure is a result too."""
    tool = tools.get(call.name)
    if tool is None:
        known = ", ".join(tools) or "none"
        return _error(call, f"no tool is called {call.name!r}; there are: {known}")
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):  # no JSON; nested too deep
        arguments = None
    if not isinstance(arguments, dict):
        return _error(call, "the arguments are no JSON object")
    try:
        return ToolResultBlock(call.id, _content(await tool.run(arguments)))
    except ToolError as error:
        return _error(call, str(error) or "the tool failed")
    except Exception as error:  # noqa: BLE001 - why: a tool is foreign code, and the model may try another way
        message = printable_message(str(error), otherwise="no message")
        return _error(call, f"{type(error).__name__}: {message}")


def _content(output: ToolOutput) -> tuple[TextBlock | ImageBlock, ...]:
    if output is None:
        return ()
    blocks = (TextBlock(output),) if isinstance(output, str) else tuple(output)
    for block in blocks:
        if not isinstance(block, (TextBlock, ImageBlock)):
            raise TypeError(f"a tool returns text, blocks or None, not {type(block).__name__}")
    return tuple(TextBlock(_text(b.text)) if isinstance(b, TextBlock) else b for b in blocks)


def _text(text: str) -> str:
    # A log and a wire are UTF-8: what a tool read with ``surrogateescape`` is shown as broken.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _error(call: ToolCallBlock, text: str) -> ToolResultBlock:
    return ToolResultBlock(call.id, (TextBlock(_text(text)),), is_error=True)
