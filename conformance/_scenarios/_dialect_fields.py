"""What each dialect requires of a request's body. Facts of the wire, as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from adapter_sdk import LlmRequest, ToolCallBlock, ToolResultBlock

from .._judge import Difference, shown

Checks = Callable[[Any, LlmRequest, str], Iterator[Difference]]


def _field(body: Any, name: str, wanted: object, of: str) -> Iterator[Difference]:
    got = body.get(name, "no such field") if isinstance(body, dict) else type(body).__name__
    if got != wanted or type(got) is not type(wanted):
        yield Difference(f"{name} of {of}", shown(wanted), shown(got))


def _filled(body: Any, name: str, of: str) -> Iterator[Difference]:
    got = body.get(name) if isinstance(body, dict) else None
    if not isinstance(got, list) or not got:
        yield Difference(f"{name} of {of}", "an array with entries", shown(got))


def _chat(body: Any, request: LlmRequest, of: str) -> Iterator[Difference]:
    yield from _field(body, "model", request.model, of)
    yield from _field(body, "stream", True, of)
    yield from _filled(body, "messages", of)
    if isinstance(body, dict) and isinstance(body.get("messages"), list):
        yield from _chat_messages(body["messages"], request, of)
        yield from _chat_tools(body, request, of)


def _chat_messages(messages: list[Any], request: LlmRequest, of: str) -> Iterator[Difference]:
    known: set[str] = set()
    sent: list[tuple[str, str, str]] = []
    answered: list[str] = []
    for number, message in enumerate(messages):
        where = f"messages[{number}] of {of}"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            yield Difference(where, "an object with a role", shown(message))
            continue
        for call in message.get("tool_calls", ()):
            function = call.get("function", {})
            sent.append((call.get("id"), function.get("name"), function.get("arguments")))
            known.add(call.get("id"))
        if message["role"] == "tool":
            answered.append(message.get("tool_call_id", ""))
            if answered[-1] not in known:
                wanted = "the id of a call before it"
                yield Difference(f"tool_call_id of {where}", wanted, shown(answered[-1]))
    calls, results = _calls_and_results(request)
    if sent != calls:
        yield Difference(f"tool calls of {of}", f"as they were given: {calls}", shown(str(sent)))
    if answered != results:
        yield Difference(f"tool results of {of}", str(results), str(answered))


def _chat_tools(body: dict[str, Any], request: LlmRequest, of: str) -> Iterator[Difference]:
    wanted = [(tool.name, dict(tool.parameters)) for tool in request.tools]
    functions = [tool.get("function", {}) for tool in body.get("tools", ())]
    got = [(function.get("name"), function.get("parameters")) for function in functions]
    if got != wanted:
        yield Difference(f"tools of {of}", shown(wanted), shown(got))
    if not wanted and "tools" in body:
        yield Difference(f"tools of {of}", "left out where there are none", "an empty array")


def _calls_and_results(request: LlmRequest) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Return the calls and the ids of the results that a conversation holds, in order."""
    blocks = [block for message in request.messages for block in message.content]
    calls = [(b.id, b.name, b.arguments) for b in blocks if isinstance(b, ToolCallBlock)]
    return calls, [b.tool_call_id for b in blocks if isinstance(b, ToolResultBlock)]


def _differs(what: str, wanted: object, got: object, of: str) -> Iterator[Difference]:
    if got != wanted:
        yield Difference(f"{what} of {of}", shown(str(wanted)), shown(str(got)))


def _objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; other entries are told by what is missing then."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _tool_list(
    body: dict[str, Any], request: LlmRequest, schema: str, of: str
) -> Iterator[Difference]:
    wanted = [(tool.name, dict(tool.parameters)) for tool in request.tools]
    got = [(tool.get("name"), tool.get(schema)) for tool in _objects(body.get("tools"))]
    yield from _differs("tools", wanted, got, of)
    if not wanted and "tools" in body:
        yield Difference(f"tools of {of}", "left out where there are none", "an empty array")


def _responses(body: Any, request: LlmRequest, of: str) -> Iterator[Difference]:
    yield from _field(body, "model", request.model, of)
    yield from _field(body, "stream", True, of)
    yield from _filled(body, "input", of)
    if not isinstance(body, dict):
        return
    calls, results = _calls_and_results(request)
    items = _objects(body.get("input"))
    sent = [
        (item.get("call_id"), item.get("name"), item.get("arguments"))
        for item in items
        if item.get("type") == "function_call"
    ]
    answered = [i.get("call_id") for i in items if i.get("type") == "function_call_output"]
    yield from _differs("function calls", calls, sent, of)
    yield from _differs("function call outputs", results, answered, of)
    yield from _tool_list(body, request, "parameters", of)


def _anthropic(body: Any, request: LlmRequest, of: str) -> Iterator[Difference]:
    yield from _field(body, "model", request.model, of)
    yield from _field(body, "stream", True, of)
    yield from _filled(body, "messages", of)
    limit = body.get("max_tokens") if isinstance(body, dict) else None
    if type(limit) is not int or limit < 1:
        yield Difference(f"max_tokens of {of}", "a whole number of 1 or more", shown(limit))
    if not isinstance(body, dict):
        return
    calls, results = _calls_and_results(request)
    turns = _objects(body.get("messages"))
    blocks = [block for turn in turns for block in _objects(turn.get("content"))]
    sent = [
        (block.get("id"), block.get("name"), block.get("input"))
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    # The wire carries the arguments as an object, not as their characters.
    wanted = [(call_id, name, json.loads(arguments)) for call_id, name, arguments in calls]
    answered = [b.get("tool_use_id") for b in blocks if b.get("type") == "tool_result"]
    yield from _differs("tool_use blocks", wanted, sent, of)
    yield from _differs("tool_result blocks", results, answered, of)
    yield from _tool_list(body, request, "input_schema", of)


_REQUIRED: Final[Mapping[str, Checks]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _anthropic,
}


def required_fields(
    dialects: Sequence[str], body: Any, request: LlmRequest, *, of: str
) -> list[Difference]:
    """Return what a decoded body lacks in the first of ``dialects`` that the kit knows."""
    for dialect in dialects:
        if dialect in _REQUIRED:
            return list(_REQUIRED[dialect](body, request, of))
    return []
