"""Reading case files: each mistake gets one line that names file, place and what belongs there."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance._case_file import CaseError, cases_in, merged, read_case, shipped_cases
from conformance._catalogue import load_catalogue

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


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("x = ", "no TOML", id="no-toml"),
        pytest.param(changed('dialect = "any"', ""), "dialect: field required", id="missing-key"),
        pytest.param(changed("outcome", "outcom"), "expect.outcom: no such key", id="unknown-key"),
        pytest.param(
            changed('"failure"', '"sucess"'), "expect.outcome: belongs here", id="bad-word"
        ),
        pytest.param(changed("401", "4001"), "exchange.0.status", id="bad-status"),
        pytest.param(changed("401", '"401"'), "exchange.0.status", id="status-is-a-string"),
        pytest.param(changed("code-auth", "code-nosuch"), "no requirement", id="unknown-id"),
        pytest.param(changed("code-auth", "code-quota"), "belongs in a folder", id="wrong-folder"),
        pytest.param(
            changed('"eof"', '"hold-before-headers"'),
            "status: has none",
            id="status-before-headers",
        ),
        pytest.param(changed("status = 401", ""), "status: is missing", id="no-status"),
        pytest.param(
            changed('end = "eof"', 'body = "x"\nsend = ["y"]'), "a body and steps", id="both-bodies"
        ),
        pytest.param(
            changed('end = "eof"', "send = [{nosuch = 1}]"),
            "a step is a string or one of",
            id="step",
        ),
        pytest.param(changed('end = "eof"', 'send = [{b64 = "*"}]'), "no base64", id="no-base64"),
        pytest.param(
            changed('"failure"', '"success"'), "expect.failure: stands", id="failure-of-a-success"
        ),
        pytest.param("id = 'x'\n" + GOOD, "id: the path is the id", id="own-id"),
    ],
)
def test_a_mistake_is_named(text: str, says: str) -> None:
    with pytest.raises(CaseError) as mistake:
        read_case(text, case_id="code_auth/mine", where="mine.toml")

    assert str(mistake.value).startswith("mine.toml: ")
    assert says in str(mistake.value)
    assert "\n" not in str(mistake.value)


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


@pytest.mark.parametrize(
    ("files", "says"),
    [
        pytest.param(None, "there is no such folder", id="no-folder"),
        pytest.param({}, "holds no case", id="empty-folder"),
        pytest.param({"code_auth/x.toml": b"\xff"}, "cannot be read", id="no-utf-8"),
    ],
)
def test_a_folder_that_cannot_be_used_is_named(
    tmp_path: Path, files: dict[str, bytes] | None, says: str
) -> None:
    folder = tmp_path / "cases"
    for name, content in (files or {}).items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(content)
    if files == {}:
        folder.mkdir()

    with pytest.raises(CaseError, match=says):
        cases_in(folder)


def test_two_files_with_one_id_are_refused() -> None:
    case = shipped_cases()[0]

    with pytest.raises(CaseError, match="two case files have this id"):
        merged([case], [case])
