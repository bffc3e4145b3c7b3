"""The name under which every request goes out."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final


def _version() -> str:
    try:
        return version("dsh-adapter-sdk")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0"


USER_AGENT: Final = f"dsh-adapter-sdk/{_version()}"


def user_agent(extension: str | None) -> str:
    """Return the SDK's own name, followed by what a configuration adds."""
    return USER_AGENT if not extension else f"{USER_AGENT} {extension}"
