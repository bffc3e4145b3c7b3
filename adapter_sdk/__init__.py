"""Write adapters to LLM providers that keep their promises.

Everything an author or a caller needs is here; ``adapter_sdk.dialects`` has the wires,
``adapter_sdk.codes`` the failure codes, ``adapter_sdk.testing`` the doubles.
"""

from __future__ import annotations

from . import codes
from ._abort import AbortSignal
from ._adapter import AdapterOptions, BaseAdapter, has_images
from ._assembler import BlockAssembler
from ._chunk_stream import ChunkStream
from ._chunks import (
    MAX_TOKENS,
    STOP,
    TOOL_CALLS,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    TokenUsage,
    ToolCallDelta,
    UsageReport,
)
from ._collect import Completion, collect
from ._content import (
    ContentBlock,
    ImageBlock,
    OutputBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from ._credential import CredentialSource
from ._declaration import Capability, Declaration
from ._dialect import Dialect, InBandError, Json, ProtocolFault, Translator
from ._failure import LlmError, LlmFailure, local_error
from ._failure_class import FailureClass, classify_failure
from ._http import ResponseHead, WireRequest
from ._messages import Message, assistant, system, user
from ._request import LlmRequest, Tool
from ._request_id import ProviderRequestId
from ._runtime import Adapter, LlmRuntime, Middleware, PreparedCall, Registration
from ._sse import SseDecoder, SseEvent
from ._watchdog import Deadline, Expiry, IdleWatchdog

__all__ = [
    "MAX_TOKENS",
    "STOP",
    "TOOL_CALLS",
    "AbortSignal",
    "Adapter",
    "AdapterOptions",
    "BaseAdapter",
    "BlockAssembler",
    "BlockEnd",
    "BlockStart",
    "Capability",
    "Chunk",
    "ChunkStream",
    "Completion",
    "ContentBlock",
    "CredentialSource",
    "Deadline",
    "Declaration",
    "Dialect",
    "Expiry",
    "FailureClass",
    "Finish",
    "FinishReason",
    "IdleWatchdog",
    "ImageBlock",
    "InBandError",
    "Json",
    "LlmError",
    "LlmFailure",
    "LlmRequest",
    "LlmRuntime",
    "Message",
    "Middleware",
    "OutputBlock",
    "PreparedCall",
    "ProtocolFault",
    "ProviderRequestId",
    "ReasoningBlock",
    "ReasoningDelta",
    "Registration",
    "ResponseHead",
    "SseDecoder",
    "SseEvent",
    "TextBlock",
    "TextDelta",
    "TokenUsage",
    "Tool",
    "ToolCallBlock",
    "ToolCallDelta",
    "ToolResultBlock",
    "Translator",
    "UsageReport",
    "WireRequest",
    "assistant",
    "classify_failure",
    "codes",
    "collect",
    "has_images",
    "local_error",
    "system",
    "user",
]
