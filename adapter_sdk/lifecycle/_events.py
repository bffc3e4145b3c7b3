"""What a call tells while it runs, and how it ends. Pydantic models; camelCase as JSON."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    PlainSerializer,
    PlainValidator,
    TypeAdapter,
)
from pydantic.alias_generators import to_camel

from .. import (
    BlockEnd,
    BlockStart,
    Finish,
    FinishReason,
    LlmFailure,
    Message,
    ReasoningDelta,
    TextDelta,
    TokenUsage,
    ToolCallDelta,
    UsageReport,
)
from ..retry import DelaySource
from ..session import (
    chunk_from_json,
    chunk_to_json,
    finish_from_json,
    finish_to_json,
    message_from_json,
    message_to_json,
    usage_from_json,
    usage_to_json,
)

OpenChunk: TypeAlias = (
    BlockStart | TextDelta | ReasoningDelta | ToolCallDelta | BlockEnd | UsageReport
)
"""A chunk that is no finish: how a response ends is an event of its own."""


def _read(value: Any, read: Any) -> Any:
    return read(value) if isinstance(value, dict) else value


_OPEN_CHUNKS: Final = frozenset(get_args(OpenChunk))


def _chunk(value: Any) -> OpenChunk:
    # One look at the type, for this runs for every chunk of every stream.
    if type(value) in _OPEN_CHUNKS:
        return value  # type: ignore[no-any-return]  # why: that is what was just looked at
    chunk = chunk_from_json(value)
    if isinstance(chunk, Finish):
        raise ValueError("chunk: a finish is an event of its own")
    return chunk


_Chunk: TypeAlias = Annotated[OpenChunk, PlainValidator(_chunk), PlainSerializer(chunk_to_json)]
_Failure: TypeAlias = Annotated[
    InstanceOf[LlmFailure],
    BeforeValidator(lambda value: _read(value, LlmFailure.from_json)),
    PlainSerializer(LlmFailure.to_json),
]
_Message: TypeAlias = Annotated[
    InstanceOf[Message],
    BeforeValidator(lambda value: _read(value, message_from_json)),
    PlainSerializer(message_to_json),
]
_Finish: TypeAlias = Annotated[
    InstanceOf[FinishReason],
    BeforeValidator(lambda value: _read(value, finish_from_json)),
    PlainSerializer(finish_to_json),
]
_Usage: TypeAlias = Annotated[
    InstanceOf[TokenUsage],
    BeforeValidator(lambda value: _read(value, usage_from_json)),
    PlainSerializer(usage_to_json),
]


class _Event(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, populate_by_name=True
    )

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON: camelCase, absent fields left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class RouteInfo(_Event):
    """Which route a committed response came from."""

    route_id: str
    model: str
    wire_model: str
    provider: str


class ResponseStart(_Event):
    """A response begins; nothing was sent yet.

    Attributes:
        response_id: Minted before the call; unique.
        response_index: From 0; how many responses the call has had before this one.
        route_id: The route that it is asked of.
    """

    type: Literal["response/start"] = "response/start"
    response_id: str
    response_index: int
    route_id: str


class AssistantChunk(_Event):
    """Part of a response that may still be withdrawn.

    Attributes:
        response_id: The response; text is never joined over two of them.
        commitment: Always ``uncommitted``: only ``response/committed`` holds a message.
        chunk: See ``adapter_sdk.Chunk``; never a finish.
    """

    type: Literal["assistant/chunk"] = "assistant/chunk"
    response_id: str
    commitment: Literal["uncommitted"] = "uncommitted"
    chunk: _Chunk


class ResponseInterrupted(_Event):
    """A response failed and is closed; another one follows. Its chunks are withdrawn.

    Attributes:
        response_id: The response.
        failure: What went wrong.
        scheduled_retry_ms: The wait before the next response; None: it begins at once.
        delay_source: Whose delay that is; None with it.
    """

    type: Literal["response/interrupted"] = "response/interrupted"
    response_id: str
    failure: _Failure
    scheduled_retry_ms: int | None = None
    delay_source: DelaySource | None = None


class ResponseFailed(_Event):
    """The end: no response was committed. Whatever chunks there were are withdrawn.

    Attributes:
        response_id: The response that failed; None where none was under way.
        failure: What went wrong.
    """

    type: Literal["response/failed"] = "response/failed"
    response_id: str | None = None
    failure: _Failure


class ResponseCommitted(_Event):
    """The end: one response is the answer, whole.

    Attributes:
        response_id: The response.
        message: The assistant's turn.
        finish: ``stop``, ``tool-calls`` or ``max-tokens``.
        usage: Token counts, or None where the provider reported none.
        route: Where it came from.
    """

    type: Literal["response/committed"] = "response/committed"
    response_id: str
    message: _Message
    finish: _Finish
    usage: _Usage | None = None
    route: RouteInfo


LifecycleEvent: TypeAlias = (
    ResponseStart | AssistantChunk | ResponseInterrupted | ResponseFailed | ResponseCommitted
)
"""Everything that ``LlmClient.stream`` yields."""

Outcome: TypeAlias = ResponseCommitted | ResponseFailed
"""How a call ended: told apart by ``type``."""

_EVENTS: TypeAdapter[LifecycleEvent] = TypeAdapter(
    Annotated[LifecycleEvent, Field(discriminator="type")]
)


def event_from_json(value: object) -> LifecycleEvent:
    """Read what an event's ``to_json`` returned.

    Raises:
        ValueError: Anything else; the message names the field.
    """
    return _EVENTS.validate_python(value)
