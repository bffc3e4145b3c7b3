"""Credentials and control characters are in no report, and ordinary words stay as they are."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance._case_file import shipped_cases
from conformance._catalogue import load_catalogue
from conformance._reports import FORMATS, clean, report_of
from conformance._reports._clean import LONGEST_TEXT
from conformance._result import Run
from conformance._scenarios import SCENARIOS

JWT: Final = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        pytest.param("key sk-dsh-00ff00ff00ff!", "key sk-[redacted]!", id="nonce-key"),
        pytest.param("'sk-proj-a_B-9'", "'sk-[redacted]'", id="quoted-key"),
        pytest.param("Bearer abc.DEF-1~+/=", "Bearer [redacted]", id="bearer"),
        pytest.param("bearer   t0k3n, more", "bearer   [redacted], more", id="bearer-lower-case"),
        pytest.param('Bearer realm="api"', 'Bearer realm="api"', id="challenge"),
        pytest.param("x-api-key: abc123", "x-api-key: [redacted]", id="header"),
        pytest.param("X-Api-Key=abc123;", "X-Api-Key=[redacted];", id="header-equals"),
        pytest.param('{"x-api-key": "abc"}', '{"x-api-key": "[redacted]"}', id="json"),
        pytest.param("(b'x-api-key', b'abc')", "(b'x-api-key', b'[redacted]')", id="raw-header"),
        pytest.param("api_key='abc'", "api_key='[redacted]'", id="keyword"),
        pytest.param(
            "Authorization: Basic dTpw", "Authorization: Basic [redacted]", id="basic-authorization"
        ),
        pytest.param(
            "authorization: Bearer sk-12345", "authorization: Bearer [redacted]", id="both"
        ),
        pytest.param(
            "authorization: expected nothing, got 'Bearer abc'",
            "authorization: expected nothing, got 'Bearer [redacted]'",
            id="difference",
        ),
        pytest.param("https://me:pw@host/v1", "https://[redacted]@host/v1", id="userinfo"),
        pytest.param("GET /v1?key=abc&n=1", "GET /v1?key=[redacted]&n=1", id="query"),
        pytest.param(f"token {JWT} end", "token eyJ[redacted] end", id="json-web-token"),
        pytest.param("risk-free task-based", "risk-free task-based", id="words-with-sk"),
        pytest.param("the api key is wrong", "the api key is wrong", id="words-about-keys"),
        pytest.param(
            "called with base_url, api_key, idle_timeout",
            "called with base_url, api_key, idle_timeout",
            id="list-of-names",
        ),
        pytest.param(
            "a\x1b[31mb\x07\r\u202e\ud800", r"a\x1b[31mb\x07\r\u202e\ud800", id="controls"
        ),
        pytest.param("two\nlines\tand é 漢 🙂", "two\nlines\tand é 漢 🙂", id="printable"),
        pytest.param("sk-\x1b[0mab", r"sk-\x1b[0mab", id="key-broken-by-a-control"),
    ],
)
def test_a_text_is_cleaned(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned
    assert clean(cleaned) == cleaned


def test_a_long_text_is_cut_and_says_how_long_it_was() -> None:
    cleaned = clean("x" * 100_000)

    assert len(cleaned) == LONGEST_TEXT
    assert cleaned.endswith("x… (100000 characters)")
    assert clean(cleaned) == cleaned


@given(
    st.lists(
        st.sampled_from(
            ["sk-", "Bearer ", "x-api-key", ": ", "='", '"', ",", "abc", "=", "[redacted]", "://"]
        )
        | st.text(max_size=5)
    ).map("".join)
)
def test_what_is_clean_stays_as_it_is(text: str) -> None:
    assert clean(clean(text)) == clean(text)


def test_the_kits_own_sentences_are_clean() -> None:
    catalogue = load_catalogue().requirements
    sentences = [text for r in catalogue for text in (r.id, r.statement, r.why, r.source)]
    sentences += [text for case in shipped_cases() for text in (case.id, case.title)]
    sentences += [text for scenario in SCENARIOS for text in (scenario.id, scenario.title)]

    assert [clean(text) for text in sentences] == sentences


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    "field", ["target", "profile", "client", "said", "note", "lane", "differences", "timeline"]
)
def test_no_format_shows_a_credential_wherever_it_was(run: Run, kind: str, field: str) -> None:
    secret = "sk-dsh-00ff00ff00ff"
    if hasattr(run, field):
        of_run: dict[str, Any] = {field: secret}
        spoilt = dataclasses.replace(run, **of_run)
    else:
        value: dict[str, Any] = {
            "differences": (secret,),
            "timeline": ((0.0, "caller", secret),),
        }
        results = [
            dataclasses.replace(result, **{field: value.get(field, secret)})
            for result in run.results
        ]
        spoilt = dataclasses.replace(run, results=results)

    text = FORMATS[kind](report_of(spoilt))

    assert "00ff00ff" not in text
    assert "redacted" in text


LEAKY = """
from adapter_sdk import Declaration


class Leaky:
    declaration = Declaration(dialects=("openai-chat",), terminal="done-sentinel")

    def __init__(self, *, base_url, api_key, idle_timeout, progress_timeout):
        self.api_key = api_key

    def stream(self, request, abort=None):
        raise RuntimeError(f"{self.api_key} was refused\\x1b[31m")
"""


def test_an_adapter_that_tells_its_key_finds_it_neither_on_the_terminal_nor_in_a_file(
    command: Callable[..., Any], tmp_path: Path
) -> None:
    target = tmp_path / "leaky.py"
    target.write_text(LEAKY)
    reports = [f"--report={kind}={tmp_path / kind}" for kind in FORMATS]

    ran = command(f"{target}:Leaky", "code_auth", *reports)

    assert ran.exit_code == 1
    for text in (ran.out, ran.err, *((tmp_path / kind).read_text() for kind in FORMATS)):
        assert re.search("sk-dsh-[0-9a-f]{3}", text) is None
        assert "\x1b" not in text
    assert r"sk-[redacted] was refused\x1b[31m" in ran.out
