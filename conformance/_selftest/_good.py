"""The good twins: every mutant is one of these adapters with one promise not kept."""

from __future__ import annotations

from typing import ClassVar

from adapter_sdk import BaseAdapter, Capability, Dialect
from adapter_sdk.dialects import AnthropicMessages, OpenAIChat, OpenAIResponses


class Good(BaseAdapter):
    """Keeps every promise of an adapter that takes ``[DONE]`` as the end."""

    dialect: ClassVar[Dialect] = OpenAIChat(
        terminal="done-sentinel", reasoning_efforts=("low", "high")
    )
    default_base_url = "https://api.good.invalid/v1"
    api_key_env = "DSH_SELFTEST_API_KEY"
    request_id_headers = ("x-request-id", "x-trace-id")
    capabilities = frozenset({Capability.TOOLS, Capability.REASONING, Capability.IMAGES})


class GoodByFinishReason(Good):
    """Keeps every promise of an adapter that takes a finish reason as the end."""

    dialect = OpenAIChat(terminal="finish-reason", reasoning_efforts=("low", "high"))


class GoodMessages(Good):
    """Keeps every promise on the messages wire."""

    dialect = AnthropicMessages(reasoning_efforts=("low", "high"))


class GoodResponses(Good):
    """Keeps every promise on the responses wire."""

    dialect = OpenAIResponses(reasoning_efforts=("low", "high"))
