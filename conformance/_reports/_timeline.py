"""Draw both sides of a call on one clock. Returns HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from .._shortening import LeftOut, Moment, shortened
from ._markup import Markup, tag
from ._model import Event

# Loopback takes single milliseconds; what lasts longer is somebody's wait.
A_WAIT_S: Final = 0.02

# The rest of a longer one is in the JSON report.
EVENTS_SHOWN: Final = 120

_LANES: Final = ("server", "caller")


def timeline(events: Sequence[Event]) -> Markup:
    """Return a strip to scale and a list in two lanes: the server left, the caller right."""
    shown = shortened([(e.at_s, e.side, e.what) for e in events], lines=EVENTS_SHOWN)
    begin, end = events[0].at_s, events[-1].at_s
    to_scale = (_strip(shown, begin, end), _scale(begin, end)) if end > begin else ()
    return tag("div", *to_scale, _list(shown), class_="clock")


def _lane(side: str) -> str:
    return "server" if side == "server" else "caller"


def _strip(shown: Sequence[Moment | LeftOut], begin: float, end: float) -> Markup:
    lanes = [
        tag(
            "div",
            *(
                tag(
                    "i",
                    style=f"left:{100 * (moment[0] - begin) / (end - begin):.2f}%",
                    title=f"{_ms(moment[0])} {moment[1]}: {moment[2]}",
                )
                for moment in shown
                if not isinstance(moment, LeftOut) and _lane(moment[1]) == lane
            ),
            class_=lane,
        )
        for lane in _LANES
    ]
    return tag("div", *lanes, class_="strip", aria_hidden="true")


def _scale(begin: float, end: float) -> Markup:
    ends = (_ms(begin), _ms(end))
    return tag("div", *(tag("span", end) for end in ends), class_="scale", aria_hidden="true")


def _list(shown: Sequence[Moment | LeftOut]) -> Markup:
    heads = tag("li", *(tag("span", lane, class_=lane) for lane in _LANES), class_="heads")
    return tag("ol", heads, *_rows(shown), class_="events")


def _rows(shown: Sequence[Moment | LeftOut]) -> Iterator[Markup]:
    before = None
    for moment in shown:
        if isinstance(moment, LeftOut):
            more = f"{moment.number} more events are in the JSON report"
            yield tag("li", tag("time", tag("span", more)), class_="wait")
            before = None
            continue
        at_s, side, what = moment
        if before is not None and at_s - before >= A_WAIT_S:
            wait = f"{_ms(at_s - before)} pass"
            yield tag("li", tag("time", tag("span", wait)), class_="wait")
        before = at_s
        known = side in _LANES
        yield tag(
            "li",
            tag("time", tag("span", _ms(at_s))),
            tag("span", what if known else f"{side}: {what}", class_="what"),
            class_=_lane(side),
        )


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
