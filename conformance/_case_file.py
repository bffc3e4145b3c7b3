"""Read case files. Each mistake gets one line: the file, the place, and what belongs there."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ._case import Case
from ._case_sense import ANY_DIALECT as ANY_DIALECT
from ._case_sense import inapplicable, nonsense, unplayable
from ._mistake import Reading
from ._target import Target

# REQUIREMENT/WHAT_HAPPENS.toml
_DEPTH: Final = 2


class CaseError(ValueError):
    """A case file that cannot be used; the text says where and what."""


_READING: Final = Reading(
    Case,
    file="a case file",
    shapes={
        "exchange": "a list of tables, each under [[exchange]]",
        "headers": 'a list of pairs: [["name", "value"], …]',
        "headers.*": 'a pair: ["name", "value"]',
        "send": 'a list of steps: [\'{"choices":[…]}\', {raw = "…"}, …]',
        "tools": 'a list of calls: [["id", "name", "arguments"], …]',
        "tools.*": 'a call of three strings: ["id", "name", "arguments"]',
    },
    given=frozenset({"id"}),
)

# A line that other TOML files hardly have: what is told where a case lies in the wrong place.
_OF_A_CASE: Final = re.compile(r"(?m)^\s*(?:requirement\s*=|\[\[\s*exchange\s*\]\]|\[\s*expect\b)")


def read_case(text: str, *, case_id: str, where: str) -> Case:
    """Return the case in ``text``.

    Raises:
        CaseError: No TOML, a key or value out of place, a requirement that is unknown or not
            its folder's, or something that would never come true.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CaseError(f"{where}: no TOML: {error}") from error
    if "id" in data:
        raise CaseError(f"{where}: id: the path is the id, leave the key out")
    try:
        case = Case.model_validate({**data, "id": case_id})
    except ValidationError as error:
        raise CaseError(f"{where}: {_READING.mistake(error, data)}") from error
    for said in nonsense(case):
        raise CaseError(f"{where}: {said}")
    return case


def _files(folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    for requirement in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if requirement.is_dir():
            for file in sorted(requirement.iterdir(), key=lambda entry: entry.name):
                if file.name.endswith(".toml"):
                    yield f"{requirement.name}/{file.name.removesuffix('.toml')}", file


@functools.cache
def shipped_cases() -> tuple[Case, ...]:
    """Return the cases that ship with the kit, by id."""
    return tuple(
        read_case(file.read_text(encoding="utf-8"), case_id=case_id, where=f"cases/{case_id}.toml")
        for case_id, file in _files(files(__package__) / "cases")
    )


def cases_in(folder: Path, *, target: Target | None = None) -> tuple[Case, ...]:
    """Return the cases of another folder in the same layout.

    Args:
        folder: Holds a folder for each requirement.
        target: What is judged: it may declare a dialect and a terminal of its own. None: any
            dialect and any terminal may be somebody's.

    Raises:
        CaseError: No folder, no case in it, a case in the wrong place, one that cannot be used,
            or one that never applies: neither kit nor target knows its dialect or terminal.
    """
    if not folder.is_dir():
        raise CaseError(f"{folder}: there is no such folder")
    try:
        found = list(_files(folder))
        _refuse_misplaced(folder)
    except OSError as error:  # a folder that may not be listed, a file that may not be read
        raise CaseError(f"{error.filename}: cannot be read: {error.strerror}") from error
    cases = []
    for case_id, file in found:
        where = str(folder / f"{case_id}.toml")
        case = read_case(_text(file, where), case_id=case_id, where=where)
        for said in (*unplayable(case), *(() if target is None else inapplicable(case, target))):
            raise CaseError(f"{where}: {said}")
        cases.append(case)
    if not cases:
        raise CaseError(f"{folder}: holds no case; a case is REQUIREMENT/WHAT_HAPPENS.toml")
    return tuple(cases)


def _text(file: Traversable | Path, where: str) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CaseError(f"{where}: cannot be read: no UTF-8 at byte {error.start}") from error
    except OSError as error:  # no permission, or a link that leads nowhere
        raise CaseError(f"{where}: cannot be read: {error.strerror}") from error


def _refuse_misplaced(folder: Path) -> None:
    """Tell of a case that lies elsewhere: nobody would miss it, for other cases run."""
    for file in sorted(folder.rglob("*.[tT][oO][mM][lL]")):
        name = file.relative_to(folder)
        is_read = len(name.parts) == _DEPTH and file.suffix == ".toml"
        if is_read or not file.is_file():
            continue
        # What else lies there, as a list of known failures, is nobody's mistake.
        if _OF_A_CASE.search(file.read_bytes().decode(errors="replace")):
            raise CaseError(
                f"{file}: is not read here; a case is REQUIREMENT/WHAT_HAPPENS.toml in {folder}"
            )


def merged(*groups: Iterable[Case]) -> tuple[Case, ...]:
    """Return all cases in one order, by id.

    Raises:
        CaseError: Two files have the same id.
    """
    by_id: dict[str, Case] = {}
    for case in (case for group in groups for case in group):
        if case.id in by_id:
            raise CaseError(f"{case.id}: two case files have this id; rename one")
        by_id[case.id] = case
    return tuple(by_id[case_id] for case_id in sorted(by_id))
