"""Two reports of one adapter: what got worse, better, otherwise bad, new, and gone. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .._result import Status
from ._model import CheckReport, Report
from ._words import score, setting, verdict

# What a caller loses: a check that no longer applies is a promise withdrawn, a known failure is
# a failure that is written down, and all kinds of bad verdict are equally bad.
RANKS: Final = {
    Status.PASS: 0,
    Status.NA: 1,
    Status.WARN: 2,
    Status.XFAIL: 3,
    Status.STALE: 4,
    Status.FAIL: 4,
    Status.WRONG_REASON: 4,
    Status.HARNESS: 4,
}


@dataclass(frozen=True, slots=True)
class Change:
    """One check whose verdict is not what it was.

    Attributes:
        id: Of the check.
        old: None where the check is new.
        new: None where the check is gone.
    """

    id: str
    old: CheckReport | None
    new: CheckReport | None

    @property
    def kind(self) -> str:
        """One of ``worse``, ``better``, ``otherwise``, ``new`` and ``gone``."""
        if self.old is None:
            return "new"
        if self.new is None:
            return "gone"
        rise = RANKS[self.new.status] - RANKS[self.old.status]
        return "worse" if rise > 0 else "better" if rise < 0 else "otherwise"


KINDS: Final = {
    "worse": "got worse",
    "better": "got better",
    "otherwise": "bad in another way",
    "new": "new in the second report",
    "gone": "gone from the second report",
}


def changes(old: Report, new: Report) -> list[Change]:
    """Return every check that changed, in the order of the reports."""
    before = {check.id: check for check in old.checks}
    after = {check.id: check for check in new.checks}
    found = [Change(name, before.get(name), check) for name, check in after.items()]
    found += [Change(name, check, None) for name, check in before.items() if name not in after]
    return [c for c in found if c.old is None or c.new is None or c.old.status != c.new.status]


def got_worse(found: list[Change]) -> bool:
    """Whether any check got worse, which is exit code 1."""
    return any(change.kind == "worse" for change in found)


def diff_lines(old: Report, new: Report) -> Iterator[str]:
    """Yield the difference between two reports, in words."""
    for name, report in (("old", old), ("new", new)):
        yield f"{name}  {verdict(report)[0]}  {report.target}  {score(report)}"
    yield from _settings(old, new)
    found = changes(old, new)
    for kind, words in KINDS.items():
        of_kind = [change for change in found if change.kind == kind]
        if of_kind:
            yield ""
            yield f"{len(of_kind)} {words}"
            for change in of_kind:
                yield from _change_lines(change)
    if not found:
        yield ""
        yield f"no verdict changed ({len(new.checks)} checks)"


def _settings(old: Report, new: Report) -> Iterator[str]:
    """Yield why the two might differ although the adapter does not."""
    for name, before, after in (
        ("target", old.target, new.target),
        ("edition", old.edition, new.edition),
        ("kit", old.kit_version, new.kit_version),
        ("setting", setting(old), setting(new)),
        ("dialects", ", ".join(old.dialects), ", ".join(new.dialects)),
    ):
        if before != after:
            yield f"other {name}: {before or 'none'} -> {after or 'none'}"
    gained = sorted(set(new.capabilities) - set(old.capabilities))
    lost = sorted(set(old.capabilities) - set(new.capabilities))
    for words, names in (("declared now", gained), ("no longer declared", lost)):
        if names:
            yield f"{words}: {', '.join(names)}"


def _change_lines(change: Change) -> Iterator[str]:
    before = change.old.status.value if change.old else "-"
    after = change.new.status.value if change.new else "-"
    yield f"  {before:<12} -> {after:<12}  {change.id}"
    if change.new is not None and change.kind != "better" and change.new.status is not Status.PASS:
        for text in (*change.new.differences[:2], change.new.note):
            if text:
                yield f"      {' '.join(text.split())}"
