"""The name under which every request goes out."""

from __future__ import annotations

import functools


@functools.cache
def sdk_name() -> str:
    """Return the distribution and its version."""
    # Not at the top: it brings the mail parser along, and takes longer than all our own modules.
    from importlib import metadata

    try:
        return f"dsh-adapter-sdk/{metadata.version('dsh-adapter-sdk')}"
    except metadata.PackageNotFoundError:  # run from a source tree that was never installed
        return "dsh-adapter-sdk/0"


def user_agent(extension: str | None) -> str:
    """Return the SDK's own name, followed by what a configuration adds."""
    return sdk_name() if not extension else f"{sdk_name()} {extension}"
