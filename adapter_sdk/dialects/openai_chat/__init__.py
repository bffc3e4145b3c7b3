"""The chat completions dialect, as OpenAI defined it and some forty providers speak it."""

from __future__ import annotations

from ._dialect import OpenAIChat
from ._request import chat_body
from ._translator import ChatTranslator, Terminal

__all__ = ["ChatTranslator", "OpenAIChat", "Terminal", "chat_body"]
