"""The three protocols: how a route's switches shape a request, and how its answers are replayed.

Pure; the dialects of the SDK do the work, this says where a gateway differs.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import override

from adapter_sdk import (
    BlockStart,
    Chunk,
    Dialect,
    Finish,
    Json,
    LlmRequest,
    Message,
    codes,
    local_error,
)
from adapter_sdk.dialects import AnthropicMessages, OpenAIChat, OpenAIResponses
from adapter_sdk.dialects.openai_chat import ChatTranslator, Terminal, chat_body

if TYPE_CHECKING:
    from ._profiles import Model, Route

CHAT: Final = "openai-completions"
RESPONSES: Final = "openai-responses"
MESSAGES: Final = "anthropic-messages"
APIS: Final = (CHAT, RESPONSES, MESSAGES)

# The words that a caller may use; each model says how its provider spells them.
LEVELS: Final = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
_YES_OR_NO: Final = (True, False)

# Protocol to its switches, each with its default and the values that it takes.
COMPAT: Final[Mapping[str, Mapping[str, tuple[object, tuple[object, ...]]]]] = {
    CHAT: {
        "system_role": ("system", ("system", "developer")),
        "max_tokens_field": ("max_tokens", ("max_tokens", "max_completion_tokens")),
        "thinking_format": (
            "openai",
            ("openai", "openrouter", "deepseek", "qwen", "chat-template"),
        ),
        "reasoning_field": ("", ("", "reasoning_content", "reasoning")),
        "terminal": ("finish-reason", ("finish-reason", "done-sentinel")),
        "usage_in_stream": (True, _YES_OR_NO),
        "strict": (True, _YES_OR_NO),
        "temperature": (True, _YES_OR_NO),
    },
    RESPONSES: {
        "reasoning_summary": ("", ("", "auto", "concise", "detailed")),
        "strict": (True, _YES_OR_NO),
        "temperature": (True, _YES_OR_NO),
    },
    MESSAGES: {
        "thinking_format": ("budget", ("budget", "adaptive")),
        "cache": ("off", ("off", "5m", "1h")),
        "strict": (True, _YES_OR_NO),
        "temperature": (True, _YES_OR_NO),
    },
}

# What decodes the answer is chosen before the model is looked at.
OF_THE_ROUTE_ALONE: Final = frozenset({"terminal"})

# What the anthropic package of this major version sends, and what its types describe.
MESSAGES_VERSION: Final = "2026-10-21"

# Below the default cap, which includes them; the provider takes 1,024 and more.
_BUDGETS: Final[Mapping[str, int]] = {
    "minimal": 1_024,
    "low": 2_048,
    "medium": 8_192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 24_576,
}


# Reasoning in a form that goes back as it came: OpenRouter's, for the models behind it.
_DETAILS: Final = "reasoning_details"
_JOINED: Final = ("text", "summary", "data")

CHAT_DIALECT: Final = OpenAIChat().name


# ---- what decodes an answer --------------------------------------------------------------


def dialect_of(route: Route) -> Dialect:
    """Return the dialect that a route speaks; it decodes answers and says where they are had."""
    if route.api == CHAT:
        return _Chat(terminal=route.compat["terminal"])
    return _Messages() if route.api == MESSAGES else OpenAIResponses()


class _Messages(AnthropicMessages):
    """The messages dialect with the credential where the vendor's package puts it."""

    @override
    def credential_headers(self, credential: str) -> Mapping[str, str]:
        """See ``Dialect``."""
        return {"authorization": f"Bearer {credential}", "anthropic-version": MESSAGES_VERSION}


class _Chat(OpenAIChat):
    """The chat completions dialect with a replay state on its answers."""

    @override
    def translator(self) -> ChatTranslator:
        """See ``Dialect``."""
        return _ReplayingChat(terminal=self.terminal)


