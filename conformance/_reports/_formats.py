"""The formats that a run can be written in."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ._ctrf import ctrf
from ._html import html
from ._junit import junit
from ._markdown import markdown
from ._model import Report
from ._reading import ReportError

FORMATS: Final[dict[str, Callable[[Report], str]]] = {
    "junit": junit,
    "json": Report.to_json,
    "html": html,
    "md": markdown,
    "ctrf": ctrf,
}


def check_writable(path: Path) -> None:
    """Find out whether a file can be written, and leave no trace.

    Raises:
        ReportError: It cannot be; the text says why.
    """
    try:
        if path.exists():
            with path.open("ab"):
                pass
        else:
            with tempfile.TemporaryFile(dir=path.parent):
                pass
    except OSError as error:  # no such folder, a folder itself, not allowed, no space
        raise ReportError(f"{path}: cannot be written: {error.strerror}") from error


def write(path: Path, text: str) -> None:
    """Write a report.

    Raises:
        ReportError: It cannot be written; the text says why.
    """
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:  # the disk filled up, or the folder went away during the run
        raise ReportError(f"{path}: cannot be written: {error.strerror}") from error
