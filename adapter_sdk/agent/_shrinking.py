"""Make a conversation smaller: shorter tool results, a head to summarise. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from .. import ImageBlock, Message, TextBlock, ToolCallBlock, ToolResultBlock
from .._json_bytes import json_text
from ..session import message_to_json


def size_characters(messages: Iterable[Message]) -> int:
    """Return how large messages are: the characters of their stored form."""
    return sum(len(json_text(message_to_json(message))) for message in messages)


def pruned(message: Message, *, max_result_characters: int) -> Message:
    """Return the message with each tool result cut to so many characters, images left out."""
    content = tuple(
        _pruned_result(block, max_result_characters)
        if isinstance(block, ToolResultBlock)
        else block
        for block in message.content
    )
    return dataclasses.replace(message, content=content)


def _pruned_result(result: ToolResultBlock, limit: int) -> ToolResultBlock:
    text = "".join(block.text for block in result.content if isinstance(block, TextBlock))
    images = sum(isinstance(block, ImageBlock) for block in result.content)
    left_out = []
    if len(text) > limit:
        left_out.append(f"{len(text) - limit} characters")
    if images:
        left_out.append("1 image" if images == 1 else f"{images} images")
    if not left_out:
        return result
    note = f"[{' and '.join(left_out)} left out]"
    return dataclasses.replace(result, content=(TextBlock(f"{text[:limit]}\n{note}".strip()),))


def balanced_head(messages: Sequence[Message]) -> int:
    """Return how many messages the longest head has that can be taken away.

    Each tool call in it has its result in it, and at least one message stays behind it: the one
    that the model is to answer, or its last calls with their results.
    """
    open_calls: set[str] = set()
    longest = 0
    for number, message in enumerate(messages[:-1], 1):
        for block in message.content:
            if isinstance(block, ToolCallBlock):
                open_calls.add(block.id)
            elif isinstance(block, ToolResultBlock):
                open_calls.discard(block.tool_call_id)
        if not open_calls:
            longest = number
    return longest


def transcript(messages: Iterable[Message]) -> str:
    """Return messages as plain text, for a model that is to sum them up."""
    lines: list[str] = []
    for message in messages:
        for block in message.content:
            match block:
                case TextBlock(text=text):
                    lines.append(f"{message.role}: {text}")
                case ToolCallBlock():
                    lines.append(f"{message.role} calls {block.name}: {block.arguments}")
                case ToolResultBlock():
                    texts = [part.text for part in block.content if isinstance(part, TextBlock)]
                    lines.append(f"tool answers: {' '.join(texts) or '(no output)'}")
                case ImageBlock():
                    lines.append(f"{message.role}: (an image)")
                case _:  # reasoning is no part of what was said
                    pass
    return "\n".join(lines)
