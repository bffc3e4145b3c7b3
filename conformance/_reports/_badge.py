"""An SVG badge: the MUST requirements that an adapter keeps. Pure."""

from __future__ import annotations

from typing import Final

from ._markup import Markup, tag
from ._model import Report
from ._words import kept

LABEL: Final = "conformance"

# White on each of them has a contrast above 4.5 to 1 (WCAG 2.2, 1.4.3).
GREEN: Final = "#1a7f37"
RED: Final = "#c3272b"
AMBER: Final = "#8a6100"
GREY: Final = "#57606a"
LABEL_COLOUR: Final = "#3d444d"

HEIGHT: Final = 20
# Of the widths of 11 px Verdana: digits, capitals and the rest. `textLength` makes them exact.
_WIDTHS: Final = {**dict.fromkeys("0123456789", 7.0), **dict.fromkeys("MUST", 8.0), "/": 5.0}
_WIDTH: Final = 6.6
PADDING: Final = 6.0


def message_of(report: Report) -> tuple[str, str]:
    """Return what the badge says, and its colour.

    All MUST requirements of the edition that apply are the measure, so that a run of a few
    selected ones is no full score.
    """
    must = kept(report, "must")
    wanted = must.checked + must.left_out
    if report.exit_code in (3, 5):
        return "no verdict", GREY
    text = f"{must.kept}/{wanted} MUST"
    if must.not_applicable:
        text += f", {must.not_applicable} n/a"
    if report.exit_code == 1:
        return text, RED
    return text, GREEN if must.kept == wanted else AMBER


def badge(report: Report) -> str:
    """Return the badge as SVG, 20 pixels high."""
    message, colour = message_of(report)
    left, right = _width(LABEL), _width(message)
    width = left + right
    title = f"{LABEL}: {message}"
    drawn = tag(
        "svg",
        tag("title", f"{title} ({report.target}, edition {report.edition})"),
        tag("clipPath", tag("rect", width=width, height=HEIGHT, rx=3, fill="#fff"), id="round"),
        tag(
            "g",
            tag("rect", width=left, height=HEIGHT, fill=LABEL_COLOUR),
            tag("rect", x=left, width=right, height=HEIGHT, fill=colour),
            clip_path="url(#round)",
        ),
        tag(
            "g",
            _text(LABEL, 0, left),
            _text(message, left, right),
            fill="#fff",
            font_family="Verdana,DejaVu Sans,Geneva,sans-serif",
            font_size=11,
            text_anchor="middle",
        ),
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=HEIGHT,
        role="img",
        aria_label=title,
    )
    return f"{drawn}\n"


def _text(text: str, start: float, width: float) -> Markup:
    return tag("text", text, x=start + width / 2, y=14, textLength=width - 2 * PADDING)


def _width(text: str) -> float:
    return round(sum(_WIDTHS.get(letter, _WIDTH) for letter in text) + 2 * PADDING, 1)
