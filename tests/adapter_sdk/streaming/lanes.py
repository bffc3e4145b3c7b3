"""On which event loop, and with which HTTP library, a test is run."""

from __future__ import annotations

from typing import Literal

import httpx
import httpx2
import pytest

Backend = Literal["asyncio", "trio"]

lanes = pytest.mark.parametrize(
    ("backend", "library"),
    [
        pytest.param(backend, library, id=f"{backend}-{library.__name__}")
        for backend in ("asyncio", "trio")
        for library in (httpx, httpx2)
    ],
)
both_backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])
