"""Budgets for images: the oldest give way, in whole quanta, so that the prefix stays cacheable."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Final

from adapter_sdk import ContentBlock, ImageBlock, LlmRequest, Message, TextBlock, ToolResultBlock

MOST_IMAGES: Final = 600
MOST_IMAGE_BYTES: Final = 20 * 1024 * 1024

# Dropping one image a turn would change the prefix, and so miss the cache, at every turn.
IMAGES_QUANTUM: Final = 20
IMAGE_BYTES_QUANTUM: Final = 10 * 1024 * 1024

PLACEHOLDER: Final = TextBlock("[an earlier image was left out]")


def image_bytes(image: ImageBlock) -> int:
    """Return the size of the decoded file."""
    return len(image.data) * 3 // 4 - image.data[-2:].count("=")


def images_to_drop(sizes: list[int]) -> int:
    """Return how many of the oldest images give way, given all sizes in bytes, oldest first."""
    over_count = max(0, len(sizes) - MOST_IMAGES)
    by_count = math.ceil(over_count / IMAGES_QUANTUM) * IMAGES_QUANTUM
    over_bytes = max(0, sum(sizes) - MOST_IMAGE_BYTES)
    bytes_to_drop = math.ceil(over_bytes / IMAGE_BYTES_QUANTUM) * IMAGE_BYTES_QUANTUM
    by_bytes = dropped = 0
    while dropped < bytes_to_drop and by_bytes < len(sizes):
        dropped += sizes[by_bytes]
        by_bytes += 1
    return min(len(sizes), max(by_count, by_bytes))


def within_budget(request: LlmRequest) -> LlmRequest:
    """Return ``request`` with its oldest images replaced by a fixed placeholder where needed."""
    sizes = [image_bytes(image) for image in _images(request)]
    left = images_to_drop(sizes)
    if not left:
        return request
    messages: list[Message] = []
    for message in request.messages:
        content: list[ContentBlock] = []
        for block in message.content:
            if isinstance(block, ImageBlock) and left:
                left -= 1
                content.append(PLACEHOLDER)
            elif isinstance(block, ToolResultBlock) and left:
                parts: list[TextBlock | ImageBlock] = []
                for part in block.content:
                    drop = isinstance(part, ImageBlock) and left > 0
                    left -= drop
                    parts.append(PLACEHOLDER if drop else part)
                content.append(dataclasses.replace(block, content=tuple(parts)))
            else:
                content.append(block)
        messages.append(dataclasses.replace(message, content=tuple(content)))
    return dataclasses.replace(request, messages=tuple(messages))


def _images(request: LlmRequest) -> Iterator[ImageBlock]:
    for message in request.messages:
        for block in message.content:
            if isinstance(block, ImageBlock):
                yield block
            elif isinstance(block, ToolResultBlock):
                yield from (part for part in block.content if isinstance(part, ImageBlock))
