"""What a route offers, and what a request needs of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Final

from .. import LlmRequest, has_images


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteCapabilities:
    """What a route can do; the default is a plain text model.

    Attributes:
        tools: It takes tools.
        reasoning: It takes a reasoning effort.
        images: It takes images.
        prefill: It goes on from an assistant turn that stands last.
        stop: It takes texts that end the answer.
        strict_tools: It holds tool arguments to their schema where it is asked to.

    Raises:
        ValueError: A value is no flag; the message begins with its name.

    Source: design note 000.
    """

    tools: bool = False
    reasoning: bool = False
    images: bool = False
    prefill: bool = False
    stop: bool = False
    strict_tools: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, bool):
                raise ValueError(f"{field.name}: True or False, got {type(value).__name__}")

    def missing_for(self, request: LlmRequest) -> tuple[str, ...]:
        """Return the names of what ``request`` needs and this does not have."""
        return tuple(
            name for name, needs in _NEEDS.items() if needs(request) and not getattr(self, name)
        )


_NEEDS: Final[dict[str, Callable[[LlmRequest], bool]]] = {
    "tools": lambda request: bool(request.tools),
    # No effort, or none wanted: any model will do.
    "reasoning": lambda request: request.reasoning_effort not in (None, "off"),
    "images": has_images,
    "prefill": lambda request: bool(request.messages) and request.messages[-1].role == "assistant",
    "stop": lambda request: bool(request.stop),
    "strict_tools": lambda request: any(tool.strict for tool in request.tools),
}
