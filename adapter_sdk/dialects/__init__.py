"""Dialects: request to body, payloads to chunks. Pure; no I/O and no clock."""

from __future__ import annotations

from .openai_chat import OpenAIChat

__all__ = ["OpenAIChat"]
