"""JSON that comes back as it was: checked and frozen before it is written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from typing_extensions import override

from .._dialect import Json

# RFC 7493 section 2.2: a reader that keeps numbers as doubles loses larger ones.
MAX_WHOLE_NUMBER: Final = 2**53 - 1
# pydantic-core reads up to 200; an event adds two of its own, and nobody nests by hand so far.
MAX_DEPTH: Final = 100


class LosslessError(ValueError):
    """A value that JSON would lose or change; the message begins with its path."""


class FrozenDict(dict[str, Any]):
    """A dict that cannot be changed; it compares and encodes like any other."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("the data of an event are frozen")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = _refuse
    __ior__ = _refuse

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, _: object) -> FrozenDict:
        return self

    @override
    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """A list that cannot be changed; it compares and encodes like any other."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("the data of an event are frozen")

    __setitem__ = __delitem__ = append = clear = extend = insert = pop = remove = _refuse
    reverse = sort = __iadd__ = __imul__ = _refuse

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, _: object) -> FrozenList:
        return self

    @override
    def __reduce__(self) -> tuple[type[FrozenList], tuple[list[Any]]]:
        return FrozenList, (list(self),)


def frozen(data: Mapping[str, Json]) -> FrozenDict:
    """Return a frozen copy of a JSON object.

    Raises:
        LosslessError: NaN, an infinity, -0.0, a number beyond 2^53-1, a lone surrogate, a key
            that is no string, a type that JSON does not have (a tuple, an enum), depth above 100.
    """
    value = _frozen(data, "data", 0)
    if type(value) is not FrozenDict:
        raise LosslessError("data: an object")
    return value


def frozen_read(data: Any) -> FrozenDict | None:
    """Return what a JSON reader has just made, frozen: its texts and keys are whole already.

    None where it holds what is seldom: a float, a large number, deep nesting, no object at
    all. ``frozen`` tells which of those may stay.
    """
    if type(data) is not dict:
        return None
    try:
        return _read_dict(data, 0)
    except _Seldom:
        return None


class _Seldom(Exception):
    """A value that wants a closer look."""


def _read_dict(value: dict[str, Any], depth: int) -> FrozenDict:
    # In place, for nobody else has it; keys stay, so the iteration is safe.
    for key, item in value.items():
        kind = type(item)
        if kind is str or (kind is int and -MAX_WHOLE_NUMBER <= item <= MAX_WHOLE_NUMBER):
            continue
        if kind is not bool and item is not None:
            value[key] = _read(item, kind, depth + 1)
    return FrozenDict(value)


def _read(item: Any, kind: type, depth: int) -> Any:
    if kind is dict and depth < MAX_DEPTH:
        return _read_dict(item, depth)
    if kind is list and depth < MAX_DEPTH:
        return FrozenList(
            [
                inner if (of := type(inner)) is str else _read_item(inner, of, depth + 1)
                for inner in item
            ]
        )
    raise _Seldom


def _read_item(item: Any, kind: type, depth: int) -> Any:
    if kind is bool or item is None:
        return item
    if kind is int and -MAX_WHOLE_NUMBER <= item <= MAX_WHOLE_NUMBER:
        return item
    return _read(item, kind, depth)


def _frozen(value: Any, path: str, depth: int) -> Any:
    kind = type(value)
    if kind is str:
        if not value.isascii():
            _check_text(value, path)
        return value
    if kind is dict or kind is FrozenDict:
        return _frozen_dict(value, path, depth)
    if kind is int:
        if not -MAX_WHOLE_NUMBER <= value <= MAX_WHOLE_NUMBER:
            raise LosslessError(f"{path}: a whole number beyond 2^53-1")
        return value
    if value is None or kind is bool:
        return value
    if kind is list or kind is FrozenList:
        _check_depth(path, depth)
        return FrozenList(
            [_frozen(item, f"{path}[{n}]", depth + 1) for n, item in enumerate(value)]
        )
    if kind is float:
        _check_float(value, path)
        return value
    raise LosslessError(f"{path}: {kind.__name__} is no type of JSON")


def _frozen_dict(value: dict[str, Any], path: str, depth: int) -> FrozenDict:
    _check_depth(path, depth)
    copy: dict[str, Any] = {}
    for key, item in value.items():
        if type(key) is not str:
            raise LosslessError(f"{path}: a key that is {type(key).__name__}, no string")
        if not key.isascii():
            _check_text(key, f"a key of {path}")
        # The common leaves, without a call and a path.
        kind = type(item)
        if (kind is str and item.isascii()) or (
            kind is int and -MAX_WHOLE_NUMBER <= item <= MAX_WHOLE_NUMBER
        ):
            copy[key] = item
        else:
            copy[key] = _frozen(item, f"{path}.{key}", depth + 1)
    return FrozenDict(copy)


def _check_depth(path: str, depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise LosslessError(f"{path[:80]}…: nested deeper than {MAX_DEPTH}")


def _check_text(text: str, path: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise LosslessError(f"{path}: a lone surrogate, which UTF-8 cannot carry") from None


def _check_float(value: float, path: str) -> None:
    if not math.isfinite(value):
        raise LosslessError(f"{path}: {value} is no number of JSON")
    if value == 0 and math.copysign(1, value) < 0:
        raise LosslessError(f"{path}: -0.0, which comes back as 0")
