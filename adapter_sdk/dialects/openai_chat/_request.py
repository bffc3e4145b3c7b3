"""A request becomes the JSON body of a chat completion. Unset options are left out, never null."""

from __future__ import annotations

from collections.abc import Iterable

from ..._content import ImageBlock, TextBlock, ToolCallBlock, ToolResultBlock
from ..._dialect import Json
from ..._messages import Message
from ..._request import LlmRequest, Tool
from .._said import NO_OUTPUT, data_url, system_text, text_only


def chat_body(
    request: LlmRequest, *, system_role: str = "system", reasoning_field: str | None = None
) -> dict[str, Json]:
    """Return the body: model, messages, options, tools, and the stream switches.

    Args:
        request: What is asked; its reasoning effort is the caller's to place.
        system_role: ``system`` or ``developer``.
        reasoning_field: Where an assistant turn carries its reasoning back, or None to leave
            it out, which providers that do not know such a field need.

    Raises:
        LlmError: UNSUPPORTED_CONTENT for an image outside a user turn or a tool result.
    """
    body: dict[str, Json] = {
        "model": request.model,
        "messages": chat_messages(
            request.messages, system_role=system_role, reasoning_field=reasoning_field
        ),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if request.stop:
        body["stop"] = list(request.stop)
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice is not None:
            body["tool_choice"] = _tool_choice(request.tool_choice)
    return body


def _tool(tool: Tool) -> Json:
    function: dict[str, Json] = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = dict(tool.parameters)
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}


def _tool_choice(choice: str) -> Json:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def chat_messages(
    messages: Iterable[Message], *, system_role: str = "system", reasoning_field: str | None = None
) -> list[Json]:
    """Return the wire's messages: system text first, each tool result a message of its own."""
    messages = tuple(messages)
    system = system_text(messages)
    wire: list[Json] = [{"role": system_role, "content": system}] if system else []
    images: list[ImageBlock] = []
    for message in messages:
        if message.role == "user":
            _add_user(message, wire, images)
        elif message.role == "assistant":
            _flush_images(wire, images)
            wire.append(_assistant(message, reasoning_field))
    _flush_images(wire, images)
    return wire


def _add_user(message: Message, wire: list[Json], images: list[ImageBlock]) -> None:
    own = [block for block in message.content if isinstance(block, (TextBlock, ImageBlock))]
    results = [block for block in message.content if isinstance(block, ToolResultBlock)]
    if own:
        _flush_images(wire, images)
        wire.append({"role": "user", "content": _user_content(own)})
    for result in results:
        text = "".join(block.text for block in result.content if isinstance(block, TextBlock))
        images.extend(block for block in result.content if isinstance(block, ImageBlock))
        wire.append(
            {"role": "tool", "tool_call_id": result.tool_call_id, "content": text or NO_OUTPUT}
        )


def _flush_images(wire: list[Json], images: list[ImageBlock]) -> None:
    """Images of consecutive tool results follow them in one user message."""
    if images:
        wire.append({"role": "user", "content": [_image(image) for image in images]})
        images.clear()


def _user_content(blocks: list[TextBlock | ImageBlock]) -> Json:
    if all(isinstance(block, TextBlock) for block in blocks):
        return "".join(block.text for block in blocks if isinstance(block, TextBlock))
    return [
        _image(block) if isinstance(block, ImageBlock) else {"type": "text", "text": block.text}
        for block in blocks
    ]


def _image(image: ImageBlock) -> Json:
    return {"type": "image_url", "image_url": {"url": data_url(image)}}


def _assistant(message: Message, reasoning_field: str | None) -> Json:
    wire: dict[str, Json] = {"role": "assistant", "content": text_only(message)}
    reasoning = "".join(block.text for block in message.content if block.type == "reasoning")
    if reasoning and reasoning_field is not None:
        wire[reasoning_field] = reasoning
    calls = [block for block in message.content if isinstance(block, ToolCallBlock)]
    if calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
    return wire
