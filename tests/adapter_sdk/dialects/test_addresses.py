"""Where a dialect sends to and how it carries the key: what it may be told, what it refuses."""

from __future__ import annotations

from typing import Any, Final

import pytest

from adapter_sdk.dialects import AnthropicMessages, OpenAIChat, OpenAIResponses

DIALECTS: Final = (AnthropicMessages, OpenAIChat, OpenAIResponses)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("path", ["/v2/chat", "/", "/openai/x?api-version=2026-01-01", "/a%20b"])
def test_a_path_is_taken_as_it_is(dialect: Any, path: str) -> None:
    assert dialect(path=path).path == path


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("path", ["", "v1/chat", "//api.example/v1", "/a b", "/a#b", "/é", "/a\n"])
def test_a_path_that_cannot_be_appended_is_refused(dialect: Any, path: str) -> None:
    with pytest.raises(ValueError) as caught:
        dialect(path=path)
    said = f"path: begins with one slash and holds what an address may; got {path!r}"
    assert str(caught.value) == said


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_name_of_a_dialect_is_not_an_option(dialect: Any) -> None:
    with pytest.raises(TypeError, match="name"):
        dialect(name="other")


@pytest.mark.parametrize("dialect", [OpenAIChat, OpenAIResponses])
@pytest.mark.parametrize(
    ("header", "carried"),
    [
        ("authorization", {"authorization": "Bearer sk-1"}),
        ("Authorization", {"authorization": "Bearer sk-1"}),
        ("api-key", {"api-key": "sk-1"}),
        ("X-Acme-Key", {"x-acme-key": "sk-1"}),
    ],
)
def test_the_key_is_carried_in_the_header_that_was_named(
    dialect: Any, header: str, carried: dict[str, str]
) -> None:
    assert dialect(credential_header=header).credential_headers("sk-1") == carried


@pytest.mark.parametrize("dialect", [OpenAIChat, OpenAIResponses])
@pytest.mark.parametrize("header", ["", "api key", "api:key", "clé"])
def test_what_is_no_name_of_a_header_is_refused(dialect: Any, header: str) -> None:
    with pytest.raises(ValueError, match="credential_header: the name of a header, got"):
        dialect(credential_header=header)


def test_a_terminal_that_nobody_sends_is_refused() -> None:
    wrong: Any = "done"
    with pytest.raises(ValueError, match="terminal: one of done-sentinel, finish-reason"):
        OpenAIChat(terminal=wrong)
