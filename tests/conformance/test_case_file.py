"""Reading case files: each mistake gets one line that names file, place and what belongs there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from adapter_sdk import Declaration, codes
from conformance._case_file import CaseError, cases_in, merged, read_case, shipped_cases
from conformance._catalogue import load_catalogue
from conformance._target import Target

GOOD = """
requirement = "code-auth"
dialect = "any"
title = "A refused key is refused"
[[exchange]]
status = 401
end = "eof"
[expect]
outcome = "failure"
[expect.failure]
code = "AUTH"
"""


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


STEP = (
    "must be a string or a table {raw}, {b64}, {repeat_text, times}, {pause_idles}, "
    "{repeat, every_idles}, {gzip} or {zstd}"
)
FAILURE = '[expect.failure]\ncode = "AUTH"'
EXPECT_KEYS = "requests, outcome, partial_text, partial_reasoning, failure, message"


def sending(step: str) -> str:
    return changed('end = "eof"', f"send = [{step}]")


def calling(act: str) -> str:
    return changed("[[exchange]]", f"[call]\n{act}\n[[exchange]]")


def answered_with(header: str) -> str:
    return changed('end = "eof"', f"headers = {header}")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("x = ", "no TOML: Invalid value (at end of document)", id="no-toml"),
        pytest.param(
            changed('dialect = "any"', ""),
            "dialect: is missing; it must be a string",
            id="missing-key",
        ),
        pytest.param(
            changed('title = "A refused key is refused"', 'title = ""'),
            'title: must be a string that is not empty, not ""',
            id="empty-title",
        ),
        pytest.param(
            changed("outcome", "outcom"),
            "expect.outcom: no such key in a case file; did you mean outcome?; "
            f"the keys here are {EXPECT_KEYS}",
            id="unknown-key",
        ),
        pytest.param(
            changed(FAILURE, 'text = "Hi"'),
            "expect.text: no such key in a case file; did you mean expect.message.text?; "
            f"the keys here are {EXPECT_KEYS}",
            id="key-of-another-table",
        ),
        pytest.param(
            changed('"failure"', '"sucess"'),
            'expect.outcome: must be one of success, failure, cancelled, left, not "sucess"; '
            "did you mean success?",
            id="bad-word",
        ),
        pytest.param(
            changed("401", "4001"),
            "exchange.0.status: must be a whole number from 200 to 999, not 4001",
            id="bad-status",
        ),
        pytest.param(
            changed("401", '"401"'),
            'exchange.0.status: must be a whole number from 200 to 999, not "401"',
            id="status-is-a-string",
        ),
        pytest.param(
            changed("[[exchange]]", "[exchange]"),
            "exchange: must be a list of tables, each under [[exchange]], not a table "
            "{status, end}",
            id="one-bracket",
        ),
        pytest.param(
            changed("[[exchange]]\nstatus = 401\nend", "exchange = []\n[call]\nrequest").replace(
                '"eof"', '"text"'
            ),
            "exchange: must be a list of tables, each under [[exchange]], not []",
            id="no-exchange",
        ),
        pytest.param(
            answered_with('{a = "b"}'),
            'exchange.0.headers: must be a list of pairs: [["name", "value"], …], not a table {a}',
            id="headers-are-a-table",
        ),
        pytest.param(
            answered_with('["a", "b"]'),
            'exchange.0.headers.0: must be a pair: ["name", "value"], not "a"',
            id="header-is-no-pair",
        ),
        pytest.param(
            answered_with('[["a"]]'),
            'exchange.0.headers.0: must be a pair: ["name", "value"], not ["a"]',
            id="header-without-value",
        ),
        pytest.param(
            answered_with('[["a", 1]]'),
            "exchange.0.headers.0.1: must be a string or a table {date, plus_s}, "
            "{repeat_text, times} or {b64}, not 1",
            id="header-value-is-a-number",
        ),
        pytest.param(
            answered_with('[["a", {date = "asc", plus_s = 1}]]'),
            "exchange.0.headers.0.1.date: must be one of imf-fixdate, rfc-850, asctime, "
            'not "asc"; did you mean asctime?',
            id="header-date",
        ),
        pytest.param(
            answered_with('[["@request-id", "x"]]'),
            "exchange.0.headers: no header is called '@request-id'; @request-id:1 is the first "
            "name that the adapter declares",
            id="request-id-without-a-number",
        ),
        pytest.param(
            sending("{nosuch = 1}"),
            f"exchange.0.send.0: {STEP}, not a table {{nosuch}}",
            id="step",
        ),
        pytest.param(
            sending("{pause_s = 1}"),
            f"exchange.0.send.0: {STEP}, not a table {{pause_s}}; did you mean pause_idles?",
            id="step-that-is-near-another",
        ),
        pytest.param(sending("1"), f"exchange.0.send.0: {STEP}, not 1", id="step-is-a-number"),
        pytest.param(
            changed('end = "eof"', "send = 'x'"),
            'exchange.0.send: must be a list of steps: [\'{"choices":[…]}\', {raw = "…"}, …], '
            'not "x"',
            id="one-step-without-a-list",
        ),
        pytest.param(
            sending('{repeat_text = "x"}'),
            "exchange.0.send.0.times: is missing; it must be a whole number from 0 to 2147483648",
            id="step-lacks-a-key",
        ),
        pytest.param(
            sending("{pause_idles = 0}"),
            "exchange.0.send.0.pause_idles: must be a number above 0, at most 100, not 0",
            id="pause-of-nothing",
        ),
        pytest.param(
            sending("{pause_idles = true}"),
            "exchange.0.send.0.pause_idles: must be a number above 0, at most 100, not true",
            id="pause-of-a-truth",
        ),
        pytest.param(
            sending("{repeat = [], every_idles = 1}"),
            "exchange.0.send.0.repeat: must be a list with at least one item, not []",
            id="repeat-nothing",
        ),
        pytest.param(
            sending('{b64 = "*"}'),
            "exchange.0.send.0.b64: no base64: only base64 data is allowed",
            id="no-base64",
        ),
        pytest.param(
            calling("abort = 3"),
            "call.abort: must be a table {after_chunks, at_idles, before}, not 3",
            id="moment-is-a-number",
        ),
        pytest.param(
            calling('request = "tool"'),
            'call.request: must be one of text, tools, reasoning, images, not "tool"; '
            "did you mean tools?",
            id="request-that-nobody-makes",
        ),
        pytest.param(
            calling("abort = {before = true, after_chunks = 1}"),
            "call.abort: before the call stands alone",
            id="abort-at-two-moments",
        ),
        pytest.param(
            calling("cancel = {before = true}"),
            "call.cancel.before: a call is aborted before it begins, never cancelled",
            id="cancel-before",
        ),
        pytest.param(
            calling("leave = {at_idles = 1}"),
            "call.leave: must be a table {after_chunks} of one chunk or more, and nothing else",
            id="leave-in-time",
        ),
        pytest.param(
            calling("think = {after_chunks = 0, idles = 1}"),
            "call.think.after_chunks: must be one chunk or more",
            id="think-before-the-first-chunk",
        ),
        pytest.param(
            changed(FAILURE, '[expect.message]\ntools = ["ls"]'),
            'expect.message.tools.0: must be a call of three strings: ["id", "name", '
            '"arguments"], not "ls"',
            id="tool-call",
        ),
        pytest.param(
            changed(FAILURE, "[expect.message]\nusage = {input = 1}"),
            "expect.message.usage.input: no such key in a case file; did you mean input_tokens?; "
            "the keys here are input_tokens, output_tokens, cache_read_tokens, "
            "cache_write_tokens, reasoning_tokens",
            id="count-of-tokens",
        ),
        pytest.param(
            changed('"AUTH"', '"AUTH"\nstatus = "none"'),
            'expect.failure.status: must be a whole number or "absent", not "none"',
            id="absent-in-another-word",
        ),
        pytest.param(
            changed("code-auth", "code-atuh"),
            "requirement: no requirement is called 'code-atuh'; did you mean code-auth?",
            id="unknown-requirement",
        ),
        pytest.param(
            changed("code-auth", "xyzzy"),
            "requirement: no requirement is called 'xyzzy'; see dsh-conformance list",
            id="requirement-like-no-other",
        ),
        pytest.param(
            changed("code-auth", "code-quota"),
            "requirement: 'code-quota' belongs in a folder called code_quota, this one is "
            "code_auth",
            id="wrong-folder",
        ),
        pytest.param(
            changed('dialect = "any"', 'dialect = "any"\nneeds = ["tool"]'),
            "needs: no capability is called 'tool'; did you mean tools?; there are tools, "
            "reasoning, images, http_facts, request_id, progress_timeout",
            id="capability-that-nobody-declares",
        ),
        pytest.param(
            changed('"eof"', '"hold-before-headers"'),
            "exchange.0.status: has none with 'hold-before-headers'",
            id="status-before-headers",
        ),
        pytest.param(
            changed("status = 401", ""), "exchange.0.status: is missing with 'eof'", id="no-status"
        ),
        pytest.param(
            changed('end = "eof"', 'body = "x"\nsend = ["y"]'),
            "exchange.0: has a body and steps; give one of them",
            id="both-bodies",
        ),
        pytest.param(
            changed('"failure"', '"success"'),
            "expect.failure: stands with the outcome failure only",
            id="failure-of-a-success",
        ),
        pytest.param(
            changed(FAILURE, '[expect.message]\ntext = "Hi"'),
            "expect.message: stands with the outcome success only; what came before another end "
            "is expect.partial_text and expect.partial_reasoning",
            id="message-of-a-failure",
        ),
        pytest.param(
            changed(FAILURE, "").replace('"failure"', '"cancelled"'),
            "expect.outcome: nobody cancels; say when under call.cancel",
            id="cancelled-by-nobody",
        ),
        pytest.param(
            changed(FAILURE, "").replace('"failure"', '"left"'),
            "expect.outcome: nobody leaves; say when under call.leave",
            id="left-by-nobody",
        ),
        pytest.param(
            '"a\\nb" = 1\n' + GOOD,
            '"a\\nb": no such key in a case file; the keys here are requirement, dialect, title, '
            "sources, needs, call, exchange, expect",
            id="key-of-two-lines",
        ),
        pytest.param("id = 'x'\n" + GOOD, "id: the path is the id, leave the key out", id="own-id"),
    ],
)
def test_a_mistake_is_named(text: str, says: str) -> None:
    with pytest.raises(CaseError) as mistake:
        read_case(text, case_id="code_auth/mine", where="mine.toml")

    assert str(mistake.value) == f"mine.toml: {says}"


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        pytest.param("NOPE", "", id="like-no-other"),
        pytest.param("RATELIMIT", "; did you mean RATE_LIMIT?", id="mistyped"),
        pytest.param("auth", "; did you mean AUTH?", id="in-small-letters"),
        pytest.param("HTTP_4", "", id="no-status"),
    ],
)
def test_a_code_that_does_not_exist_is_refused_with_the_list(code: str, meant: str) -> None:
    with pytest.raises(CaseError) as mistake:
        read_case(changed("AUTH", code), case_id="code_auth/mine", where="mine.toml")

    said, _, listed = str(mistake.value).partition("; there are ")
    assert said == f"mine.toml: expect.failure.code: no code is called {code!r}{meant}"
    assert listed.split(", ") == [*sorted(codes.CODES), "HTTP_nnn"]


def test_a_status_without_a_rule_is_a_code() -> None:
    text = changed('"AUTH"', '"HTTP_418"')

    assert read_case(text, case_id="code_auth/mine", where="mine.toml").expect.failure is not None


def test_every_shipped_case_can_be_read_and_titles_are_unique_in_a_dialect() -> None:
    cases = shipped_cases()

    assert len(cases) >= 190
    # Twins in other dialects may say the same in the same words.
    assert len({(case.dialect, case.title) for case in cases}) == len(cases)


def test_every_requirement_has_a_check() -> None:
    from conformance._explain import catalogue_data
    from conformance._scenarios import SCENARIOS

    data = catalogue_data(shipped_cases(), SCENARIOS)

    assert [r["id"] for r in data["requirements"] if not r["checks"]] == []
    assert len(data["requirements"]) == len(load_catalogue().requirements)


LINES = Target(
    "lines",
    lambda: None,
    Declaration(dialects=("lines",), terminal="end-line"),
    profile=None,
    takes_client=False,
)


def folder_with(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


@pytest.mark.parametrize(
    ("files", "says"),
    [
        pytest.param({"other/x": ""}, "cases: there is no such folder", id="no-folder"),
        pytest.param(
            {"cases/x.md": ""},
            "cases: holds no case; a case is REQUIREMENT/WHAT_HAPPENS.toml",
            id="empty-folder",
        ),
        pytest.param(
            {"cases/code_auth/x.toml": b"a = '\xff'"},
            "cases/code_auth/x.toml: cannot be read: no UTF-8 at byte 5",
            id="no-utf-8",
        ),
        pytest.param(
            {"cases/code_auth/x.toml/y": ""},
            "cases/code_auth/x.toml: cannot be read: Is a directory",
            id="a-folder-with-the-name-of-a-case",
        ),
        pytest.param(
            {
                "cases/code_auth/x.toml": GOOD.replace(
                    'end = "eof"', "send = [{gzip = [{pause_idles = 1}]}]"
                )
            },
            "cases/code_auth/x.toml: exchange: a compressed member holds bytes, no pauses and no "
            "repetitions",
            id="what-no-server-can-play",
        ),
    ],
)
def test_a_folder_that_cannot_be_used_is_named(
    tmp_path: Path, files: dict[str, str | bytes], says: str
) -> None:
    with pytest.raises(CaseError) as mistake:
        cases_in(folder_with(tmp_path, files) / "cases")

    assert str(mistake.value) == f"{tmp_path}/{says}"


@pytest.mark.parametrize(
    "place",
    ["mine.toml", "openai/code_auth/mine.toml", "code_auth/MINE.TOML", "code_auth/old/mine.toml"],
)
@pytest.mark.parametrize("text", [GOOD, 'requirement = "broken', "[[exchange]]\nbody = '\xff'"])
def test_a_case_that_lies_in_the_wrong_place_is_told_although_others_run(
    tmp_path: Path, place: str, text: str
) -> None:
    folder_with(tmp_path, {"code_auth/good.toml": GOOD, place: text.encode("latin-1")})

    with pytest.raises(CaseError) as mistake:
        cases_in(tmp_path)

    assert str(mistake.value) == (
        f"{tmp_path / place}: is not read here; a case is REQUIREMENT/WHAT_HAPPENS.toml "
        f"in {tmp_path}"
    )


def test_a_case_of_zstd_is_read_where_zstd_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    folder_with(tmp_path, {"code_auth/mine.toml": sending('{zstd = ["x"]}')})

    assert [case.id for case in cases_in(tmp_path)] == ["code_auth/mine"]


def test_other_files_may_lie_beside_the_cases(tmp_path: Path) -> None:
    folder_with(
        tmp_path,
        {
            "code_auth/good.toml": GOOD,
            "code_auth/README.md": GOOD,
            "known_failures.toml": "[[known_failure]]\ncheck = 'code-auth'\nreason = 'x'",
            "data/more/broken.toml": b"\xff",
        },
    )

    assert [case.id for case in cases_in(tmp_path)] == ["code_auth/good"]


@pytest.mark.parametrize(
    ("dialect", "meant"),
    [
        pytest.param("openai", "; did you mean openai-chat or openai-responses?", id="beginning"),
        pytest.param("openai_chat", "; did you mean openai-chat?", id="underscore"),
        pytest.param("line", "; did you mean lines?", id="near-what-the-target-declares"),
        pytest.param("smoke", "", id="like-no-other"),
    ],
)
def test_a_dialect_that_nobody_speaks_is_refused_where_there_is_a_target(
    tmp_path: Path, dialect: str, meant: str
) -> None:
    text = changed('"any"', f'"{dialect}"')
    folder_with(tmp_path, {"code_auth/mine.toml": text})

    with pytest.raises(CaseError) as mistake:
        cases_in(tmp_path, target=LINES)

    assert str(mistake.value) == (
        f"{tmp_path}/code_auth/mine.toml: dialect: neither the kit nor the target speaks "
        f"{dialect!r}{meant}; there are any, anthropic-messages, lines, openai-chat, "
        "openai-responses"
    )


@pytest.mark.parametrize(
    ("dialect", "target"),
    [
        pytest.param("lines", LINES, id="of-the-target"),
        pytest.param("openai-responses", LINES, id="of-the-kit"),
        pytest.param("any", LINES, id="of-everybody"),
        pytest.param("lines", None, id="of-somebody-where-there-is-no-target"),
    ],
)
def test_a_dialect_that_somebody_speaks_is_taken(
    tmp_path: Path, dialect: str, target: Target | None
) -> None:
    folder_with(tmp_path, {"code_auth/mine.toml": changed('"any"', f'"{dialect}"')})

    assert [case.dialect for case in cases_in(tmp_path, target=target)] == [dialect]


@pytest.mark.parametrize(
    "need", ["terminal_end_line", "terminal_message_stop", "terminal_done_sentinel"]
)
def test_a_terminal_of_the_kit_or_of_the_target_may_be_needed(tmp_path: Path, need: str) -> None:
    text = changed('dialect = "any"', f'dialect = "any"\nneeds = ["{need}"]')
    folder_with(tmp_path, {"code_auth/mine.toml": text})

    assert [case.needs for case in cases_in(tmp_path, target=LINES)] == [(need,)]


def test_a_terminal_that_nobody_knows_is_refused_where_there_is_a_target(tmp_path: Path) -> None:
    text = changed('dialect = "any"', 'dialect = "any"\nneeds = ["terminal_done_sentinal"]')
    folder_with(tmp_path, {"code_auth/mine.toml": text})

    with pytest.raises(CaseError) as mistake:
        cases_in(tmp_path, target=LINES)

    assert str(mistake.value) == (
        f"{tmp_path}/code_auth/mine.toml: needs: neither the kit nor the target knows "
        "'terminal_done_sentinal'; did you mean terminal_done_sentinel?; there are "
        "terminal_done_sentinel, terminal_end_line, terminal_finish_reason, "
        "terminal_message_stop, terminal_response_completed"
    )
    assert [case.needs for case in cases_in(tmp_path)] == [("terminal_done_sentinal",)]


def test_two_files_with_one_id_are_refused() -> None:
    case = shipped_cases()[0]

    with pytest.raises(CaseError, match="two case files have this id"):
        merged([case], [case])
