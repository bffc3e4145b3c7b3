"""The requirement catalogue, as data."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["must", "should", "may"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One sentence that is tested.

    Attributes:
        id: Stable and never reused.
        level: The word of RFC 2119.
        statement: The sentence.
        why: What goes wrong without it.
        source: Where it was decided.
        needs: Capability without which it does not apply, or None.
    """

    id: str
    level: Level
    statement: str
    why: str
    source: str
    needs: str | None = None

    @property
    def folder(self) -> str:
        """Its folder under ``cases/``, and the prefix of its checks."""
        return self.id.replace("-", "_")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All requirements of one edition, in the order in which they are told."""

    edition: str
    requirements: tuple[Requirement, ...]

    def __getitem__(self, requirement_id: str) -> Requirement:
        for requirement in self.requirements:
            if requirement.id == requirement_id:
                return requirement
        raise KeyError(requirement_id)

    def __contains__(self, requirement_id: object) -> bool:
        return any(requirement.id == requirement_id for requirement in self.requirements)


@functools.cache
def load_catalogue() -> Catalogue:
    """Return the catalogue that ships with the kit."""
    text = (files(__package__) / "requirements.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return Catalogue(
        edition=data["edition"],
        requirements=tuple(Requirement(**entry) for entry in data["requirement"]),
    )
