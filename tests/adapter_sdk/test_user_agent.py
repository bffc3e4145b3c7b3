"""The name under which every request goes out."""

from __future__ import annotations

from importlib import metadata

import pytest

from adapter_sdk._user_agent import sdk_name, user_agent


@pytest.mark.parametrize(
    ("extension", "expected"),
    [
        pytest.param(None, sdk_name(), id="nothing-added"),
        pytest.param("", sdk_name(), id="nothing-added-by-an-empty-text"),
        pytest.param("my-app/2", f"{sdk_name()} my-app/2", id="extended"),
    ],
)
def test_a_configuration_extends_the_name(extension: str | None, expected: str) -> None:
    assert user_agent(extension) == expected


def test_the_name_is_the_distribution_and_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", {"dsh-adapter-sdk": "1.2.3"}.__getitem__)
    assert sdk_name.__wrapped__() == "dsh-adapter-sdk/1.2.3"
    assert sdk_name().isascii()


def test_a_source_tree_has_a_name_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: str) -> str:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", unknown)
    assert sdk_name.__wrapped__() == "dsh-adapter-sdk/0"
