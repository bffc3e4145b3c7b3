"""A folder of one's own cases: what is read, where it must lie, and which words a target knows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from adapter_sdk import Declaration
from conformance._case_file import CaseError, cases_in
from conformance._target import Target

from .good_case import GOOD, changed, sending

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
