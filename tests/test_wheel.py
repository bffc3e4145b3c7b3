"""The wheel: what is in it, and that it works from another folder, without the checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
TOP: Final = ("adapter_sdk", "conformance", "reference_adapters")
EXTRAS: Final = {
    "conformance": {"click", "pytest", "rich"},
    "httpx2": {"httpx2"},
    "aiohttp": {"httpx-aiohttp"},
    "real": {"xllamacpp"},
    "dev": {"coverage", "hypothesis", "mypy", "respx", "ruff", "syrupy", "trio"},
}


def run(*command: str | Path, cwd: Path, status: int = 0) -> str:
    # Nothing of the checkout may help: no path of the caller's, and another folder.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        cwd=cwd,
        env=environment,
        text=True,
        timeout=120,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the built wheel; build isolation would need a network."""
    folder = tmp_path_factory.mktemp("dist")
    run(
        *(sys.executable, "-m", "build", "--wheel", "--no-isolation"),
        *("--outdir", folder, ROOT),
        cwd=folder,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the scripts folder of an empty environment that has the wheel.

    The dependencies are those of the running environment: a plain path line adds its folder,
    but not the path files in it, so the editable checkout stays out.
    """
    folder = tmp_path_factory.mktemp("empty") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    (site,) = folder.glob("lib/python*/site-packages")
    dependencies = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}
    (site / "dependencies.pth").write_text("\n".join(sorted(dependencies)) + "\n")
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install"),
        *("--quiet", "--no-index", "--no-deps", "--ignore-installed", wheel),
        cwd=folder,
    )
    return folder / "bin"


def test_the_wheel_holds_the_three_packages_whole_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    packaged = {name for name in names if ".dist-info/" not in name}
    assert packaged == {
        str(path.relative_to(ROOT))
        for top in TOP
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packaged >= {f"{top}/py.typed" for top in TOP} | {"conformance/requirements.toml"}
    assert any(name.startswith("conformance/cases/") for name in packaged)


def test_the_wheel_says_its_licence_and_its_commands(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        info = {
            name.partition(".dist-info/")[2]: archive.read(name).decode()
            for name in archive.namelist()
            if ".dist-info/" in name
        }
    assert info["licenses/LICENSE"] == (ROOT / "LICENSE").read_text()
    for line in (
        "dsh-conformance = conformance.cli:main",
        "dsh_conformance = conformance.plugin",
        "deepseek = reference_adapters.deepseek:DeepSeekAdapter",
    ):
        assert line in info["entry_points.txt"].splitlines()
    assert "Requires-Python: >=3.11\n" in info["METADATA"]


def test_the_wheel_needs_little_and_offers_the_rest_as_extras(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = message_from_bytes(archive.read(path)).get_all("Requires-Dist", [])
    needed: dict[str, set[str]] = {}
    for line in lines:
        package, _, marker = line.partition(";")
        extra = marker.replace('"', "'").partition("extra == '")[2].partition("'")[0]
        needed.setdefault(extra, set()).add(re.split(r"[^\w.-]", package.strip())[0])
    assert needed[""] == {"anyio", "httpx", "httpx-sse", "pydantic", "typing-extensions"}
    for extra, packages in EXTRAS.items():
        assert needed[extra] >= packages


def test_the_installed_packages_are_the_wheels_own(scripts: Path, tmp_path: Path) -> None:
    code = f"import {', '.join(TOP)}; print(*(m.__file__ for m in ({', '.join(TOP)})), sep='\\n')"
    site = next(scripts.parent.glob("lib/python*/site-packages"))
    found = run(scripts / "python", "-c", code, cwd=tmp_path).splitlines()
    assert found == [str(site / top / "__init__.py") for top in TOP]


def test_the_installed_command_lists_every_requirement(scripts: Path, tmp_path: Path) -> None:
    listed = run(scripts / "dsh-conformance", "list", cwd=tmp_path).splitlines()
    assert len(listed) >= 40
    assert {line.split()[0] for line in listed} <= {"must", "should", "may"}


def test_the_installed_command_judges_the_reference_adapter(scripts: Path, tmp_path: Path) -> None:
    judged = run(scripts / "dsh-conformance", "deepseek", "code_auth", cwd=tmp_path).splitlines()
    assert judged[-1].startswith("CONFORMANT  deepseek  MUST 1/1")


def test_the_installed_command_says_in_one_line_what_it_cannot_find(
    scripts: Path, tmp_path: Path
) -> None:
    assert run(scripts / "dsh-conformance", "no_such_adapter", cwd=tmp_path, status=4) == ""
