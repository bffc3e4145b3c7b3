"""Read case files. Each mistake gets one line: the file, the place, and what belongs there."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from pydantic import ValidationError

from ._case import Case
from ._catalogue import load_catalogue

# A dialect that any adapter speaks.
ANY_DIALECT = "any"


class CaseError(ValueError):
    """A case file that cannot be used; the text says where and what."""


# Before a response has a status, a connection can end in these ways.
_ENDINGS_WITHOUT_STATUS = (
    "hold-before-headers",
    "close-before-headers",
    "refuse",
    "reset",
)


def read_case(text: str, *, case_id: str, where: str) -> Case:
    """Return the case in ``text``.

    Raises:
        CaseError: No TOML, a key or value out of place, an unknown requirement, or a
            requirement that is not its folder's.
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
        raise CaseError(f"{where}: {_first_mistake(error)}") from error
    folder = case_id.split("/")[0]
    if case.requirement not in load_catalogue():
        raise CaseError(f"{where}: requirement: no requirement is called {case.requirement!r}")
    if case.requirement.replace("-", "_") != folder:
        raise CaseError(
            f"{where}: requirement: {case.requirement!r} belongs in a folder called "
            f"{case.requirement.replace('-', '_')}, this one is {folder}"
        )
    for number, exchange in enumerate(case.exchange):
        if exchange.body is not None and exchange.send:
            raise CaseError(f"{where}: exchange.{number}: has a body and steps; give one of them")
        if exchange.status is not None and exchange.end.endswith("-before-headers"):
            raise CaseError(f"{where}: exchange.{number}.status: has none with {exchange.end!r}")
        if exchange.status is None and exchange.end not in _ENDINGS_WITHOUT_STATUS:
            raise CaseError(f"{where}: exchange.{number}.status: is missing with {exchange.end!r}")
    if case.expect.failure is not None and case.expect.outcome != "failure":
        raise CaseError(f"{where}: expect.failure: stands with the outcome failure only")
    return case


def _first_mistake(error: ValidationError) -> str:
    # A key that does not belong explains the one that is missing beside it.
    mistake = min(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
    place = ".".join(str(part) for part in mistake["loc"] if part != "id") or "the file"
    if mistake["type"] == "extra_forbidden":
        return f"{place}: no such key in a case file"
    said = str(mistake["msg"]).replace("Input should be", "belongs here:")
    return f"{place}: {said[0].lower()}{said[1:]}"


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


def cases_in(folder: Path) -> tuple[Case, ...]:
    """Return the cases of another folder in the same layout.

    Raises:
        CaseError: No folder, no case in it, or a case that cannot be used.
    """
    if not folder.is_dir():
        raise CaseError(f"{folder}: there is no such folder")
    cases = []
    for case_id, file in _files(folder):
        where = str(folder / f"{case_id}.toml")
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CaseError(f"{where}: cannot be read: {error}") from error
        cases.append(read_case(text, case_id=case_id, where=where))
    if not cases:
        raise CaseError(f"{folder}: holds no case; a case is REQUIREMENT/WHAT_HAPPENS.toml")
    return tuple(cases)


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
