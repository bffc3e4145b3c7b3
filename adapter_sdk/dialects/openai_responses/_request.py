"""A request becomes the JSON body of a response. Unset options are left out, never null."""

from __future__ import annotations

from ..._codes import UNSUPPORTED_OPTION
from ..._dialect import Json
from ..._failure import local_error
from ..._request import LlmRequest, Tool
from .._said import system_text
from ._input import input_items


def responses_body(request: LlmRequest) -> dict[str, Json]:
    """Return the body: model, instructions, input, options, tools, and the switches.

    Args:
        request: What is asked; its reasoning effort is the caller's to place. A tool whose
            ``strict`` is None follows the provider's own default, which is strict here.

    Raises:
        LlmError: UNSUPPORTED_OPTION for ``stop``, which this wire does not have;
            UNSUPPORTED_CONTENT for a block in a turn that cannot carry it.
    """
    if request.stop:
        raise local_error(UNSUPPORTED_OPTION, "stop: the responses wire has no such option")
    body: dict[str, Json] = {"model": request.model}
    system = system_text(request.messages)
    if system:
        body["instructions"] = system
    body["input"] = input_items(request.messages)
    body["stream"] = True
    body["store"] = False
    if request.max_tokens is not None:
        body["max_output_tokens"] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice is not None:
            body["tool_choice"] = _tool_choice(request.tool_choice)
    return body


def _tool(tool: Tool) -> Json:
    wire: dict[str, Json] = {"type": "function", "name": tool.name}
    if tool.description:
        wire["description"] = tool.description
    wire["parameters"] = dict(tool.parameters)
    if tool.strict is not None:
        wire["strict"] = tool.strict
    return wire


def _tool_choice(choice: str) -> Json:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "name": choice}
