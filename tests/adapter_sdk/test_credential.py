"""Where a credential comes from, what is refused, and that nothing of it is shown."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from adapter_sdk import LlmError
from adapter_sdk._credential import Credential

SECRET = "sk-0123456789"
VARIABLE = "EXAMPLE_API_KEY"
UNSET = f"there is no API key: ${VARIABLE} gives none"
INVALID = (
    "holds a character that no header can carry, "
    "such as a line break or a dash that only looks like one: copy it again"
)

pytestmark = pytest.mark.anyio


async def soon(value: Any) -> Any:
    return value


@pytest.mark.parametrize(
    ("value", "environment", "expected"),
    [
        pytest.param(SECRET, None, SECRET, id="argument"),
        pytest.param(f" \t{SECRET}  ", None, SECRET, id="spaces-around-it-go"),
        pytest.param(
            SECRET, "from-the-environment", SECRET, id="an-argument-beats-the-environment"
        ),
        pytest.param(None, SECRET, SECRET, id="environment"),
        pytest.param(lambda: SECRET, None, SECRET, id="callable"),
        pytest.param(lambda: soon(f"{SECRET} "), None, SECRET, id="async-callable"),
        pytest.param("a b~!", None, "a b~!", id="any-printable-ascii"),
    ],
)
async def test_a_credential_is_found_and_trimmed(
    value: Any, environment: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if environment is not None:
        monkeypatch.setenv(VARIABLE, environment)
    assert await Credential(value, environment=VARIABLE).resolve() == expected


@pytest.mark.parametrize(
    ("value", "environment", "code", "message"),
    [
        pytest.param(None, None, "MISSING_CREDENTIAL", UNSET, id="unset"),
        pytest.param(None, "", "MISSING_CREDENTIAL", UNSET, id="empty"),
        pytest.param(None, " \n", "MISSING_CREDENTIAL", UNSET, id="blank"),
        pytest.param(
            "",
            SECRET,
            "MISSING_CREDENTIAL",
            "there is no API key: an argument gives none",
            id="an-empty-argument-does-not-fall-through",
        ),
        pytest.param(
            lambda: None,
            SECRET,
            "MISSING_CREDENTIAL",
            "there is no API key: a callable gives none",
            id="a-callable-without-one-does-not-fall-through",
        ),
        pytest.param(
            f"{SECRET}\n{SECRET}",
            None,
            "INVALID_CREDENTIAL",
            f"the API key from an argument {INVALID}",
            id="line-break",
        ),
        pytest.param(
            None,
            SECRET.replace("-", "\u2011"),
            "INVALID_CREDENTIAL",
            f"the API key from ${VARIABLE} {INVALID}",
            id="dash-that-only-looks-like-one",
        ),
        pytest.param(
            lambda: f"{SECRET}\x7f",
            None,
            "INVALID_CREDENTIAL",
            f"the API key from a callable {INVALID}",
            id="control-character",
        ),
        pytest.param(
            lambda: SECRET.encode(),
            None,
            "INVALID_CREDENTIAL",
            "the API key from a callable is no string",
            id="bytes",
        ),
    ],
)
async def test_a_credential_that_cannot_be_used_is_refused_without_being_shown(
    value: Any,
    environment: str | None,
    code: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if environment is not None:
        monkeypatch.setenv(VARIABLE, environment)
    with pytest.raises(LlmError) as caught:
        await Credential(value, environment=VARIABLE).resolve()
    assert caught.value.failure.to_json() == {"code": code, "message": message}
    assert SECRET[:6] not in f"{caught.value!r} {caught.value}"


async def test_the_environment_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    credential = Credential(None, environment=VARIABLE)
    seen = []
    for value in ("first", "second"):
        monkeypatch.setenv(VARIABLE, value)
        seen.append(await credential.resolve())
    assert seen == ["first", "second"]


async def test_without_a_value_or_a_variable_there_is_none() -> None:
    with pytest.raises(LlmError) as caught:
        await Credential(None, environment=None).resolve()
    assert caught.value.code == "MISSING_CREDENTIAL"


@pytest.mark.parametrize(
    ("value", "environment", "shown"),
    [
        pytest.param(SECRET, None, "<Credential from an argument>", id="argument"),
        pytest.param(None, VARIABLE, f"<Credential from ${VARIABLE}>", id="environment"),
        pytest.param(lambda: SECRET, VARIABLE, "<Credential from a callable>", id="callable"),
    ],
)
async def test_the_repr_says_where_it_comes_from(
    value: Any, environment: str | None, shown: str
) -> None:
    assert repr(Credential(value, environment=environment)) == shown


@pytest.mark.parametrize("store", [pickle.dumps, copy.copy, copy.deepcopy])
async def test_a_credential_is_not_copied_or_stored(store: Any) -> None:
    with pytest.raises(TypeError, match="a credential is not copied or stored"):
        store(Credential(SECRET, environment=None))
