"""Requests that say too little, too much, or what nobody asked for; keys shown or sent wrongly."""

from __future__ import annotations

import dataclasses
import json
import logging
import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Final

from typing_extensions import override

from adapter_sdk import (
    Capability,
    Chunk,
    Finish,
    FinishReason,
    Json,
    LlmRequest,
    TextBlock,
    codes,
)

from .._altering import emitting, saying, sending
from .._good import Good
from .._mutant import Mutant

_LOG: Final = logging.getLogger("conformance.selftest")


def _with_headers(wire: Any, **headers: str | None) -> Any:
    """Return the request with some headers replaced; None leaves one out."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    kept = {n: v for n, v in {**wire.headers, **named}.items() if v is not None}
    return dataclasses.replace(wire, headers=kept)


def _without_stream(body: dict[str, Any], request: LlmRequest) -> None:
    body.pop("stream")


def _with_null(body: dict[str, Any], request: LlmRequest) -> None:
    body["stop"] = None


def _with_deep_null(body: dict[str, Any], request: LlmRequest) -> None:
    if "tools" in body:
        body["tools"] = [{**tool, "cache": {"until": None}} for tool in body["tools"]]


def _with_random_id(body: dict[str, Any], request: LlmRequest) -> None:
    body["user"] = uuid.uuid4().hex


def _without_tools(body: dict[str, Any], request: LlmRequest) -> None:
    body.pop("tools", None)


def _with_empty_tools(body: dict[str, Any], request: LlmRequest) -> None:
    body.setdefault("tools", [])


def _rewritten_arguments(body: dict[str, Any], request: LlmRequest) -> None:
    for message in body["messages"]:
        for call in message.get("tool_calls", ()):
            function = call["function"]
            function["arguments"] = json.dumps(json.loads(function["arguments"]), indent=1)


def _lost_results(body: dict[str, Any], request: LlmRequest) -> None:
    body["messages"] = [m for m in body["messages"] if m["role"] != "tool"]


# ---- options -----------------------------------------------------------------------------


class _DropsEffort(Good):
    """Leaves out a reasoning effort that it does not know."""

    @override
    def body(self, request: LlmRequest) -> Mapping[str, Json]:
        if request.reasoning_effort not in (None, "low", "high"):
            request = dataclasses.replace(request, reasoning_effort=None)
        return super().body(request)


class _DropsImages(Good):
    """Declares no images, and leaves out those that it is given."""

    capabilities = frozenset({Capability.TOOLS, Capability.REASONING})

    @override
    async def wire_request(self, request: LlmRequest) -> Any:
        messages = tuple(
            dataclasses.replace(
                message,
                content=tuple(b for b in message.content if b.type != "image") or (TextBlock(" "),),
            )
            for message in request.messages
        )
        return await super().wire_request(dataclasses.replace(request, messages=messages))


class _DropsTools(Good):
    """Declares no tools, and leaves out those that it is given."""

    capabilities = frozenset({Capability.REASONING, Capability.IMAGES})

    @override
    async def wire_request(self, request: LlmRequest) -> Any:
        return await super().wire_request(dataclasses.replace(request, tools=()))


# ---- credentials -------------------------------------------------------------------------


class _Keyed(Good):
    """Changes the key that it is given before it takes it."""

    @staticmethod
    def key_of(key: Any) -> Any:
        """Return what is taken for the key."""
        return key

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "api_key": self.key_of(options.get("api_key"))})
        self.given = options.get("api_key")


class _Anonymous(_Keyed):
    """Sends a key of its own where it has none."""

    @staticmethod
    @override
    def key_of(key: Any) -> Any:
        return "anonymous" if not isinstance(key, str) or not key.strip() else key


class _CleansKeys(_Keyed):
    """Leaves out what no header can carry."""

    @staticmethod
    @override
    def key_of(key: Any) -> Any:
        return re.sub(r"[^!-~]", "", key) if isinstance(key, str) and key.strip() else key


class _KeepsSpaces(_Keyed):
    """Sends the spaces in front of a key."""

    @override
    async def wire_request(self, request: LlmRequest) -> Any:
        wire = await super().wire_request(request)
        return _with_headers(wire, authorization=f"Bearer {str(self.given).rstrip()}")


class _ShowsKeyInRepr(_Keyed):
    """Shows its key in its repr."""

    @override
    def __repr__(self) -> str:
        return f"<{type(self).__name__} api_key={self.given}>"


class _LogsHeaders(Good):
    """Logs the headers of its request."""

    @override
    async def wire_request(self, request: LlmRequest) -> Any:
        wire = await super().wire_request(request)
        _LOG.debug("sending %s", dict(wire.headers))
        return wire


def _refusal_of_a_key(code: str, *, told_as: str) -> Any:
    def edit(chunk: Chunk) -> Iterable[Chunk]:
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if failure is None or failure.code != code:
            return (chunk,)
        return (Finish(FinishReason("error", dataclasses.replace(failure, code=told_as))),)

    return emitting(lambda: edit)


# ---- who sends it ------------------------------------------------------------------------


class _ConfiguredNameReplaces(Good):
    """Sends a configured User-Agent in place of the SDK's."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        named = {n.lower(): v for n, v in (options.get("headers") or {}).items()}
        self.own_name = named.get("user-agent")

    @override
    async def wire_request(self, request: LlmRequest) -> Any:
        wire = await super().wire_request(request)
        return _with_headers(wire, user_agent=self.own_name) if self.own_name else wire


