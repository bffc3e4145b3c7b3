"""What ``import adapter_sdk`` brings along: nothing that a call could bring itself."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

# Each was seen to take longer than all modules of the SDK together, or is no business of it.
NOT_AT_IMPORT: Final = (
    "asyncio",
    "click",
    "email.parser",
    "http.cookiejar",
    "httpx",
    "httpx2",
    "importlib.metadata",
    "pydantic",
    "pydantic_core",
    "pytest",
    "rich",
    "sqlite3",
    "trio",
    "zstandard",
)


def modules_after(statement: str) -> set[str]:
    script = f"import sys\n{statement}\nprint(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return set(ran.stdout.split())


@pytest.mark.parametrize(
    "statement", ["import adapter_sdk", "import adapter_sdk.dialects", "import adapter_sdk.codes"]
)
def test_an_import_leaves_to_the_call_what_the_call_needs(statement: str) -> None:
    assert modules_after(statement).isdisjoint(NOT_AT_IMPORT)


def test_the_import_brings_little_that_a_client_does_not_bring() -> None:
    ours, clients = (
        modules_after("import adapter_sdk"),
        modules_after("import httpx, anyio.lowlevel"),
    )
    outside = {name for name in ours if not name.startswith("adapter_sdk")}
    assert len(outside - clients) <= 3, sorted(outside - clients)
