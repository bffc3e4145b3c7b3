"""Write a check of a report as a pytest file that stands alone: the case is in it. Pure."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import Any

from .._reports import Report
from ._again import Again

_WIDTH = 96


def emitted_test(report: Report, again: Again, case_text: str | None) -> str:
    """Return the text of a test file.

    Args:
        report: Where the check failed.
        again: How it was run.
        case_text: The case file, or None for a check that is written as code.
    """
    (check,) = [check for check in report.checks if check.id == again.check]
    said = "; ".join(check.differences) or check.note
    head = f"The report of {report.finished:%Y-%m-%d} said {check.status}{': ' * bool(said)}{said}"
    about = [f"{check.id}: {check.title}", "", *wrap(head, _WIDTH), "", "Needs dsh-adapter-sdk"]
    arguments = [_literal(again.target), _literal(again.check)]
    if case_text is not None:
        arguments.append("case=CASE")
    arguments += [f"{name}={_literal(value)}" for name, value in _means(again).items()]
    lines = [
        '"""' + _plain("\n".join(about)) + '[conformance]."""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Callable",
    ]
    if case_text is not None:
        lines += ["", f"CASE = {_text(case_text)}"]
    name = re.sub(r"[^a-z0-9]+", "_", check.id.lower()).strip("_")
    lines += ["", "", f"def test_{name}(dsh_replay: Callable[..., None]) -> None:"]
    lines += ["    dsh_replay(", *(f"        {argument}," for argument in arguments), "    )"]
    return "\n".join(lines) + "\n"


def _means(again: Again) -> dict[str, Any]:
    """Return what differs from a plain run."""
    plain = Again(target=again.target, check=again.check)
    names = ("profile", "seed", "backend", "client", "sweep")
    return {
        name: getattr(again, name) for name in names if getattr(again, name) != getattr(plain, name)
    }


def _plain(text: str) -> str:
    return text.replace("\\", "/").replace('"', "'")


def _text(text: str) -> str:
    # TOML writes every other quote; what a raw string cannot hold is escaped.
    if '"""' in text or text.endswith(("\\", '"')):
        return repr(text)
    return f'r"""{text}"""'


def _literal(value: object) -> str:
    text = repr(value)
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text else text
