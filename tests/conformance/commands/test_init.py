"""``init``: what it writes passes as it is written, and it overwrites nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conformance._known_failures import read_known_failures
from conformance._scaffold import Names, ScaffoldError, names_of, write_package

from .ran import Ran

FILES = [
    ".github/workflows/conformance.yml",
    "README.md",
    "acme_adapter/__init__.py",
    "acme_adapter/adapter.py",
    "acme_adapter/py.typed",
    "pyproject.toml",
    "tests/known_failures.toml",
    "tests/test_conformance.py",
]


def files_in(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_from_an_empty_folder_the_package_is_green(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "acme-adapter"
    folder.mkdir()
    monkeypatch.chdir(folder)
    ran = Ran(capsys, "init")
    tested = run(folder, "pytest", "-q", "-p", "no:cacheprovider")

    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1] == "next: pytest, or dsh-conformance acme_adapter:AcmeAdapter"
    assert files_in(folder) == FILES
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert int(tested.stdout.splitlines()[-1].split()[0]) > 300


def test_the_package_is_judged_by_the_command_too_and_needs_no_tidying(
    tmp_path: Path,
) -> None:
    write_package(tmp_path, Names("acme"))
    command = "import sys; from conformance.cli import main; main(sys.argv[1:])"
    judged = subprocess.run(
        [
            *(sys.executable, "-c", command, "acme_adapter:AcmeAdapter", "code_auth"),
            *("--known-failures", "tests/known_failures.toml"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    linted = run(tmp_path, "ruff", "check", "--isolated", "--line-length=100", ".")
    formatted = run(tmp_path, "ruff", "format", "--isolated", "--line-length=100", "--check", ".")

    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert linted.returncode == 0, linted.stdout
    assert formatted.returncode == 0, formatted.stdout


def test_the_names_stand_in_every_file_and_no_placeholder_is_left(tmp_path: Path) -> None:
    write_package(tmp_path, Names("big_model"))
    texts = {path.name: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    project = tomllib.loads(texts["pyproject.toml"])

    assert not any("@" in text.replace("actions/", "").replace("@v", "") for text in texts.values())
    assert project["project"]["name"] == "big-model-adapter"
    assert project["project"]["entry-points"]["dsh.adapters"] == {
        "big-model": "big_model_adapter:BigModelAdapter"
    }
    assert 'api_key_env = "BIG_MODEL_API_KEY"' in texts["adapter.py"]
    assert read_known_failures(tmp_path / "tests" / "known_failures.toml", known_ids=set()) == ()


@pytest.mark.parametrize(
    ("name", "folder", "package"),
    [
        pytest.param(None, "acme", "acme_adapter", id="folder"),
        pytest.param(None, "Acme-Adapter", "acme_adapter", id="folder-that-says-adapter"),
        pytest.param(None, "2026 plans", "my_adapter", id="folder-that-is-no-name"),
        pytest.param("Big-Model", "acme", "big_model_adapter", id="name"),
        pytest.param("big_model_adapter", "acme", "big_model_adapter", id="whole-name"),
        pytest.param("class", "acme", "class_adapter", id="keyword"),
    ],
)
def test_what_a_package_is_called(
    tmp_path: Path, name: str | None, folder: str, package: str
) -> None:
    assert names_of(name, tmp_path / folder).package == package


@pytest.mark.parametrize(
    "name", ["", "2big", "a b", "é", "a/../b", "a__b", "_", "adapter-", "test"]
)
def test_a_name_that_no_package_can_have_is_one_line_and_exit_4(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    ran = Ran(capsys, "init", str(tmp_path), "--name", name)

    assert ran.exit_code == 4
    assert ran.is_one_line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_is_there_is_not_overwritten_and_none_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, file: str
) -> None:
    there = tmp_path / file
    there.parent.mkdir(parents=True, exist_ok=True)
    there.symlink_to(tmp_path / "nowhere")  # a link to nowhere is a file that is there

    ran = Ran(capsys, "init", str(tmp_path), "--name", "acme")

    assert ran.exit_code == 4
    assert ran.err == f"dsh-conformance: {there}: is there already; nothing was written\n"
    assert files_in(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")

    with pytest.raises(ScaffoldError, match="cannot be written"):
        write_package(tmp_path / "file" / "new", Names("acme"))
    assert (tmp_path / "file").read_text() == "mine"
