"""The models that DeepSeek lists. Advisory: an id that is not here passes through, as text only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEFAULT_CONTEXT_WINDOW: Final = 1_000_000
DEFAULT_MAX_TOKENS: Final = 256_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueModel:
    """What is known of one model; token counts."""

    id: str
    context_window: int = DEFAULT_CONTEXT_WINDOW
    max_tokens: int = DEFAULT_MAX_TOKENS
    images: bool = False


CATALOGUE: Final = {
    model.id: model
    for model in (
        CatalogueModel(id="deepseek-v4-flash"),
        CatalogueModel(id="deepseek-v4-pro"),
        CatalogueModel(id="deepseek-v4-flash-vision-exp", images=True),
    )
}


def takes_images(model: str) -> bool:
    """Whether the catalogue says that ``model`` reads images."""
    return model in CATALOGUE and CATALOGUE[model].images
