"""Events of the messages wire, for the tests of its dialect."""

from __future__ import annotations

from typing import Any, Final

from adapter_sdk import TokenUsage
from adapter_sdk.dialects import AnthropicMessages

DIALECT: Final = AnthropicMessages()


def start(usage: Any = None, **more: Any) -> dict[str, Any]:
    """Return the first event."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], **more}
    message["usage"] = {"input_tokens": 7, "output_tokens": 1} if usage is None else usage
    return {"type": "message_start", "message": message}


def begin(index: int, kind: str, **content: Any) -> dict[str, Any]:
    """Return the start of a block."""
    return {
        "type": "content_block_start",
        "index": index,
        "content_block": {"type": kind, **content},
    }


def delta(index: int, kind: str, **content: Any) -> dict[str, Any]:
    """Return a delta."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **content}}


def text(index: int, said: str) -> dict[str, Any]:
    """Return a delta of text."""
    return delta(index, "text_delta", text=said)


def thought(index: int, said: str) -> dict[str, Any]:
    """Return a delta of thinking."""
    return delta(index, "thinking_delta", thinking=said)


def signature(index: int, value: str) -> dict[str, Any]:
    """Return the signature of a thinking block."""
    return delta(index, "signature_delta", signature=value)


def arguments(index: int, said: str) -> dict[str, Any]:
    """Return a delta of a call's arguments."""
    return delta(index, "input_json_delta", partial_json=said)


def stop(index: int) -> dict[str, Any]:
    """Return the stop of a block."""
    return {"type": "content_block_stop", "index": index}


def closing(word: Any = "end_turn", usage: Any = None) -> list[dict[str, Any]]:
    """Return the last two events."""
    end: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": word}}
    end["usage"] = {"output_tokens": 5} if usage is None else usage
    return [end, {"type": "message_stop"}]


HI: Final = [start(), begin(0, "text", text=""), text(0, "H"), text(0, "i"), stop(0)]
USED: Final = TokenUsage(7, 5)
CALL: Final = begin(0, "tool_use", id="t1", name="ls", input={})
PING: Final = {"type": "ping"}
