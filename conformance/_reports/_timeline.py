"""Draw both sides of a call on one clock. Returns HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ._markup import Markup, tag
from ._model import Event

# Loopback takes single milliseconds; what lasts longer is somebody's wait.
A_WAIT_S: Final = 0.02

# The rest of a longer one is in the JSON report.
EVENTS_SHOWN: Final = 120

_LANES: Final = ("server", "caller")


def timeline(events: Sequence[Event]) -> Markup:
    """Return a strip to scale and a list in two lanes: the server left, the caller right."""
    to_scale = (_strip(events), _scale(events)) if events[-1].at_s > events[0].at_s else ()
    return tag("div", *to_scale, _list(events), class_="clock")


def _lane(event: Event) -> str:
    return "server" if event.side == "server" else "caller"


def _strip(events: Sequence[Event]) -> Markup:
    begin, end = events[0].at_s, events[-1].at_s
    lanes = [
        tag(
            "div",
            *(
                tag(
                    "i",
                    style=f"left:{100 * (event.at_s - begin) / (end - begin):.2f}%",
                    title=f"{_ms(event.at_s)} {event.side}: {event.what}",
                )
                for event in events[:EVENTS_SHOWN]
                if _lane(event) == lane
            ),
            class_=lane,
        )
        for lane in _LANES
    ]
    return tag("div", *lanes, class_="strip", aria_hidden="true")


def _scale(events: Sequence[Event]) -> Markup:
    ends = (_ms(events[0].at_s), _ms(events[-1].at_s))
    return tag("div", *(tag("span", end) for end in ends), class_="scale", aria_hidden="true")


def _list(events: Sequence[Event]) -> Markup:
    heads = tag("li", *(tag("span", lane, class_=lane) for lane in _LANES), class_="heads")
    return tag("ol", heads, *_rows(events), class_="events")


def _rows(events: Sequence[Event]) -> Iterator[Markup]:
    before = None
    for event in events[:EVENTS_SHOWN]:
        if before is not None and event.at_s - before >= A_WAIT_S:
            wait = f"{_ms(event.at_s - before)} pass"
            yield tag("li", tag("time", tag("span", wait)), class_="wait")
        before = event.at_s
        known = event.side in _LANES
        yield tag(
            "li",
            tag("time", tag("span", _ms(event.at_s))),
            tag("span", event.what if known else f"{event.side}: {event.what}", class_="what"),
            class_=_lane(event),
        )
    if len(events) > EVENTS_SHOWN:
        more = f"{len(events) - EVENTS_SHOWN} more events are in the JSON report"
        yield tag("li", tag("span", more, class_="what"), class_="caller")


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