class _ClientsNameWins(Good):
    """Leaves its name to a client that it is given."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.given: Any = options.get("http_client")

    @override
    async def wire_request(self, request: LlmRequest) -> Any:
        wire = await super().wire_request(request)
        return wire if self.given is None else _with_headers(wire, user_agent=None)


MUTANTS: Final = (
    Mutant(
        name="asks-for-no-stream",
        broken="Leaves out the switch that asks for a stream.",
        factory=saying(_without_stream),
        trips={"request_shape/required_by_the_dialect": "stream of the request"},
    ),
    Mutant(
        name="tools-are-not-sent",
        broken="Leaves the tools out of its request.",
        factory=saying(_without_tools),
        trips={"request_shape/required_by_the_dialect": "tools of the request"},
    ),
    Mutant(
        name="no-tools-are-an-empty-array",
        broken="Sends an empty array where there are no tools.",
        factory=saying(_with_empty_tools),
        trips={"request_shape/required_by_the_dialect": "left out where there are none"},
    ),
    Mutant(
        name="arguments-are-sent-in-another-form",
        broken="Writes the arguments of earlier tool calls again.",
        factory=saying(_rewritten_arguments),
        trips={"request_shape/required_by_the_dialect": "as they were given"},
    ),
    Mutant(
        name="tool-results-are-not-sent",
        broken="Leaves the results of tools out of its request.",
        factory=saying(_lost_results),
        trips={"request_shape/required_by_the_dialect": "tool results of the request"},
    ),
    Mutant(
        name="sends-null",
        broken="Sends null for an option that nobody set.",
        factory=saying(_with_null),
        trips={"request_shape/nothing_is_null": "stop of the request"},
    ),
    Mutant(
        name="sends-null-in-the-depth",
        broken="Sends null inside its tools.",
        factory=saying(_with_deep_null),
        trips={"request_shape/nothing_is_null": "tools[0].cache.until of the request"},
    ),
    Mutant(
        name="each-request-has-an-id",
        broken="Puts a random id into each body.",
        factory=saying(_with_random_id),
        trips={"request_shape/same_request_same_bytes": "the same bytes"},
    ),
    Mutant(
        name="asks-for-compression",
        broken="Offers to take a compressed stream.",
        factory=sending(lambda wire: _with_headers(wire, accept_encoding="gzip, deflate")),
        trips={"request_shape/asks_for_a_plain_event_stream": "the header accept-encoding"},
    ),
    Mutant(
        name="accepts-json-alone",
        broken="Says that it accepts JSON and no event stream.",
        factory=sending(lambda wire: _with_headers(wire, accept="application/json")),
        trips={"request_shape/asks_for_a_plain_event_stream": "the header accept"},
    ),
    Mutant(
        name="unknown-effort-is-dropped",
        broken="Leaves out a reasoning effort that it does not know.",
        factory=_DropsEffort,
        trips={
            "unsupported_option/unheard_of_reasoning_effort": "code begins with UNSUPPORTED",
        },
    ),
    Mutant(
        name="images-are-dropped",
        broken="Declares no images, and leaves out those that it is given.",
        factory=_DropsImages,
        trips={"unsupported_option/what_is_not_declared": "a call with an image"},
    ),
    Mutant(
        name="tools-are-dropped",
        broken="Declares no tools, and leaves out those that it is given.",
        factory=_DropsTools,
        trips={"unsupported_option/what_is_not_declared": "a call with a tool"},
    ),
    Mutant(
        name="calls-without-a-key",
        broken="Sends a made-up key where it has none.",
        factory=_Anonymous,
        trips={"credential/missing": "expected MISSING_CREDENTIAL"},
    ),
    Mutant(
        name="missing-key-is-refused-as-auth",
        broken="Reports a missing key as AUTH.",
        factory=_refusal_of_a_key(codes.MISSING_CREDENTIAL, told_as=codes.AUTH),
        trips={"credential/missing": "expected MISSING_CREDENTIAL"},
    ),
    Mutant(
        name="keys-are-cleaned",
        broken="Leaves out the characters of a key that no header can carry.",
        factory=_CleansKeys,
        trips={"credential/invalid": "expected INVALID_CREDENTIAL"},
    ),
    Mutant(
        name="invalid-key-is-missing",
        broken="Reports a key that cannot be sent as missing.",
        factory=_refusal_of_a_key(codes.INVALID_CREDENTIAL, told_as=codes.MISSING_CREDENTIAL),
        trips={"credential/invalid": "expected INVALID_CREDENTIAL"},
    ),
    Mutant(
        name="keys-keep-their-spaces",
        broken="Sends the spaces in front of a key.",
        factory=_KeepsSpaces,
        trips={"credential/spaces_around_it": "no space behind the key"},
    ),
    Mutant(
        name="key-in-the-repr",
        broken="Shows its key in its repr.",
        factory=_ShowsKeyInRepr,
        trips={"credential/shown_nowhere": "repr(adapter)"},
    ),
    Mutant(
        name="key-in-the-log",
        broken="Logs the headers of its request.",
        factory=_LogsHeaders,
        trips={"credential/shown_nowhere": "the log of"},
    ),
    Mutant(
        name="sends-no-name",
        broken="Leaves the User-Agent to its library.",
        factory=sending(lambda wire: _with_headers(wire, user_agent=None)),
        trips={
            "attribution/every_request_names_the_sdk": "User-Agent of",
            "attribution/a_client_with_a_name": "User-Agent of",
            "attribution/a_configured_name": "User-Agent of",
        },
    ),
    Mutant(
        name="the-clients-name-wins",
        broken="Leaves its name to a client that it is given.",
        factory=_ClientsNameWins,
        trips={"attribution/a_client_with_a_name": "some-app/1.0"},
    ),
    Mutant(
        name="a-configured-name-replaces",
        broken="Sends a configured User-Agent in place of the SDK's.",
        factory=_ConfiguredNameReplaces,
        trips={"attribution/a_configured_name": "some-app/1.0"},
    ),
)
