"""The responses dialect, as OpenAI defined it and its successors speak it."""

from __future__ import annotations

from ._dialect import OpenAIResponses
from ._request import responses_body
from ._translator import ResponsesTranslator

__all__ = ["OpenAIResponses", "ResponsesTranslator", "responses_body"]