class _ReplayingChat(ChatTranslator):
    """Notes what the wire says about the response beside its content."""

    _ID: Final = re.compile(rb'"id"\s*:\s*"([^"\\]{1,256})"')
    _WORD: Final = re.compile(rb'"finish_reason"\s*:\s*"([^"\\]{1,64})"')

    _blocks_begun = 0
    _response_id = ""
    _stop_word = ""

    def __init__(self, *, terminal: Terminal) -> None:
        super().__init__(terminal=terminal)
        self._details: list[dict[str, Json]] = []

    @override
    def event(self, name: str, data: bytes) -> list[Chunk]:
        """See ``Translator``."""
        if not self._response_id and (found := self._ID.search(data)):
            self._response_id = found[1].decode("utf-8", "replace")
        if not self._stop_word and (found := self._WORD.search(data)):
            self._stop_word = found[1].decode("utf-8", "replace")
        chunks = super().event(name, data)
        if _DETAILS.encode() in data:  # which the dialect has found to be a good payload
            for choice in json.loads(data.decode("utf-8", "replace")).get("choices") or ():
                _add_details(self._details, choice.get("delta"))
        return self._noted(chunks)

    @override
    def document(self, payload: Json) -> list[Chunk]:
        """See ``Translator``."""
        chunks = super().document(payload)
        if isinstance(payload.get("id"), str):
            self._response_id = payload["id"]
        words = (c.get("finish_reason") for c in payload["choices"] if not c.get("index"))
        self._stop_word = next((word for word in words if isinstance(word, str)), "")
        for choice in payload["choices"]:
            _add_details(self._details, choice.get("message"))
        return self._noted(chunks)

    @override
    def close(self) -> list[Chunk]:
        """See ``Translator``."""
        return self._noted(super().close())

    def _noted(self, chunks: list[Chunk]) -> list[Chunk]:
        for place, chunk in enumerate(chunks):
            if isinstance(chunk, BlockStart):
                self._blocks_begun += 1
            elif isinstance(chunk, Finish) and chunk.failure is None:
                state = {
                    "version": 1,
                    "dialect": CHAT_DIALECT,
                    "response_id": self._response_id,
                    "stop_reason": self._stop_word,
                    "blocks": [{} for _ in range(self._blocks_begun)],
                    **({_DETAILS: self._details} if self._details else {}),
                }
                chunks[place] = dataclasses.replace(chunk, replay_state=state)
        return chunks


def _add_details(known: list[dict[str, Json]], turn: Json) -> None:
    """Put the pieces of signed or encrypted reasoning together: those of one index are one."""
    details = turn.get(_DETAILS) if isinstance(turn, dict) else None
    for piece in details if isinstance(details, list) else ():
        if not isinstance(piece, dict):
            continue
        key = (piece.get("type"), piece.get("index"))
        last = known[-1] if known else {}
        if not known or piece.get("index") is None or key != (last["type"], last.get("index")):
            known.append({"type": None, **piece})
            continue
        for name, value in piece.items():
            joins = name in _JOINED and isinstance(value, str) and isinstance(last.get(name), str)
            last[name] = last[name] + value if joins else value or last.get(name)


# ---- what a request says -----------------------------------------------------------------


def check_switches(request: LlmRequest, route: Route, model: Model) -> None:
    """Refuse what the route or the model does not take.

    Raises:
        LlmError: UNSUPPORTED_OPTION, UNSUPPORTED_CONTENT or UNSUPPORTED_REASONING_EFFORT.
    """
    of = f"the model {model.id} of {route.name}"
    if request.temperature is not None and not model.compat["temperature"]:
        raise local_error(codes.UNSUPPORTED_OPTION, f"temperature: {of} takes none")
    if not model.compat["strict"] and any(tool.strict for tool in request.tools):
        raise local_error(codes.UNSUPPORTED_OPTION, f"strict tools: {of} has no strict mode")
    if request.stop and route.api == RESPONSES:
        raise local_error(codes.UNSUPPORTED_OPTION, f"stop: {route.api} has no such option")
    effort = request.reasoning_effort or route.reasoning
    if effort is not None and effort not in model.reasoning_efforts:
        known = ", ".join(model.reasoning_efforts) or "none at all"
        raise local_error(
            codes.UNSUPPORTED_REASONING_EFFORT,
            f"reasoning effort {effort!r}: {of} offers {known}",
        )


def wire_body(request: LlmRequest, route: Route, model: Model) -> Mapping[str, Json]:
    """Return the body of a request that ``check_switches`` has let through."""
    level = request.reasoning_effort or route.reasoning
    asked = dataclasses.replace(
        request,
        max_tokens=request.max_tokens or model.cap,
        reasoning_effort=None,
        tools=tuple(
            tool if model.compat["strict"] else dataclasses.replace(tool, strict=None)
            for tool in request.tools
        ),
    )
    return _BODIES[route.api](asked, level, route, model)


def _chat(request: LlmRequest, level: str | None, route: Route, model: Model) -> Mapping[str, Json]:
    compat = model.compat
    body = chat_body(
        request,
        system_role=compat["system_role"],
        reasoning_field=compat["reasoning_field"] or None,
    )
    if compat["thinking_format"] == "openrouter":
        _put_details_back(request, body["messages"])
    if not compat["usage_in_stream"]:
        del body["stream_options"]
    if "max_tokens" in body and compat["max_tokens_field"] != "max_tokens":
        body[compat["max_tokens_field"]] = body.pop("max_tokens")
    if level is not None:
        body |= _THINKING[compat["thinking_format"]](level, model.reasoning_efforts[level])
    return body


def _put_details_back(request: LlmRequest, wire: list[dict[str, Json]]) -> None:
    turns = (message for message in request.messages if message.role == "assistant")
    for message, turn in zip(turns, (w for w in wire if w["role"] == "assistant"), strict=True):
        details = (message.replay_state or {}).get(_DETAILS)
        if isinstance(details, (list, tuple)) and details and _can_be_sent(details):
            turn[_DETAILS] = list(details)


