"""Known failures: promises that an adapter does not keep yet, written down in its own repository.

Always strict. An entry that passes, fails in another way, has expired or matches nothing fails
the run, so that the file never says more than is true.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from ._catalogue import load_catalogue
from ._mistake import Reading
from ._near import did_you_mean
from ._result import BAD, Check, Result, Status


class KnownFailuresError(ValueError):
    """A file of known failures that cannot be used; the text says where and what."""


class KnownFailure(BaseModel):
    """One entry.

    Attributes:
        check: Id of a check, or of a requirement: then all its failing checks.
        reason: Why it is not kept yet; required.
        answer: Words of the expected wrong answer; another one is no known failure.
        issue: Where it is worked on.
        expires: From this day on the entry fails the run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    check: str
    reason: str
    answer: str | None = None
    issue: str | None = None
    expires: date | None = None

    @field_validator("check", "reason")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("must say something")
        return value

    def covers(self, check: Check) -> bool:
        """Whether this entry speaks of ``check``."""
        return self.check == check.id or self.requirement == check.requirement.id

    @property
    def requirement(self) -> str | None:
        """The requirement that it names, or None where it names a check."""
        return None if "/" in self.check else self.check.replace("_", "-")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)

    known_failure: list[KnownFailure] = []

    @model_validator(mode="after")
    def _once_each(self) -> _File:
        names = [entry.check for entry in self.known_failure]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{name} is there twice")
        return self


_READING: Final = Reading(
    _File,
    file="a file of known failures",
    shapes={"known_failure": "a list of tables, each under [[known_failure]]"},
)


def read_known_failures(path: Path, *, known_ids: set[str]) -> tuple[KnownFailure, ...]:
    """Return the entries of a file.

    Args:
        path: TOML with a table ``[[known_failure]]`` for each entry.
        known_ids: Ids of every check that exists, whatever the selection.

    Raises:
        KnownFailuresError: It cannot be read, an entry lacks its reason, or names nothing.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise KnownFailuresError(
            f"{path}: cannot be read: no UTF-8 at byte {error.start}"
        ) from error
    except OSError as error:  # no such file, a folder, no permission
        raise KnownFailuresError(f"{path}: cannot be read: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise KnownFailuresError(f"{path}: no TOML: {error}") from error
    try:
        entries = _File.model_validate(data).known_failure
    except ValidationError as error:
        raise KnownFailuresError(f"{path}: {_READING.mistake(error, data)}") from error
    requirements = [requirement.id for requirement in load_catalogue().requirements]
    for entry in entries:
        exists = entry.check in known_ids or (
            entry.requirement is not None and entry.requirement in requirements
        )
        if not exists:
            ids = requirements if entry.requirement is not None else sorted(known_ids)
            meant = did_you_mean(entry.check, ids)
            raise KnownFailuresError(
                f"{path}: {entry.check}: no check or requirement has this id"
                f"{meant or '; delete the entry'}"
            )
    return tuple(entries)


class KnownFailures:
    """Turns verdicts into XFAIL and STALE.

    Args:
        entries: What is known.
        today: Decides on expiry.
    """

    def __init__(self, entries: Sequence[KnownFailure], *, today: date) -> None:
        self._entries = tuple(entries)
        self._today = today
        self._seen: set[str] = set()
        self._failed: set[str] = set()

    def judge(self, result: Result) -> Result:
        """Return the verdict with what is known taken into account."""
        entry = self._entry(result.check)
        if entry is None or result.status in (Status.NA, Status.HARNESS):
            return result
        self._seen.add(entry.check)
        if result.status is Status.PASS:
            if entry.requirement is not None:
                return result
            return _stale(result, "it passes now: delete the entry")
        if result.status not in BAD and result.status is not Status.WARN:
            return result
        self._failed.add(entry.check)
        if entry.expires is not None and entry.expires <= self._today:
            return _stale(result, f"the entry expired on {entry.expires}: {entry.reason}")
        told = "\n".join((*result.differences, result.said))
        if entry.answer is not None and entry.answer not in told:
            return _stale(result, f"it fails in another way than {entry.answer!r}")
        known = entry.reason + (f" ({entry.issue})" if entry.issue else "")
        return dataclasses.replace(result, status=Status.XFAIL, note=known)

    def left_over(self) -> Iterator[Result]:
        """Yield a verdict for each requirement's entry under which everything passed."""
        for entry in self._entries:
            if entry.requirement is None or entry.check not in self._seen - self._failed:
                continue
            requirement = load_catalogue()[entry.requirement]
            check = Check(
                f"{requirement.folder}/known_failure", requirement, "The known failure still fails"
            )
            result = Result(check=check, status=Status.PASS, lane="known failures")
            yield _stale(result, "everything passes now: delete the entry")

    def _entry(self, check: Check) -> KnownFailure | None:
        exact = (entry for entry in self._entries if entry.check == check.id)
        return next(exact, next((e for e in self._entries if e.covers(check)), None))


def _stale(result: Result, why: str) -> Result:
    return dataclasses.replace(
        result, status=Status.STALE, differences=(f"known failure: {why}", *result.differences)
    )
