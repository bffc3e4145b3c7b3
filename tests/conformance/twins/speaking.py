"""Two adapters that do nothing but speak their dialect: what the twin cases are checked with."""

from __future__ import annotations

from adapter_sdk import BaseAdapter
from adapter_sdk.dialects import AnthropicMessages, OpenAIResponses


class Messages(BaseAdapter):
    """Speaks the messages dialect."""

    dialect = AnthropicMessages(reasoning_efforts=("low", "high"))
    default_base_url = "https://messages.invalid"
    api_key_env = "MESSAGES_API_KEY"
    request_id_headers = ("request-id", "x-request-id")


class Responses(BaseAdapter):
    """Speaks the responses dialect."""

    dialect = OpenAIResponses(reasoning_efforts=("low", "high"))
    default_base_url = "https://responses.invalid/v1"
    api_key_env = "RESPONSES_API_KEY"
    request_id_headers = ("x-request-id", "x-trace-id")
