"""Token counts of the responses wire."""

from __future__ import annotations

from ..._chunks import TokenUsage
from ..._dialect import Json


def read_usage(value: Json) -> TokenUsage | None:
    """Return the counts of a full report, or None for null, a partial or a senseless one.

    The wire counts cached tokens inside ``input_tokens``; here the counts are disjoint.
    """
    if not isinstance(value, dict):
        return None
    total, output = _count(value, "input_tokens"), _count(value, "output_tokens")
    if total is None or output is None:
        return None
    of_input = value.get("input_tokens_details")
    read = _count(of_input, "cached_tokens")
    write = _count(of_input, "cache_write_tokens")
    read = None if read is None else min(read, total)
    write = None if write is None else min(write, total - (read or 0))
    return TokenUsage(
        input_tokens=total - (read or 0) - (write or 0),
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_tokens=write,
        reasoning_tokens=_count(value.get("output_tokens_details"), "reasoning_tokens"),
    )


def _count(report: Json, key: str) -> int | None:
    value = report.get(key) if isinstance(report, dict) else None
    return value if type(value) is int and value >= 0 else None
