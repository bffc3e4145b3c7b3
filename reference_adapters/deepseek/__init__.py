"""DeepSeek over its own HTTP API."""

from __future__ import annotations

from ._adapter import DeepSeekAdapter
from ._catalogue import CATALOGUE, CatalogueModel

__all__ = ["CATALOGUE", "CatalogueModel", "DeepSeekAdapter"]
