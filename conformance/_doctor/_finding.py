"""What a step of ``doctor`` found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Mark: TypeAlias = Literal["good", "bad", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one step found.

    Attributes:
        mark: ``note`` is worth knowing and no fault.
        what: In a few words.
        remedy: What to do about it, or empty.
        stops: The target cannot be judged, so no later step is of use.
    """

    mark: Mark
    what: str
    remedy: str = ""
    stops: bool = False
