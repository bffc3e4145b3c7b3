"""Token counts of the chat completions wire."""

from __future__ import annotations

from collections.abc import Iterable

from ..._chunks import TokenUsage
from ..._dialect import Json
from ._tables import CACHE_READ_PATHS, CACHE_WRITE_PATHS, REASONING_PATHS


def read_usage(value: Json) -> TokenUsage | None:
    """Return the counts of a full report, or None for null, a partial or a senseless one.

    The wire counts cached tokens inside ``prompt_tokens``; here the counts are disjoint.
    """
    if not isinstance(value, dict):
        return None
    prompt, output = _count(value.get("prompt_tokens")), _count(value.get("completion_tokens"))
    if prompt is None or output is None:
        return None
    read, write = _first(value, CACHE_READ_PATHS), _first(value, CACHE_WRITE_PATHS)
    read = None if read is None else min(read, prompt)
    write = None if write is None else min(write, prompt - (read or 0))
    return TokenUsage(
        input_tokens=prompt - (read or 0) - (write or 0),
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_tokens=write,
        reasoning_tokens=_first(value, REASONING_PATHS),
    )


def _count(value: Json) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _first(report: Json, paths: Iterable[tuple[str, ...]]) -> int | None:
    for path in paths:
        value = report
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if (count := _count(value)) is not None:
            return count
    return None
