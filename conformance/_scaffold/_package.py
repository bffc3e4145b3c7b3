"""Write the files of a new adapter package from the templates beside this module."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

# Path in the new package -> template. @package@, @distribution@, @class@, @name@ and @env@ stand
# for the names, in paths and in texts; no language that is written here gives them a meaning.
FILES: Final = {
    "pyproject.toml": "pyproject.txt",
    "README.md": "readme.txt",
    "@package@/__init__.py": "package.txt",
    "@package@/adapter.py": "adapter.txt",
    "@package@/py.typed": "typed.txt",
    "tests/test_conformance.py": "test.txt",
    "tests/known_failures.toml": "known_failures.txt",
    ".github/workflows/conformance.yml": "workflow.txt",
}

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_SUFFIX: Final = "_adapter"
_TAKEN_FOR_A_TEST: Final = "Test"  # pytest's ``python_classes``
# What a package is called whose folder has no name to take.
_NAMELESS: Final = "my"


class ScaffoldError(Exception):
    """A package that cannot be written; the text says what stands in its way."""


@dataclass(frozen=True, slots=True)
class Names:
    """What the parts of the package are called, from one name such as ``acme``."""

    name: str

    @property
    def package(self) -> str:
        """The package: ``acme_adapter``."""
        return self.name + _SUFFIX

    @property
    def class_(self) -> str:
        """The class: ``AcmeAdapter``."""
        return "".join(word.capitalize() for word in self.package.split("_"))

    def filled(self, template: str) -> str:
        """Return ``template`` with these names in it."""
        values = {
            "package": self.package,
            "distribution": self.package.replace("_", "-"),
            "class": self.class_,
            "name": self.name.replace("_", "-"),
            "env": self.name.upper(),
        }
        return re.sub(r"@([a-z]+)@", lambda found: values[found[1]], template)


def names_of(name: str | None, folder: Path) -> Names:
    """Return the names of a package that is called ``name``, or like its folder.

    Raises:
        ScaffoldError: ``name`` cannot be a part of a Python name.
    """
    wanted = _plain(folder.resolve().name) if name is None else name.lower().replace("-", "_")
    wanted = wanted.removesuffix(_SUFFIX)
    if _NAME.fullmatch(wanted) is None:
        if name is not None:
            raise ScaffoldError(f"--name {name}: letters, digits and hyphens, a letter first")
        wanted = _NAMELESS
    if Names(wanted).class_.startswith(_TAKEN_FOR_A_TEST):
        if name is not None:
            raise ScaffoldError(
                f"--name {name}: pytest would take {Names(wanted).class_} for a test"
            )
        wanted = _NAMELESS
    return Names(wanted)


def write_package(folder: Path, names: Names) -> list[Path]:
    """Write a package to ``folder`` and return its files.

    Raises:
        ScaffoldError: A file is there already, and then none is written; or one cannot be.
    """
    templates = files(__package__) / "templates"
    wanted = {
        folder / names.filled(path): names.filled(
            (templates / template).read_text(encoding="utf-8")
        )
        for path, template in FILES.items()
    }
    for path in wanted:
        if os.path.lexists(path):  # a link to nowhere would be overwritten too
            raise ScaffoldError(f"{path}: is there already; nothing was written")
    for path, text in wanted.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:  # no permission, no room, a file where a folder belongs
            raise ScaffoldError(f"{path}: cannot be written: {error.strerror}") from error
    return list(wanted)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
