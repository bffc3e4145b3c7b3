"""The vendor's package is imported when an adapter is made, and named where it is missing."""

from __future__ import annotations

import builtins
import importlib
import sys
from types import ModuleType
from typing import Any

import pytest

from reference_adapters.pi import PiAdapter


@pytest.mark.parametrize(
    ("profile", "missing", "message"),
    [
        ("openai", "openai", "openai: openai-completions needs the package openai"),
        (
            "openai-responses",
            "openai",
            "openai-responses: openai-responses needs the package openai",
        ),
        ("anthropic", "anthropic", "anthropic: anthropic-messages needs the package anthropic"),
        ("groq", "httpx2", "groq: openai-completions needs the package httpx2"),
    ],
)
def test_a_missing_package_says_which_command_installs_it(
    profile: str, missing: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModuleNotFoundError) as caught:
        PiAdapter(profile=profile)
    assert str(caught.value) == f"{message}: pip install 'dsh-adapter-sdk[pi]'"


def test_importing_the_door_imports_no_vendor(monkeypatch: pytest.MonkeyPatch) -> None:
    imported: list[str] = []
    original = builtins.__import__

    def noted(name: str, *arguments: Any, **options: Any) -> ModuleType:
        imported.append(name)
        return original(name, *arguments, **options)

    doors = [name for name in sys.modules if name.startswith("reference_adapters.pi")]
    for name in doors:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", noted)
    importlib.import_module("reference_adapters.pi").PiAdapter.declaration("anthropic")
    assert {"openai", "anthropic", "httpx2"} & {name.split(".")[0] for name in imported} == set()
