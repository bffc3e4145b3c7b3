"""Every check that is written as code."""

from __future__ import annotations

from typing import Final

from ._scenario import Scenario

SCENARIOS: Final[tuple[Scenario, ...]] = ()
