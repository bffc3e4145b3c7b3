"""A request becomes the JSON body of a message. Unset options are left out, never null."""

from __future__ import annotations

from ..._dialect import Json
from ..._request import LlmRequest, Tool
from .._said import system_text
from ._turns import wire_turns

_TOOL_CHOICES = {"auto": "auto", "none": "none", "required": "any"}


def messages_body(request: LlmRequest, *, default_max_tokens: int) -> dict[str, Json]:
    """Return the body: model, cap, system text, turns, options and tools.

    Args:
        request: What is asked; its reasoning effort is the caller's to place.
        default_max_tokens: The cap where the request names none.

    Raises:
        LlmError: UNSUPPORTED_CONTENT for a block in a turn that cannot carry it.
    """
    body: dict[str, Json] = {
        "model": request.model,
        "max_tokens": request.max_tokens or default_max_tokens,
    }
    system = system_text(request.messages)
    if system:
        body["system"] = [{"type": "text", "text": system}]
    body["messages"] = wire_turns(request.messages)
    body["stream"] = True
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if request.stop:
        body["stop_sequences"] = list(request.stop)
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice is not None:
            body["tool_choice"] = _tool_choice(request.tool_choice)
    return body


def _tool(tool: Tool) -> Json:
    wire: dict[str, Json] = {"name": tool.name}
    if tool.description:
        wire["description"] = tool.description
    wire["input_schema"] = dict(tool.parameters)
    if tool.strict is not None:
        wire["strict"] = tool.strict
    return wire


def _tool_choice(choice: str) -> Json:
    if choice in _TOOL_CHOICES:
        return {"type": _TOOL_CHOICES[choice]}
    return {"type": "tool", "name": choice}
