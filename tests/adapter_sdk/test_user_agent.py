"""The name under which every request goes out."""

from __future__ import annotations

from importlib import metadata

import pytest

from adapter_sdk import _user_agent
from adapter_sdk._user_agent import USER_AGENT, user_agent


@pytest.mark.parametrize(
    ("extension", "expected"),
    [
        pytest.param(None, USER_AGENT, id="nothing-added"),
        pytest.param("", USER_AGENT, id="nothing-added-by-an-empty-text"),
        pytest.param("my-app/2", f"{USER_AGENT} my-app/2", id="extended"),
    ],
)
def test_a_configuration_extends_the_name(extension: str | None, expected: str) -> None:
    assert user_agent(extension) == expected


def test_the_name_is_the_distribution_and_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_user_agent, "version", {"dsh-adapter-sdk": "1.2.3"}.__getitem__)
    assert _user_agent._version() == "1.2.3"
    name, _, number = USER_AGENT.partition("/")
    assert (name, number != "", USER_AGENT.isascii()) == ("dsh-adapter-sdk", True, True)


def test_a_source_tree_has_a_name_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: str) -> str:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(_user_agent, "version", unknown)
    assert _user_agent._version() == "0"
