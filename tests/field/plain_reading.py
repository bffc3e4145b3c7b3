"""What a recorded answer says, read as plainly as can be: a second opinion, not the SDK's.

It knows nothing of splits, cuts, limits or blocks; it takes a whole body and picks out its text,
tool calls, finish and counts. Where it sees an error, it only says that there is one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Json: TypeAlias = Any


@dataclass(slots=True)
class Said:
    """What an answer says.

    Attributes:
        text: All text, joined.
        calls: Name and arguments of each tool call, in order.
        finish: Our word for why it ended, or the wire's where we have none; empty: none came.
        usage: Prompt and answer tokens, the cached ones included, or None.
        is_error: Whether the body holds an error.
        has_reasoning: Whether it holds reasoning, which is content too.
    """

    text: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    finish: str = ""
    usage: tuple[int, int] | None = None
    is_error: bool = False
    has_reasoning: bool = False


def read(api: str, body: bytes) -> Said:
    """Return what a body of one api says."""
    text = body.decode("utf-8", "replace").lstrip("\ufeff").strip()
    said = Said()
    if text.startswith(("{", "[")):
        _DOCUMENTS[api](json.loads(text), said)
    else:
        _STREAMS[api](list(_payloads(text)), said)
    if said.calls and said.finish == "stop":
        said.finish = "tool-calls"
    return said


def _payloads(text: str) -> Iterator[Json]:
    for line in text.splitlines():
        name, _, data = line.partition(":")
        if name == "error":  # a server that names the field so
            yield {"error": json.loads(data)}
        if name == "data" and data.strip() and data.strip() != "[DONE]":
            yield json.loads(data)


# ---- chat completions --------------------------------------------------------------------

_CHAT_FINISH: Final = {
    **dict.fromkeys(("stop", "eos", "end_turn", "tool_calls", "function_call"), "stop"),
    "length": "max-tokens",
}


def _chat_stream(payloads: list[Json], said: Said) -> None:
    calls: dict[int, list[str]] = {}
    for payload in payloads:
        said.is_error |= bool(payload.get("error"))
        said.usage = _chat_usage(payload) or said.usage
        for choice in payload.get("choices") or []:
            if choice.get("index"):
                continue
            _chat_turn(choice.get("delta") or choice.get("message") or {}, calls, said)
            word = choice.get("finish_reason")
            said.finish = said.finish or _CHAT_FINISH.get(word, word or "")
    said.calls = [(name, arguments) for name, arguments in calls.values()]


def _chat_document(payload: Json, said: Said) -> None:
    _chat_stream(payload if isinstance(payload, list) else [payload], said)


def _chat_turn(turn: Json, calls: dict[int, list[str]], said: Said) -> None:
    said.has_reasoning |= bool(turn.get("reasoning_content") or turn.get("reasoning"))
    content = turn.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content)
    said.text += content + (turn.get("refusal") or "")
    legacy = turn.get("function_call")
    for place, call in enumerate(turn.get("tool_calls") or [{"function": legacy}] * bool(legacy)):
        known = calls.setdefault(call.get("index") or place, ["", ""])
        function = call.get("function") or {}
        known[0] = known[0] or function.get("name") or ""
        arguments = function.get("arguments") or ""
        known[1] += arguments if isinstance(arguments, str) else json.dumps(arguments)


def _chat_usage(payload: Json) -> tuple[int, int] | None:
    usage = payload.get("usage") or (payload.get("x_groq") or {}).get("usage")
    return usage and (usage["prompt_tokens"], usage["completion_tokens"])


# ---- responses ---------------------------------------------------------------------------


def _responses_stream(payloads: list[Json], said: Said) -> None:
    for payload in payloads:
        said.is_error |= payload.get("type") == "error" or bool(payload.get("error"))
        if payload.get("type") in (
            "response.completed",
            "response.incomplete",
            "response.failed",
        ):
            _responses_document(payload["response"], said)
    if not said.text and not said.calls:
        said.text = "".join(
            p["delta"] for p in payloads if p.get("type") == "response.output_text.delta"
        )


def _responses_document(response: Json, said: Said) -> None:
    said.is_error |= bool(response.get("error"))
    for item in response.get("output") or []:
        if item["type"] == "message":
            parts = item["content"]
            said.text += "".join(p.get("text") or p.get("refusal") or "" for p in parts)
        said.has_reasoning |= item["type"] == "reasoning"
        if item["type"] == "function_call":
            said.calls.append((item["name"], item["arguments"]))
    status = response.get("status")
    said.finish = {"completed": "stop", "complete": "stop"}.get(status, status or "")
    if status == "incomplete":
        reason = response["incomplete_details"]["reason"]
        said.finish = {"max_output_tokens": "max-tokens"}.get(reason, reason)
    if usage := response.get("usage"):
        said.usage = (usage["input_tokens"], usage["output_tokens"])


# ---- messages ----------------------------------------------------------------------------

_MESSAGES_FINISH: Final = {
    **dict.fromkeys(("end_turn", "stop_sequence", "pause_turn", "tool_use"), "stop"),
    "max_tokens": "max-tokens",
}


def _messages_stream(payloads: list[Json], said: Said) -> None:
    blocks: dict[int, dict[str, str]] = {}
    usage: dict[str, int] = {}
    for payload in payloads:
        match payload["type"]:
            case "error":
                said.is_error = True
            case "message_start":
                usage |= _counts(payload["message"].get("usage"))
            case "content_block_start":
                block = payload["content_block"]
                blocks[payload["index"]] = {
                    "type": block["type"],
                    "name": block.get("name", ""),
                    "text": block.get("text") or "",
                }
            case "content_block_delta":
                delta = payload["delta"]
                more = delta.get("text") or delta.get("partial_json") or ""
                blocks[payload["index"]]["text"] += more
            case "message_delta":
                usage |= _counts(payload.get("usage"))
                word = payload["delta"].get("stop_reason")
                said.finish = _MESSAGES_FINISH.get(word, word or "")
    said.text = "".join(b["text"] for b in blocks.values() if b["type"] == "text")
    said.has_reasoning = any("thinking" in b["type"] for b in blocks.values())
    said.calls = [(b["name"], b["text"]) for b in blocks.values() if b["type"] == "tool_use"]
    said.usage = _messages_usage(usage)


def _messages_document(message: Json, said: Said) -> None:
    said.is_error = message.get("type") == "error"
    for block in message.get("content") or []:
        if block["type"] == "text":
            said.text += block["text"]
        said.has_reasoning |= "thinking" in block["type"]
        if block["type"] == "tool_use":
            said.calls.append((block["name"], json.dumps(block["input"])))
    word = message.get("stop_reason")
    said.finish = _MESSAGES_FINISH.get(word, word or "")
    said.usage = _messages_usage(_counts(message.get("usage")))


def _counts(usage: Json) -> dict[str, int]:
    return {key: value for key, value in (usage or {}).items() if isinstance(value, int)}


def _messages_usage(usage: dict[str, int]) -> tuple[int, int] | None:
    if "output_tokens" not in usage:
        return None
    cached = ("cache_read_input_tokens", "cache_creation_input_tokens")
    prompt = usage.get("input_tokens", 0) + sum(usage.get(key, 0) for key in cached)
    return prompt, usage["output_tokens"]


_STREAMS: Final[dict[str, Callable[[list[Json], Said], None]]] = {
    "openai-chat": _chat_stream,
    "openai-responses": _responses_stream,
    "anthropic-messages": _messages_stream,
}
_DOCUMENTS: Final[dict[str, Callable[[Json, Said], None]]] = {
    "openai-chat": _chat_document,
    "openai-responses": _responses_document,
    "anthropic-messages": _messages_document,
}
