"""What an adapter says about itself, so that the conformance kit knows what to ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Capability(StrEnum):
    """What an adapter can do; a requirement that needs another one is not applicable."""

    TOOLS = "tools"
    REASONING = "reasoning"
    IMAGES = "images"
    HTTP_FACTS = "http_facts"
    """Status and headers of responses reach its failures."""
    REQUEST_ID = "request_id"
    PROGRESS_TIMEOUT = "progress_timeout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """An adapter's promises.

    Attributes:
        dialects: Wires that it speaks, for example ``("openai-chat",)``.
        terminal: What it takes as proof of a good end, for example ``done-sentinel``.
        request_id_headers: Names in the order in which it tries them.
        capabilities: See ``Capability``.
        model: A model id that a reference conversation may name.
        profiles: Names that its factory takes as ``profile``; empty where it takes none.
    """

    dialects: tuple[str, ...]
    terminal: str
    request_id_headers: tuple[str, ...] = ()
    capabilities: frozenset[Capability] = frozenset(
        {
            Capability.TOOLS,
            Capability.REASONING,
            Capability.HTTP_FACTS,
            Capability.PROGRESS_TIMEOUT,
        }
    )
    model: str = "reference-model"
    profiles: tuple[str, ...] = ()
