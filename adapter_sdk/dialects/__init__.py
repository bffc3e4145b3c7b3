"""Dialects: request to body, payloads to chunks. Pure; no I/O and no clock."""

from __future__ import annotations

from .anthropic_messages import AnthropicMessages
from .openai_chat import OpenAIChat
from .openai_responses import OpenAIResponses

__all__ = ["AnthropicMessages", "OpenAIChat", "OpenAIResponses"]
