"""Write HTML and SVG in which every text is escaped unless it was made here. Pure."""

from __future__ import annotations

from html import escape
from typing import Final, TypeAlias


class Markup(str):
    """Text that is markup already. Only ``tag`` and ``joined`` make it."""

    __slots__ = ()


Attribute: TypeAlias = str | int | float | bool | None

# HTML 13.1.2: they have no content and no end tag.
_VOID: Final = frozenset({"input", "meta", "br"})


def tag(name: str, /, *children: str | None, **attributes: Attribute) -> Markup:
    """Return an element.

    Args:
        name: Of the element.
        children: Text, which is escaped, or markup, which is not; None is nothing.
        attributes: ``class_`` is written ``class`` and ``aria_label`` is written ``aria-label``;
            True is the bare name, False and None leave the attribute out.
    """
    start = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{start}>")
    return Markup(f"<{start}>{joined(*children)}</{name}>")


def joined(*children: str | None) -> Markup:
    """Return the children one after the other, text escaped."""
    return Markup(
        "".join(c if isinstance(c, Markup) else escape(c) for c in children if c is not None)
    )


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(text)}"'
