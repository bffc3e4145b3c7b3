"""Token counts of the messages wire: two partial reports, whose counts are running totals."""

from __future__ import annotations

from ..._chunks import TokenUsage
from ..._dialect import Json
from ._tables import USAGE_PATHS


class UsageCounter:
    """Merges the reports of one answer, field by field; the last count of a field stays."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def take(self, report: Json) -> None:
        """Take ``usage`` of ``message_start``, ``message_delta`` or a whole message.

        Nulls and senseless values change nothing.
        """
        for field, path in USAGE_PATHS.items():
            value = report
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            if type(value) is int and value >= 0:
                self._counts[field] = value

    @property
    def usage(self) -> TokenUsage | None:
        """The counts, once both sides are known."""
        counts = self._counts
        if "input_tokens" not in counts or "output_tokens" not in counts:
            return None
        return TokenUsage(
            input_tokens=counts["input_tokens"],
            output_tokens=counts["output_tokens"],
            cache_read_tokens=counts.get("cache_read_tokens"),
            cache_write_tokens=counts.get("cache_write_tokens"),
            reasoning_tokens=counts.get("reasoning_tokens"),
        )
