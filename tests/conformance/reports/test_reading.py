"""The published JSON: it obeys its schema, is read back equal, and refused where it is damaged."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from conformance._reports import (
    Report,
    ReportError,
    published_schema,
    read_report,
    report_of,
    schema_text,
)
from conformance._reports import _model as model
from conformance._result import Run

Write: TypeAlias = Callable[[str, Report], Path]


def test_the_published_schema_is_that_of_the_model() -> None:
    assert published_schema() == schema_text(), (
        "write conformance._reports.schema_text() to conformance/report.schema.json, and count "
        "SCHEMA_VERSION up if old reports no longer fit"
    )


def test_a_report_obeys_the_published_schema(report: Report) -> None:
    schema = json.loads(published_schema())
    kind: Any = importlib.import_module("jsonschema").Draft202012Validator  # it has no types
    kind.check_schema(schema)
    validator = kind(schema)

    validator.validate(json.loads(report.to_json()))
    spoilt: list[dict[str, Any]] = [
        {"extra": 1},
        {"exit_code": 2},
        {"schema_version": 2},
        {"requirements": [{}]},
    ]
    for spoil in spoilt:
        assert not validator.is_valid({**json.loads(report.to_json()), **spoil})


def test_a_report_is_read_back_equal(report: Report, write: Write) -> None:
    assert read_report(write("report.json", report)) == report


def test_a_report_from_before_it_named_its_folders_is_read_too(
    report: Report, write: Write
) -> None:
    path = write("report.json", report)
    data = json.loads(path.read_text())
    del data["cases"], data["known_failures"]
    path.write_text(json.dumps(data))

    assert read_report(path) == report


def test_a_report_tells_what_the_run_told(run: Run) -> None:
    report = report_of(run)

    assert report.exit_code == run.exit_code == 3
    assert report.counts == run.counts()
    assert [c.id for c in report.checks] == [r.check.id for r in run.results]
    assert report.finished.tzinfo is not None


def test_a_kit_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(model, "version", missing)

    assert model.kit_version() == "not installed"


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        pytest.param(lambda text: "", "damaged: no JSON", id="empty"),
        pytest.param(lambda text: text[:-100], "damaged: no JSON", id="cut"),
        pytest.param(lambda text: "[" * 100_000, "damaged: no JSON", id="too-deep"),
        pytest.param(lambda text: '{"a": 1}', "no report of dsh-conformance", id="foreign"),
        pytest.param(lambda text: "[]", "no report of dsh-conformance", id="list"),
        pytest.param(
            lambda text: text.replace('"schema_version":1', '"schema_version":2'),
            "a report from another version: schema 2, this kit reads 1",
            id="newer",
        ),
        pytest.param(
            lambda text: text.replace('"schema_version":1', '"schema_version":null'),
            "a report from another version: schema None",
            id="no-version",
        ),
        pytest.param(
            lambda text: text.replace('"level":"must"', '"level":"shall"', 1),
            "damaged: requirements.0.level: ",
            id="wrong-value",
        ),
        pytest.param(
            lambda text: text.replace('"seed":3', '"seed":3,"sown":4'),
            "damaged: sown: Extra inputs are not permitted",
            id="extra-key",
        ),
        pytest.param(
            lambda text: text.replace('"status":"FAIL"', '"status":"PASS"'),
            "damaged: the report: Value error, the counts are not those of the checks",
            id="prettified",
        ),
        pytest.param(
            lambda text: text.replace('"seed":3', '"seed":"sk-abcdef\\n\\u001b[31m"'),
            "damaged: seed: Input should be a valid integer",
            id="wrong-type",
        ),
    ],
)
def test_a_damaged_report_is_refused_in_one_line(
    report: Report, write: Write, spoil: Callable[[str], str], says: str
) -> None:
    path = write("report.json", report)
    compact = json.dumps(json.loads(path.read_text()), separators=(",", ":"))
    spoilt = spoil(compact)
    assert spoilt != compact
    path.write_text(spoilt)

    with pytest.raises(ReportError) as refused:
        read_report(path)

    text = str(refused.value)
    assert text.startswith(f"{path}: {says}")
    assert len(text.splitlines()) == 1
    assert len(text) < 400


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(lambda path: None, "cannot be read: No such file", id="missing"),
        pytest.param(lambda path: path.mkdir(), "cannot be read: Is a directory", id="folder"),
        pytest.param(
            lambda path: path.write_bytes(b"\xff\xfe"), "no report: not UTF-8", id="bytes"
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, make: Callable[[Path], Any], says: str
) -> None:
    path = tmp_path / "report.json"
    make(path)

    with pytest.raises(ReportError) as refused:
        read_report(path)

    assert str(refused.value).startswith(f"{path}: {says}")
