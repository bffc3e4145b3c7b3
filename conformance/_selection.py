"""Which checks a run takes: ids, prefixes, ``level:must``, ``dialect:openai-chat``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ._catalogue import load_catalogue
from ._result import Check


class SelectionError(ValueError):
    """A selection that means nothing; the text names it."""


def selected(
    checks: Iterable[Check],
    selections: Sequence[str],
    *,
    dialect_of: dict[str, str],
    rules: Iterable[Check] = (),
) -> list[Check]:
    """Return the checks that any of ``selections`` names; all of them where there is none.

    Several ids and prefixes add up; ``level:`` and ``dialect:`` narrow.

    Args:
        checks: What there is.
        selections: Ids and the like.
        dialect_of: Of each case, by its id.
        rules: What holds for every call. A run judges those of its requirements anyway, so one
            is taken only where a name means nothing else.

    Raises:
        SelectionError: A level or a dialect that does not exist, or an id or prefix that names
            no check of any adapter.
    """
    checks = list(checks)
    names = [s for s in selections if ":" not in s]
    for name in names:
        if any(matches(check, name) for check in checks):
            continue
        meant = [rule for rule in rules if matches(rule, name)]
        if not meant:
            raise SelectionError(f"{name}: no requirement or check begins like this; see `list`")
        checks += meant
    levels = _values(selections, "level", known={r.level for r in load_catalogue().requirements})
    dialects = _values(selections, "dialect", known=set(dialect_of.values()))
    unknown = [s for s in selections if ":" in s and s.split(":")[0] not in ("level", "dialect")]
    if unknown:
        raise SelectionError(f"{unknown[0]}: select by id, prefix, level: or dialect:")
    return [
        check
        for check in checks
        if (not names or any(matches(check, name) for name in names))
        and (not levels or check.requirement.level in levels)
        and (not dialects or dialect_of.get(check.id) in dialects)
    ]


def matches(check: Check, name: str) -> bool:
    """Whether ``name`` is the check, its requirement, or the beginning of either."""
    return check.id.startswith(name) or check.requirement.id.startswith(name)


def _values(selections: Sequence[str], key: str, *, known: set[str]) -> set[str]:
    values = {s.split(":", 1)[1] for s in selections if s.startswith(f"{key}:")}
    for value in values - known:
        raise SelectionError(
            f"{key}:{value}: there is no such {key}; one of {', '.join(sorted(known))}"
        )
    return values
