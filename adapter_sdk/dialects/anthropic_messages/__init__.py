"""The messages dialect of Anthropic, which llama.cpp, litellm and several providers speak too."""

from __future__ import annotations

from ._cache import CacheTtl
from ._dialect import AnthropicMessages
from ._request import messages_body
from ._translator import MessagesTranslator

__all__ = ["AnthropicMessages", "CacheTtl", "MessagesTranslator", "messages_body"]
