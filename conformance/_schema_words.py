"""What a JSON schema says of one value, in words; and a value as a message shows it. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any, Final, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

_LONGEST_SHOWN: Final = 40

# TOML 1.0: a key that needs no quotes. Another may hold a line end, and a mistake is one line.
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def either(words: list[str]) -> str:
    """Return ``a, b or c``."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def is_of(schema: Schema, value: object) -> bool:
    """Whether a value is of the kind and within the bounds; what is in it is not looked at."""
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", [schema.get("const")])
    match schema.get("type"):
        case "string" if schema.get("format") == "date":
            return isinstance(value, date) and not isinstance(value, datetime)
        case "string":
            return isinstance(value, str) and len(value) >= schema.get("minLength", 0)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return type(value) is int and _is_within(schema, value)
        case "number":
            return type(value) in (int, float) and _is_within(schema, value)
        case "array":
            return isinstance(value, list)
        case _:
            return isinstance(value, dict)


def _is_within(schema: Schema, value: Any) -> bool:
    """Whether a number is within its bounds, which NaN never is."""
    return bool(
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and ("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])
    )


def undecodable(text: str, place: str) -> Iterator[str]:
    """Yield why ``text`` is no base64, if it is none."""
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error as error:
        yield f"{place}: no base64: {str(error)[:1].lower()}{str(error)[1:]}"


def simple_words(schema: Schema) -> str:
    """Return what belongs where the schema tells of no table, as ``a number from 0 to 100``."""
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if "const" in schema:
        return json.dumps(schema["const"])
    match schema.get("type"):
        case "string" if schema.get("format") == "date":
            return "a date like 2030-01-31 without quotes"
        case "string":
            return "a string that is not empty" if schema.get("minLength") else "a string"
        case "boolean":
            return "true or false"
        case "array":
            least = schema.get("minLength", 0)
            return "a list with at least one item" if least else "a list"
        case kind:
            return ("a whole number" if kind == "integer" else "a number") + _bounds(schema)


def _bounds(schema: Schema) -> str:
    least, above, most = (schema.get(k) for k in ("minimum", "exclusiveMinimum", "maximum"))
    said = "" if above is None else f" above {above}"
    if most is None:
        return said if least is None else f" from {least} up"
    return f"{said}, at most {most}" if least is None else f" from {least} to {most}"


def shown(value: object) -> str:
    """Return a value as TOML has it, cut to a readable length; of a table only the keys."""
    match value:
        case dict():
            return "a table {" + _cut(", ".join(joined("", key) for key in value)) + "}"
        case list():
            return _cut(json.dumps(value, ensure_ascii=False, default=str))
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(_cut(value), ensure_ascii=False)
        case _:
            return str(value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def joined(place: str, key: str) -> str:
    """Return the place of ``key`` in the table at ``place``, in one line."""
    bare = key if _BARE.fullmatch(key) else json.dumps(key)
    return f"{place}.{bare}" if place else bare
