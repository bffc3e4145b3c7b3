"""What is wrong with a table that somebody wrote by hand: the place, and what belongs there.

A model of pydantic refuses a table in words for programmers. Its JSON schema knows the same
rules; this walks the table and the schema side by side, up to the first mistake. Pure.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

from ._near import did_you_mean, near
from ._schema_words import Schema, either, is_of, joined, shown, simple_words, undecodable


@dataclass(frozen=True, slots=True)
class Reading:
    """How the mistakes in one kind of file are told.

    Attributes:
        model: What a whole file is read as.
        file: What the file is, as ``a case file``.
        shapes: By key: what belongs there, where the schema alone would say it badly; by key and
            ``.*``: each item of the list there.
        given: Keys of the model that the reader adds and nobody writes.
    """

    model: type[BaseModel]
    file: str
    shapes: Mapping[str, str] = field(default_factory=dict)
    given: frozenset[str] = frozenset()

    def mistake(self, error: ValidationError, data: Mapping[str, Any]) -> str:
        """Return in one line why ``data``, as it was written, was refused with ``error``."""
        found = next(_Walk(self).walk(data), None)
        return _in_pydantics_words(error) if found is None else found

    @property
    def schema(self) -> Schema:
        """The schema of what a person writes."""
        return _schema_of(self.model, self.given)


@functools.cache
def _schema_of(model: type[BaseModel], given: frozenset[str]) -> Schema:
    schema = model.model_json_schema()
    for key in given:
        del schema["properties"][key]
        schema["required"].remove(key)
    return schema


def _in_pydantics_words(error: ValidationError) -> str:
    # What a validator of the model itself refused: its words were written for this.
    mistake = error.errors(include_url=False)[0]
    place = ".".join(map(str, mistake["loc"])) or "the file"
    return f"{place}: {mistake['msg'].removeprefix('Value error, ')}"


class _Walk:
    """One walk through a table. Every method yields mistakes, the first of them first."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._schema = reading.schema

    def walk(self, data: Mapping[str, Any]) -> Iterator[str]:
        """Yield the mistakes in a whole file."""
        yield from self._table(self._schema, data, "")

    def _resolved(self, schema: Schema) -> Schema:
        reference = schema.get("$ref")
        return self._schema["$defs"][reference.rpartition("/")[2]] if reference else schema

    def _table(self, schema: Schema, data: Mapping[str, Any], place: str) -> Iterator[str]:
        keys = schema["properties"]
        # A key that does not belong explains the one that is missing beside it.
        for key in data:
            if key not in keys:
                yield (
                    f"{joined(place, key)}: no such key in {self._reading.file}"
                    f"{self._meant(key, keys, place)}; the keys here are {', '.join(keys)}"
                )
        for key in schema.get("required", ()):
            if key not in data:
                words = self._words(self._resolved(keys[key]), key)
                yield f"{joined(place, key)}: is missing; it must be {words}"
        for key, value in data.items():
            if key in keys:
                yield from self._value(keys[key], value, joined(place, key), key)

    def _meant(self, key: str, keys: Mapping[str, Schema], place: str) -> str:
        """Return where a key belongs that stands in another table, or which one is near."""
        elsewhere = [path for path in self._paths(self._schema, ()) if path[-1] == key]
        # In the same part of the file first, then the one that is easiest to find.
        elsewhere.sort(key=lambda path: (path[0] != place.partition(".")[0], len(path)))
        meant = [*near(key, keys), *(".".join(path) for path in elsewhere[:1])]
        return f"; did you mean {' or '.join(meant)}?" if meant else ""

    def _paths(self, schema: Schema, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Yield the path of every key of the file and of the tables in it."""
        for key, inner in schema["properties"].items():
            path = (*above, key)
            yield path
            inner = self._resolved(inner)
            branches = [self._resolved(branch) for branch in _branches(inner)]
            items = self._resolved(inner.get("items", {}))
            for table in (*branches, items):
                if "properties" in table:
                    yield from self._paths(table, path)

    def _value(self, schema: Schema, value: object, place: str, key: str) -> Iterator[str]:
        schema = self._resolved(schema)
        branches = [self._resolved(branch) for branch in _branches(schema)]
        if len(branches) > 1:
            yield from self._one_of(schema, branches, value, place, key)
            return
        schema = branches[0]
        if not is_of(schema, value):
            yield self._wrong(schema, value, place, key)
        elif isinstance(value, dict):
            yield from self._table(schema, value, place)
        elif isinstance(value, list):
            yield from self._list(schema, value, place, key)
        elif schema.get("format") == "binary":
            yield from undecodable(str(value), place)

    def _one_of(
        self, schema: Schema, branches: list[Schema], value: object, place: str, key: str
    ) -> Iterator[str]:
        tables = [branch for branch in branches if "properties" in branch]
        if isinstance(value, dict) and tables:
            shared = [len(value.keys() & table["properties"].keys()) for table in tables]
            if len(tables) == 1 or any(shared):
                yield from self._table(tables[shared.index(max(shared))], value, place)
                return
            names = [name for table in tables for name in table["properties"]]
            hint = "".join(did_you_mean(name, names) for name in list(value)[:1])
            yield self._wrong(schema, value, place, key) + hint
        elif not any(is_of(branch, value) for branch in branches):
            yield self._wrong(schema, value, place, key)

    def _list(self, schema: Schema, value: list[Any], place: str, key: str) -> Iterator[str]:
        parts = schema.get("prefixItems")
        least = schema.get("minLength", schema.get("minItems", 0))  # pydantic writes either
        if len(value) < least or (parts is not None and len(value) != len(parts)):
            yield self._wrong(schema, value, place, key)
            return
        for number, item in enumerate(value):
            part = parts[number] if parts is not None else schema["items"]
            yield from self._value(part, item, f"{place}.{number}", f"{key}.*")

    def _wrong(self, schema: Schema, value: object, place: str, key: str) -> str:
        meant = did_you_mean(value, schema.get("enum", ())) if isinstance(value, str) else ""
        return f"{place}: must be {self._words(schema, key)}, not {shown(value)}{meant}"

    def _words(self, schema: Schema, key: str = "") -> str:
        """Return what belongs at a place, as ``a whole number from 200 to 999``."""
        if key in self._reading.shapes:
            return self._reading.shapes[key]
        branches = [self._resolved(branch) for branch in _branches(schema)]
        tables = [branch for branch in branches if "properties" in branch]
        words = [simple_words(branch) for branch in branches if branch not in tables]
        if tables:
            keys = ["{" + ", ".join(t.get("required") or t["properties"]) + "}" for t in tables]
            words.append(f"a table {either(keys)}")
        return either(words)


def _branches(schema: Schema) -> list[Schema]:
    every = schema.get("anyOf") or schema.get("oneOf") or [schema]
    return [branch for branch in every if branch.get("type") != "null"]
