"""Rows as a table, as JSON to compare with, and as a plot."""

from __future__ import annotations

import dataclasses
import json
import math
import platform
from collections.abc import Sequence
from html import escape
from typing import Any, Final

from .measure import Row

_VERSION: Final = 1
_BAR_PX, _ROW_PX, _NAME_PX, _MARGIN_PX, _HEADING_PX = 420, 22, 190, 16, 28


def as_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table, the cheapest client of each mode first."""
    lines = [
        "| mode | client | CPU, us an event | x raw httpx | quartiles | first event, ms |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for row in _sorted(rows):
        mode = row.mode if row.streams == 1 else f"{row.mode}, {row.streams} streams"
        low, high = row.quartiles
        lines.append(
            f"| {mode} | {row.client} | {row.cpu_us:.2f} | {row.ratio:.2f} "
            f"| {low:.2f}-{high:.2f} | {row.first_ms:.2f} |"
        )
    return "\n".join(lines)


def as_json(rows: Sequence[Row]) -> str:
    """Return the rows, and on what they were measured."""
    return json.dumps(
        {
            "version": _VERSION,
            "python": platform.python_version(),
            "machine": platform.machine(),
            "rows": [dataclasses.asdict(row) for row in rows],
        },
        indent=1,
    )


def against(rows: Sequence[Row], earlier: str) -> str:
    """Return how the ratios differ from those of an earlier run's JSON."""
    before: dict[tuple[Any, ...], float] = {
        (row["mode"], row["streams"], row["client"]): row["ratio"]
        for row in json.loads(earlier)["rows"]
    }
    lines = ["| mode | client | x raw httpx before | now | change |", "|---|---|---:|---:|---:|"]
    for row in _sorted(rows):
        old = before.get((row.mode, row.streams, row.client))
        if old is not None:
            change = f"{100 * (row.ratio / old - 1):+.0f} %"
            lines.append(f"| {row.mode} | {row.client} | {old:.2f} | {row.ratio:.2f} | {change} |")
    return "\n".join(lines)


def as_svg(rows: Sequence[Row]) -> str:
    """Return bars of the ratios on a logarithmic scale, light on white."""
    ordered = _sorted(rows)
    largest = max(row.ratio for row in ordered)
    smallest = min(row.ratio for row in ordered)
    span = math.log(largest / smallest) or 1.0
    height = 2 * _MARGIN_PX + _HEADING_PX + _ROW_PX * len(ordered)
    width = _NAME_PX + _BAR_PX + 80 + 2 * _MARGIN_PX
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{_MARGIN_PX}" y="{_MARGIN_PX + 12}" font-weight="600" fill="#1f2328">'
        "CPU an event, times raw httpx (logarithmic)</text>",
    ]
    for number, row in enumerate(ordered):
        top = _MARGIN_PX + _HEADING_PX + number * _ROW_PX
        length = 4 + (_BAR_PX - 4) * math.log(row.ratio / smallest) / span
        colour = "#0969da" if row.client.startswith("sdk") else "#8c959f"
        name = escape(f"{row.mode}: {row.client}")
        left = _MARGIN_PX + _NAME_PX
        parts += [
            f'<text x="{left - 8}" y="{top + 14}" text-anchor="end" fill="#1f2328">{name}</text>',
            f'<rect x="{left}" y="{top + 3}" width="{length:.1f}" height="15" fill="{colour}"/>',
            f'<text x="{left + length + 6:.1f}" y="{top + 14}" fill="#1f2328">'
            f"{row.ratio:.2f}</text>",
        ]
    return "\n".join([*parts, "</svg>", ""])


def _sorted(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.mode, row.ratio))
