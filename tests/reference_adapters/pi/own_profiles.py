"""Sets of profiles: one route of one's own, one model of it, or a change to a catalogue row."""

from __future__ import annotations

from typing import Any, Final

BASE: Final[dict[str, Any]] = {
    "api": "openai-completions",
    "base_url": "https://gateway.invalid/v1",
    "models": [{"id": "m1"}],
}


def own(**changes: Any) -> dict[str, Any]:
    return {"mine": {**BASE, **changes}}


def model(**changes: Any) -> dict[str, Any]:
    return own(models=[{"id": "m1", **changes}])


def openai(**changes: Any) -> dict[str, Any]:
    return {"openai": changes}