def _can_be_sent(value: object) -> bool:
    """Whether JSON can carry a stored value: it must not fail the request that it goes with."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError):  # no JSON at all; NaN, or half a surrogate pair
        return False
    return True


def _effort_word(level: str, word: str) -> dict[str, Json]:
    return {"reasoning_effort": word} if word else {}


def _openrouter(level: str, word: str) -> dict[str, Json]:
    off = level == "off" and not word
    return {"reasoning": {"enabled": False} if off else {"effort": word}}


def _deepseek(level: str, word: str) -> dict[str, Json]:
    if level == "off":
        return {"thinking": {"type": "disabled"}}
    return {"thinking": {"type": "enabled"}, "reasoning_effort": word}


def _qwen(level: str, word: str) -> dict[str, Json]:
    return {"enable_thinking": level != "off"}


def _chat_template(level: str, word: str) -> dict[str, Json]:
    return {"chat_template_kwargs": _qwen(level, word)}


_THINKING: Final[Mapping[str, Callable[[str, str], dict[str, Json]]]] = {
    "openai": _effort_word,
    "openrouter": _openrouter,
    "deepseek": _deepseek,
    "qwen": _qwen,
    "chat-template": _chat_template,
}


def _responses(
    request: LlmRequest, level: str | None, route: Route, model: Model
) -> Mapping[str, Json]:
    word = None if level is None else model.reasoning_efforts[level] or None
    reasons = bool(model.reasoning_efforts)
    dialect = OpenAIResponses(
        reasoning_efforts=() if word is None else (word,),
        reasoning_summary=(model.compat["reasoning_summary"] or None) if reasons else None,
        encrypted_reasoning=reasons,
    )
    return dialect.body(dataclasses.replace(request, reasoning_effort=word))


def _messages(
    request: LlmRequest, level: str | None, route: Route, model: Model
) -> Mapping[str, Json]:
    word = level if level in (None, "off") else model.reasoning_efforts[level]
    budgets: dict[str, int] = {}
    if word is not None and model.compat["thinking_format"] == "budget":
        budgets[word] = 0 if level == "off" else {**_BUDGETS, **route.thinking_budgets}[level or ""]
    cache = model.compat["cache"]
    dialect = AnthropicMessages(
        default_max_tokens=model.max_tokens,
        thinking_budgets=budgets,
        reasoning_efforts=() if word is None else (word,),
        cache_ttl=None if cache == "off" else cache,
    )
    return dialect.body(dataclasses.replace(request, reasoning_effort=word))


_BODIES: Final[
    Mapping[str, Callable[[LlmRequest, str | None, Route, Model], Mapping[str, Json]]]
] = {CHAT: _chat, RESPONSES: _responses, MESSAGES: _messages}


# ---- replay ------------------------------------------------------------------------------

_ADAPTER: Final = "pi"


def stamped(finish: Finish, *, instance: str, model: str) -> Finish:
    """Return a finish whose replay state says which adapter and which model it is from."""
    if finish.replay_state is None:
        return finish
    mark = {"adapter": _ADAPTER, "instance": instance, "model": model}
    return dataclasses.replace(finish, replay_state={**finish.replay_state, **mark})


def restorable(
    messages: Iterable[Message],
    *,
    instance: str,
    model: str,
    dialect: str,
    tell: Callable[[str], None],
) -> tuple[Message, ...]:
    """Return the messages; those whose replay state is unusable without it, and told of.

    Args:
        messages: The conversation.
        instance: Of the adapter that restores.
        model: That is asked now: signatures of another one are refused by providers.
        dialect: That the request is written in.
        tell: Gets one sentence for each message that is degraded to neutral content.
    """
    restored: list[Message] = []
    for number, message in enumerate(messages):
        said = _unusable(message, instance, model, dialect)
        if said:
            tell(f"messages[{number}]: its replay state is left out: {said}")
            message = dataclasses.replace(message, replay_state=None)
        restored.append(message)
    return tuple(restored)


def _unusable(message: Message, instance: str, model: str, dialect: str) -> str:
    """Return why a message's replay state cannot be used, or nothing."""
    state: Any = message.replay_state
    if state is None:
        return ""
    if not isinstance(state, Mapping):
        return "it is no table"
    whose = {"adapter": _ADAPTER, "version": 1, "instance": instance}
    wanted = {**whose, "model": model, "dialect": dialect}
    for key, value in wanted.items():
        if state.get(key) != value:
            return f"it is of another {key}"
    entries = state.get("blocks")
    if not isinstance(entries, (list, tuple)) or len(entries) != len(message.content):
        return "it does not fit the blocks of the message"
    return "" if all(isinstance(entry, Mapping) for entry in entries) else "an entry is no table"
