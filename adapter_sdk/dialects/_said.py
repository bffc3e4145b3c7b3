"""What requests of several dialects say in the same way."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NoReturn

from .._codes import UNSUPPORTED_CONTENT, UNSUPPORTED_REASONING_EFFORT
from .._content import ImageBlock
from .._failure import LlmError, local_error
from .._messages import Message

# Some providers refuse an empty tool result.
NO_OUTPUT: Final = "(no output)"


def text_only(message: Message) -> str:
    """Return the text of a turn that takes no images.

    Raises:
        LlmError: UNSUPPORTED_CONTENT for an image.
    """
    if any(block.type == "image" for block in message.content):
        misplaced("an image", message)
    return message.text


def misplaced(what: str, message: Message) -> NoReturn:
    """Refuse a block that a turn of this role cannot carry."""
    article = "an" if message.role == "assistant" else "a"
    raise local_error(
        UNSUPPORTED_CONTENT, f"{what} in {article} {message.role} turn has no place on this wire"
    )


def system_text(messages: Collection[Message]) -> str:
    """Return the text of all system turns, wherever they stand."""
    texts = (text_only(message) for message in messages if message.role == "system")
    return "\n\n".join(text for text in texts if text)


def data_url(image: ImageBlock) -> str:
    """Return the image as a base64 data URL."""
    return f"data:{image.media_type};base64,{image.data}"


def unsupported_effort(effort: str, known: Collection[str]) -> LlmError:
    """Return the refusal of an effort that is not among the ``known`` ones."""
    return local_error(
        UNSUPPORTED_REASONING_EFFORT,
        f"reasoning effort {effort!r} is not one of: " + (", ".join(known) or "none at all"),
    )
