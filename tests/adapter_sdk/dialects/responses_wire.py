"""Events of the responses wire, for the tests of its dialect."""

from __future__ import annotations

from typing import Any, Final

from adapter_sdk import TokenUsage
from adapter_sdk.dialects import OpenAIResponses

DIALECT: Final = OpenAIResponses()
USED: Final = TokenUsage(7, 5)
USAGE: Final = {"input_tokens": 7, "output_tokens": 5}


def event(kind: str, **more: Any) -> dict[str, Any]:
    """Return an event of the response."""
    return {"type": f"response.{kind}", **more}


def added(item: dict[str, Any], **place: Any) -> dict[str, Any]:
    """Return the event with which an item begins."""
    return event("output_item.added", item=item, **place)


def done(item: dict[str, Any], **place: Any) -> dict[str, Any]:
    """Return the event with which an item ends."""
    return event("output_item.done", item=item, **place)


def message(*texts: str, item_id: str = "msg_1", **more: Any) -> dict[str, Any]:
    """Return a message item."""
    parts = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"type": "message", "id": item_id, "role": "assistant", "content": parts, **more}


def reasoning(*summary: str, item_id: str = "rs_1", **more: Any) -> dict[str, Any]:
    """Return a reasoning item."""
    parts = [{"type": "summary_text", "text": text} for text in summary]
    return {"type": "reasoning", "id": item_id, "summary": parts, **more}


def call(arguments: Any = "", *, number: int = 1, **more: Any) -> dict[str, Any]:
    """Return a function call item."""
    item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
    return {**item, "name": "ls", "arguments": arguments, **more}


def text(said: str, item_id: str = "msg_1", **place: Any) -> dict[str, Any]:
    """Return a delta of text."""
    return event("output_text.delta", item_id=item_id, delta=said, **place)


def thought(said: str, part: int = 0, item_id: str = "rs_1") -> dict[str, Any]:
    """Return a delta of a reasoning summary."""
    more = {"item_id": item_id, "summary_index": part, "delta": said}
    return event("reasoning_summary_text.delta", **more)


def arguments(said: Any, number: int = 1) -> dict[str, Any]:
    """Return a delta of a call's arguments."""
    return event("function_call_arguments.delta", item_id=f"fc_{number}", delta=said)


def response(*output: Any, status: Any = "completed", **more: Any) -> dict[str, Any]:
    """Return a whole response."""
    whole = {"object": "response", "id": "resp_1", "status": status, "error": None}
    return {**whole, "output": list(output), "usage": USAGE, **more}


def end(*output: Any, kind: str = "completed", **more: Any) -> dict[str, Any]:
    """Return the last event."""
    return event(kind, response=response(*output, **{"status": kind, **more}))


BEGUN: Final = event("created", response={"id": "resp_1", "status": "in_progress", "usage": None})
HI: Final = [BEGUN, added(message()), text("H"), text("i"), done(message("Hi"))]
CALLED: Final = [BEGUN, added(call()), arguments('{"a":'), arguments("1}"), done(call('{"a":1}'))]
