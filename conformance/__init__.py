"""The conformance kit: what an LLM adapter owes its caller, judged offline.

The runner knows neither pytest nor click; ``cli``, ``plugin`` and ``suite`` stand on top of it.
``AdapterConformance`` is a test class for an adapter; the others replay what ``record`` kept.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._pytest._adapter_conformance import AdapterConformance
    from ._recording._file import exchange_of, load_recording, recording_names

__all__ = ["AdapterConformance", "exchange_of", "load_recording", "recording_names"]


def __getattr__(name: str) -> Any:
    """Import what the door offers once somebody asks for it: the package itself stays inert."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "_recording._file"
    if name == "AdapterConformance":
        module = "_pytest._adapter_conformance"
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
