"""Reading case files: each mistake gets one line that names file, place and what belongs there."""

from __future__ import annotations

import pytest

from adapter_sdk import codes
from conformance._case_file import CaseError, merged, read_case, shipped_cases
from conformance._catalogue import load_catalogue

from .good_case import GOOD, changed, sending

STEP = (
    "must be a string or a table {raw}, {b64}, {repeat_text, times}, {pause_idles}, "
    "{repeat, every_idles}, {gzip} or {zstd}"
)
FAILURE = '[expect.failure]\ncode = "AUTH"'
EXPECT_KEYS = "requests, outcome, partial_text, partial_reasoning, failure, message"


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


def test_two_files_with_one_id_are_refused() -> None:
    case = shipped_cases()[0]

    with pytest.raises(CaseError, match="two case files have this id"):
        merged([case], [case])
