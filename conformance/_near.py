"""The words that come near a mistyped one, for messages. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from typing import Final

# As in ``difflib``: three letters of five. Where a word is much nearer, the others are noise.
_LIKENESS: Final = 0.6
_BEHIND: Final = 0.1
# A letter or two beside the right ones, in words as long as these are.
_SLIP: Final = 0.85
# More would be a list and no hint.
_MOST: Final = 3


def near(word: str, words: Iterable[str]) -> list[str]:
    """Return those of ``words`` that ``word`` may stand for, the nearest first; at most three.

    Case, dashes and underscores make no difference, and the beginning of a word is near it.
    """
    plain: dict[str, str] = {}
    for known in words:
        plain.setdefault(_plain(known), known)
    wanted = _plain(word)
    if not wanted:
        return []
    begun = sorted(key for key in plain if key.startswith(wanted))
    alike = get_close_matches(wanted, plain, n=_MOST, cutoff=_LIKENESS)
    if alike:
        least = _likeness(wanted, alike[0]) - _BEHIND
        alike = [key for key in alike if _likeness(wanted, key) >= least]
    return [plain[key] for key in dict.fromkeys([*alike[:1], *begun, *alike])][:_MOST]


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return ``; did you mean code-auth?``, or an empty string where nothing is near."""
    found = near(word, words)
    return f"; did you mean {' or '.join(found)}?" if found else ""


def slip_of(word: str, words: Iterable[str]) -> str | None:
    """Return the one of ``words`` that ``word`` is so like that nothing else can be meant."""
    return next((known for known in near(word, words) if _nearly(word, known)), None)


def _nearly(word: str, known: str) -> bool:
    return _likeness(_plain(word), _plain(known)) >= _SLIP


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()


def _plain(word: str) -> str:
    return word.casefold().replace("_", "-")
