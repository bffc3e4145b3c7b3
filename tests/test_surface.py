"""The public doors: which names they offer, that each is described, what importing them costs."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

import adapter_sdk
import adapter_sdk.agent
import adapter_sdk.codes
import adapter_sdk.dialects
import adapter_sdk.dialects.anthropic_messages
import adapter_sdk.dialects.openai_chat
import adapter_sdk.dialects.openai_responses
import adapter_sdk.lifecycle
import adapter_sdk.retry
import adapter_sdk.session
import adapter_sdk.testing
import reference_adapters.deepseek
import reference_adapters.pi

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

# A name that is gone breaks an author; a new one is a promise. Both are written down here.
DOORS: Final = {
    adapter_sdk: (
        *("MAX_TOKENS", "STOP", "TOOL_CALLS", "AbortSignal", "Adapter", "AdapterOptions"),
        *("BaseAdapter", "BlockAssembler", "BlockEnd", "BlockStart", "Capability", "Chunk"),
        *("ChunkStream", "Completion", "ContentBlock", "CredentialSource", "Deadline"),
        *("Declaration", "Dialect", "Expiry", "FailureClass", "Finish", "FinishReason"),
        *("IdleWatchdog", "ImageBlock", "InBandError", "Json", "LlmError", "LlmFailure"),
        *("LlmRequest", "LlmRuntime", "Message", "Middleware", "OutputBlock", "PreparedCall"),
        *("ProtocolFault", "ProviderRequestId", "ReasoningBlock", "ReasoningDelta"),
        *("Registration", "ResponseHead", "SseDecoder", "SseEvent", "TextBlock", "TextDelta"),
        *("TokenUsage", "Tool", "ToolCallBlock", "ToolCallDelta", "ToolResultBlock"),
        *("Translator", "UsageReport", "WireRequest", "assistant", "classify_failure", "codes"),
        *("collect", "has_images", "local_error", "system", "user"),
    ),
    adapter_sdk.agent: (
        *("AgentTool", "CallNext", "ContextOverflowRecovery", "Decision", "Listener"),
        *("RequestError", "RequestErrorChain", "StepLoop", "Summarise", "ToolError", "Turn"),
        *("summarise_with",),
    ),
    adapter_sdk.codes: (
        *("ABORTED", "AUTH", "CODES", "CONTENT_FILTER", "CONTEXT_WINDOW_EXCEEDED"),
        *("DISCOVERY_CODES", "DISCOVERY_FAILED", "DISCOVERY_UNSUPPORTED"),
        *("DUPLICATE_ADAPTER", "EMPTY_RESPONSE", "INVALID_ADAPTER", "INVALID_CREDENTIAL"),
        *("INVALID_PREPARED_CALL", "INVALID_REQUEST", "LOCAL_CODES", "MALFORMED_RESPONSE"),
        *("MISSING_CREDENTIAL", "NO_ADAPTER", "QUOTA", "RATE_LIMIT", "REFUSED_CODES"),
        *("REGISTRATION_DISPOSED", "REGISTRY_CODES", "SERVER", "STREAM_CLOSED", "TIMEOUT"),
        *("TRANSIENT_CODES", "TRANSPORT", "UNKNOWN", "UNKNOWN_MODEL", "UNSUPPORTED_CONTENT"),
        *("UNSUPPORTED_OPTION", "UNSUPPORTED_REASONING_EFFORT", "http_status_code", "is_code"),
    ),
    adapter_sdk.dialects: ("AnthropicMessages", "OpenAIChat", "OpenAIResponses"),
    adapter_sdk.dialects.anthropic_messages: (
        *("AnthropicMessages", "CacheTtl", "MessagesTranslator", "messages_body"),
    ),
    adapter_sdk.dialects.openai_chat: ("ChatTranslator", "OpenAIChat", "Terminal", "chat_body"),
    adapter_sdk.dialects.openai_responses: (
        *("OpenAIResponses", "ResponsesTranslator", "responses_body"),
    ),
    adapter_sdk.lifecycle: (
        *("Action", "AssistantChunk", "Diagnostic", "FailedResponse", "FailoverScope", "GiveUp"),
        *("LifecycleEvent", "LifecycleStream", "Listener", "LiveResponses", "LlmClient"),
        *("OpenChunk", "Outcome", "Recovery", "RecoveryPolicy", "ResponseCommitted"),
        *("ResponseFailed", "ResponseFold", "ResponseInterrupted", "ResponseLimits", "ResponseRow"),
        *("ResponseStart", "RouteCapabilities", "RouteInfo", "event_from_json", "failover_scope"),
        *("response_view",),
    ),
    adapter_sdk.retry: (
        *("AboveCap", "AlwaysRetry", "Backoff", "DEFAULT_RETRY_POLICY", "Decision", "Delay"),
        *("DelaySource", "LiveRetries", "LoggedEvent", "NormalRetry", "RETRY", "RETRY_STARTED"),
        *("Random", "Register", "RequestError", "RetryExecutor", "RetryFold", "RetryInvariant"),
        *("RetryLines", "RetryLog", "RetryPolicy", "RetryRow", "TimedEvent", "check_retry_events"),
        *("choose_delay", "parse_retry_policy", "plain_lines", "retry_status", "retry_table"),
    ),
    adapter_sdk.session: (
        *("AnyInvariant", "AppendOnlyLog", "Event", "Invariant", "InvariantError", "JsonlLog"),
        *("LogClosedError", "LogConflictError", "LogDamagedError", "LogReader", "LogVersionError"),
        *("LogWriteError", "LosslessError", "MemoryLog", "OpenCall", "Progress", "SessionLog"),
        *("SessionLogError", "SqliteLog", "Surface", "SurfaceOp", "TurnEndReason", "WholeLog"),
        *("WholeLogCheck", "chunk_from_json", "chunk_to_json", "close_turn", "derive_messages"),
        *("finish_from_json", "finish_to_json", "load_events", "message_from_json"),
        *("message_to_json", "open_log", "progress_of", "recover", "usage_from_json"),
        *("usage_to_json", "vocabulary"),
    ),
    adapter_sdk.testing: (
        *("DeadlockError", "Delivery", "Ending", "Event", "Exchange", "FaultServer", "Flood"),
        *("Interim", "ManualClock", "Pause", "Repeat", "Scripted", "SeenConnection"),
        *("SeenRequest", "Send", "Split", "Step", "at", "byte_by_byte", "run_virtual"),
        *("scripted_client", "seeded", "whole"),
    ),
    reference_adapters.deepseek: ("CATALOGUE", "CatalogueModel", "DeepSeekAdapter"),
    reference_adapters.pi: (
        *("DiscoveredModel", "Model", "PiAdapter", "PiProfiles", "ProfileError", "Route"),
        *("discover_models",),
    ),
}

# Imported on a caller's first call, or not at all: each costs more than the SDK itself.
NOT_IMPORTED: Final = ("httpx", "httpx2", "pydantic", "trio", "pytest", "click", "rich")


def name_of(value: object) -> str:
    return str(getattr(value, "__name__", value))


def described() -> Iterator[tuple[str, object]]:
    """Every class, function and module that a door offers, and every public method."""
    for door in DOORS:
        for name in door.__all__:
            value = getattr(door, name)
            if inspect.isclass(value) and value.__module__.startswith(PACKAGES):
                yield f"{name_of(door)}.{name}", value
                for member, function in vars(value).items():
                    if not member.startswith("_") and inspect.isroutine(function):
                        yield f"{name_of(door)}.{name}.{member}", getattr(value, member)
            elif inspect.isroutine(value) or inspect.ismodule(value):
                yield f"{name_of(door)}.{name}", value


PACKAGES: Final = ("adapter_sdk", "reference_adapters")


@pytest.mark.parametrize(("door", "names"), DOORS.items(), ids=map(name_of, DOORS))
def test_a_door_offers_these_names_and_no_others(door: ModuleType, names: tuple[str, ...]) -> None:
    assert sorted(door.__all__) == sorted(names)
    others = {
        name
        for name, value in vars(door).items()
        if not name.startswith("_") and name != "annotations" and not inspect.ismodule(value)
    }
    assert others - set(names) == set()


@pytest.mark.parametrize("value", [pytest.param(v, id=name) for name, v in described()])
def test_every_public_name_is_described(value: object) -> None:
    text = value.__doc__ or ""
    assert text.strip()
    # What a dataclass writes for itself where nobody wrote anything.
    assert not text.startswith(f"{name_of(value)}(")


def test_importing_the_sdk_imports_no_client_and_no_tool() -> None:
    code = f"import sys, adapter_sdk; print(sorted({{*{NOT_IMPORTED!r}}} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_pytest_plugin_imports_nothing_until_it_is_asked() -> None:
    code = "import sys, conformance.plugin; print('adapter_sdk' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
