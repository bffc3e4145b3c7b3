"""Scripts that contradict themselves are refused where they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adapter_sdk.testing import Exchange, Flood, Interim, Pause, Repeat, Send

if TYPE_CHECKING:
    from collections.abc import Callable

ENDLESS = Repeat((Send(b"a"),), 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pause(-1.0), "a pause is finite and not negative"),
        (lambda: Pause(float("inf")), "a pause is finite and not negative"),
        (lambda: Flood(b"a", -1), "0 times or more"),
        (lambda: Repeat((Send(b"a"),), 0.0), "a positive, finite time apart"),
        (lambda: Repeat((), 1.0), "at least one step"),
        (lambda: Repeat((ENDLESS,), 1.0), "and no Repeat"),
        (lambda: Interim(200), "an interim status is 100 to 199: 200"),
        (lambda: Exchange(103), "a final status is 200 to 999: 103"),
        (lambda: Exchange(200, body=b"", steps=(Send(b"a"),)), "not both"),
        (lambda: Exchange(200, steps=(ENDLESS, Send(b"a"))), "no step behind a Repeat"),
        (lambda: Exchange(None), "ending eof needs a status"),
        (lambda: Exchange(None, ending="hold"), "ending hold needs a status"),
        (lambda: Exchange(None, body=b"a", ending="reset"), "a body needs a status"),
        (lambda: Exchange(200, ending="hold-before-headers"), "leave the status out"),
        (lambda: Exchange(200, steps=(ENDLESS,), ending="short"), "name one"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_script_that_contradicts_itself_is_refused(
    make: Callable[[], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_scripts_are_values() -> None:
    assert Exchange(200, (("a", "b"),), steps=(ENDLESS,)) == Exchange(
        200, (("a", "b"),), steps=(Repeat((Send(b"a"),), 1.0),)
    )
