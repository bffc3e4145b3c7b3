"""The conformance kit: what an LLM adapter owes its caller, judged offline.

The runner knows neither pytest nor click; ``cli``, ``plugin`` and ``suite`` stand on top of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._adapter_conformance import AdapterConformance

__all__ = ["AdapterConformance"]


def __getattr__(name: str) -> Any:
    """Import the test class once somebody asks for it: the package itself stays inert."""
    if name != "AdapterConformance":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._adapter_conformance import AdapterConformance

    return AdapterConformance
