"""The shell of a page: one file, no network, a theme, filters. Returns HTML."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping
from importlib.resources import files

from .._in_words import COUNTED
from .._result import Status
from ._markup import Markup, joined, tag
from ._words import TONES


@functools.cache
def _resource(name: str) -> Markup:
    """Return a file of this package, which holds no text of a report."""
    return Markup((files(__package__) / name).read_text(encoding="utf-8"))


def page(title: str, *body: Markup, wide: bool = False) -> str:
    """Return a whole HTML document.

    Its policy lets no script run but its own, and loads nothing.
    """
    script = _resource("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    html = tag(
        "html",
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=policy),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("title", title),
            tag("style", _resource("page.css")),
        ),
        tag(
            "body",
            tag("div", *body, class_="wrap wide" if wide else "wrap"),
            tag("script", script),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{html}\n"


def kit_line(words: str) -> Markup:
    """Return the first line of a page, with the button that changes the theme."""
    return tag(
        "div",
        tag("a", "Skip to the verdicts", href="#ui-verdicts", class_="skip"),
        tag("span", words),
        tag("button", "Dark", id="ui-theme", type="button", class_="needs-script", title="Theme"),
        class_="kit",
    )


def filters(counts: Mapping[Status, int], *, of: str, groups: bool) -> Markup:
    """Return the bar that filters by text and by verdict.

    Args:
        counts: How many of each verdict there are; those without any get no button.
        of: What is filtered, in words.
        groups: Whether the page has groups to open and close.
    """
    chips = [
        tag(
            "button",
            tag("b", status.value),
            f" {counts[status]}",
            type="button",
            class_=TONES[status],
            data_chip=status.value,
            aria_pressed="false",
        )
        for status in COUNTED
        if counts.get(status)
    ]
    fold = [
        tag("button", words, type="button", data_open=state)
        for words, state in (("Open all", "yes"), ("Close all", "no"))
    ]
    return tag(
        "div",
        tag(
            "input",
            id="ui-search",
            type="search",
            placeholder=f"Search {of}  ( / )",
            aria_label=f"Search {of}",
            autocomplete="off",
        ),
        tag("div", *chips, class_="chips", role="group", aria_label="Show these verdicts only"),
        joined(*fold) if groups else None,
        tag("output", id="ui-found", aria_live="polite"),
        class_="filters needs-script",
        role="search",
    )


def nothing() -> Markup:
    """Return what is shown where the filter leaves nothing."""
    return tag("p", "Nothing fits the filter.", id="ui-nothing", class_="empty", hidden=True)


def pill(status: Status) -> Markup:
    """Return a verdict as a coloured label."""
    return tag("span", status.value, class_=f"pill {TONES[status]}")
