"""Every recipe runs, is short, says what it is for, and stands in the index."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

COOKBOOK: Final = Path(__file__).parents[2] / "cookbook"
RECIPES: Final = sorted(COOKBOOK.glob("*.py"))
# A recipe in another language is a folder, which says by itself what it is for.
FOLDERS: Final = sorted(page.parent for page in COOKBOOK.glob("[0-9][0-9]_*/README.md"))
ENTRIES: Final = sorted([*RECIPES, *FOLDERS])
# Of several seconds at most on a busy machine; a recipe that hangs must not hold the run.
LIMIT_S: Final = 120

MOST_LINES: Final = 80
# A whole dialect is a hundred and twenty; its cases come on top.
LONGER: Final = {"19_dialect_of_your_own.py": 170}


def named(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("recipe", RECIPES, ids=named)
def test_a_recipe_runs_from_any_folder_and_says_what_it_has_shown(
    recipe: Path, tmp_path: Path
) -> None:
    # No key and no address of the environment: a recipe brings all that it needs.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not re.search(r"_API_KEY\Z|_BASE_URL\Z|\APYTHON", name)
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", str(recipe)],
        check=False,
        capture_output=True,
        cwd=tmp_path,
        env=environment,
        text=True,
        timeout=LIMIT_S,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) in {1, 2}


@pytest.mark.parametrize("recipe", RECIPES, ids=named)
def test_a_recipe_is_short_and_opens_with_three_lines_of_what_and_when(recipe: Path) -> None:
    source = recipe.read_text()
    opening = ast.get_docstring(ast.parse(source)) or ""
    assert len(source.splitlines()) <= LONGER.get(recipe.name, MOST_LINES)
    assert len(opening.splitlines()) == 3
    assert opening.splitlines()[1].startswith("When: ")


@pytest.mark.parametrize("recipe", RECIPES, ids=named)
def test_a_recipe_asserts_its_claim(recipe: Path) -> None:
    assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(recipe.read_text())))


def test_the_index_has_one_line_for_each_recipe_in_order() -> None:
    lines = [line for line in (COOKBOOK / "README.md").read_text().splitlines() if line[:2] == "- "]
    listed = [re.fullmatch(r"- \[(.+?)\]\((.+?)\): .+", line) for line in lines]
    wanted = [
        (entry.name, f"{entry.name}/README.md" if entry in FOLDERS else entry.name)
        for entry in ENTRIES
    ]
    assert [match and match.groups() for match in listed] == wanted


def test_recipes_are_numbered_from_one_without_a_gap() -> None:
    numbers = [entry.name[:3] for entry in ENTRIES]
    assert numbers == [f"{number:02}_" for number in range(1, len(ENTRIES) + 1)]
