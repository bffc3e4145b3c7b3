"""Where a hand-written file is wrong: told in the words of the file, never in those of a library.

The reader's models decide; ``_mistake`` explains. The two agree at every place of every table.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from conformance import _case_file, _known_failures
from conformance._mistake import Reading

CASE: dict[str, Any] = {
    "requirement": "code-auth",
    "dialect": "any",
    "title": "Every key is used once",
    "sources": ["a/b#1"],
    "needs": ["tools"],
    "call": {
        "request": "tools",
        "abort": {"after_chunks": 1, "at_idles": 1.0, "before": False},
        "cancel": {"after_chunks": 1},
        "leave": {"after_chunks": 1},
        "think": {"after_chunks": 1, "idles": 2},
    },
    "exchange": [
        {
            "status": 429,
            "headers": [
                ["a", "b"],
                ["a", {"date": "asctime", "plus_s": 42}],
                ["a", {"repeat_text": "x", "times": 3}],
                ["a", {"b64": "eA=="}],
            ],
            "interim": [{"status": 103, "headers": [["a", "b"]]}],
            "body": "x",
            "send": [
                "{}",
                {"raw": "x"},
                {"b64": "eA=="},
                {"repeat_text": "x", "times": 3},
                {"pause_idles": 0.5},
                {"gzip": ["x"], "drop_last": 1},
                {"zstd": ["x"], "drop_last": 1},
                {"repeat": [{"raw": "x"}], "every_idles": 0.5},
            ],
            "end": "eof",
        }
    ],
    "expect": {
        "requests": 1,
        "outcome": "failure",
        "partial_text": {"repeat": "x", "times": 3},
        "partial_reasoning": "x",
        "failure": {
            "code": "AUTH",
            "status": 401,
            "provider_retry_after_ms": "absent",
            "request_id": "absent",
            "message": "x",
            "usage": {"input_tokens": 1, "output_tokens": 1, "cache_read_tokens": "absent"},
        },
        "message": {
            "finish": "stop",
            "text": "x",
            "reasoning": {"repeat": "x", "times": 3},
            "tools": [["*", "ls", "{}"]],
            "usage": {"cache_write_tokens": 1, "reasoning_tokens": 1},
        },
    },
}

KNOWN: dict[str, Any] = {
    "known_failure": [
        {
            "check": "code-auth",
            "reason": "in work",
            "answer": "got 7",
            "issue": "12",
            "expires": date(2030, 1, 31),
        }
    ]
}

FILES = {
    "case": (_case_file._READING, CASE),
    "known-failures": (_known_failures._READING, KNOWN),
}

# What TOML can say in the place of another value.
WRONG: tuple[object, ...] = (
    *("", "x", "absent", "eof", "eA=", 0, -1, 1, 99, 250, 10**12, 0.0, 0.5, 101.0, math.nan),
    *(math.inf, True, False, date(2030, 1, 31), datetime(2030, 1, 31)),
    *([], ["x"], [1], ["x", "y"], ["x", "y", "z"], [["x", "y"]], [{}], {}, {"x": 1}, {"raw": 1}),
)


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every value in a table."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield (*at, key)
        yield from places(inner, (*at, key))


def changed(table: Any, at: tuple[str | int, ...], how: str, value: object = None) -> Any:
    """Return a copy of ``table`` with one value replaced, left out, or a key beside it."""
    copied = copy.deepcopy(table)
    inner = copied
    for key in at[:-1]:
        inner = inner[key]
    match how:
        case "replaced":
            inner[at[-1]] = value
        case "left out":
            del inner[at[-1]]
        case _:
            inner[how] = value
    return copied


def refusal(reading: Reading, table: Any) -> ValidationError | None:
    """Return why the reader's own model refuses a table, or None."""
    model: type[BaseModel] = reading.model
    try:
        model.model_validate({**table, **dict.fromkeys(reading.given, "x")})
    except ValidationError as error:
        return error
    return None


def mistakes(name: str) -> Iterator[Any]:
    """Yield tables with one change each, and where it is."""
    _, table = FILES[name]
    for at in places(table):
        for value in WRONG:
            yield at, changed(table, at, "replaced", value)
        yield at, changed(table, at, "left out")
        if isinstance(at[-1], str):
            yield at, changed(table, at, "nosuch", 1)


@pytest.mark.parametrize("name", FILES)
def test_the_whole_file_is_right(name: str) -> None:
    assert refusal(*FILES[name]) is None


def test_the_case_uses_every_key_that_there_is() -> None:
    used = {key for at in places(CASE) for key in at if isinstance(key, str)}
    schema = _case_file._READING.schema
    tables = [schema, *schema["$defs"].values()]

    assert used == {key for table in tables for key in table["properties"]}


@pytest.mark.parametrize("name", FILES)
def test_every_refusal_has_one_line_that_names_the_place_in_the_words_of_the_file(
    name: str,
) -> None:
    reading, _ = FILES[name]
    told = 0
    for at, table in mistakes(name):
        error = refusal(reading, table)
        if error is None:
            continue
        told += 1
        said = reading.mistake(error, table)
        place, _, words = said.partition(": ")
        assert "\n" not in said
        # An item of a list, or a key beside the one that was changed, is near enough.
        assert re.match(re.escape(".".join(map(str, at[:-1]))), place), (at, said)
        assert re.match(
            r"must be .+, not |is missing; it must be |no such key in a |no base64: |must say ",
            words,
        ), (at, said)
        assert not re.search(r"tuple|dict|instance|None|pydantic|Extra|permitted", said), said
    assert told > 100


@pytest.mark.parametrize("name", FILES)
def test_what_the_reader_takes_has_no_mistake_to_tell_of(name: str) -> None:
    reading, whole = FILES[name]
    error = refusal(reading, changed(whole, next(places(whole)), "nosuch", 1))
    assert error is not None
    taken = 0
    for at, table in mistakes(name):
        if refusal(reading, table) is None:
            taken += 1
            # Of another error nothing is said: it is repeated in its own words.
            assert "Extra inputs" in reading.mistake(error, table), (at, table)
    assert taken > 10
