"""Read a published report back, or say in one line why it cannot be."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from ._clean import clean
from ._model import FORMAT, SCHEMA_VERSION, Report


class ReportError(Exception):
    """A report that cannot be read or written; the text is one line that says which and why."""


def read_report(path: Path) -> Report:
    """Return the report in a file.

    Raises:
        ReportError: It cannot be read, is damaged, of another version, or no report at all.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:  # missing, a folder, or not allowed
        raise ReportError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ReportError(f"{path}: no report: not UTF-8") from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:  # no JSON, a number or a depth beyond all use
        raise ReportError(f"{path}: damaged: no JSON: {_line(error)}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReportError(f"{path}: no report of dsh-conformance; write one with --report json=F")
    found = data.get("schema_version")
    if found != SCHEMA_VERSION:
        raise ReportError(
            f"{path}: a report from another version: schema {_line(found)}, this kit reads "
            f"{SCHEMA_VERSION}; run the adapter again"
        )
    try:
        return Report.model_validate_json(text)
    except ValidationError as error:
        mistake = error.errors()[0]
        place = ".".join(str(part) for part in mistake["loc"]) or "the report"
        raise ReportError(f"{path}: damaged: {_line(place)}: {_line(mistake['msg'])}") from error


def _line(value: object) -> str:
    text = " ".join(clean(str(value)).split())
    return text if len(text) <= 200 else f"{text[:199]}…"
