"""Many providers behind one configuration, each over its vendor's package.

``PiAdapter`` serves one route of ``PiProfiles``; the catalogue in ``profiles.toml`` knows some.
"""

from __future__ import annotations

from ._adapter import DiscoveredModel, PiAdapter, PiProfiles, discover_models
from ._profiles import Model, ProfileError, Route

__all__ = [
    "DiscoveredModel",
    "Model",
    "PiAdapter",
    "PiProfiles",
    "ProfileError",
    "Route",
    "discover_models",
]
