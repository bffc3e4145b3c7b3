"""What a case may not say although each of its keys is in place: it would never come true."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

from adapter_sdk import Capability, codes

from ._case import Case, Moment
from ._catalogue import load_catalogue
from ._near import did_you_mean
from ._play import Setting, exchanges, request_id_names_needed
from ._target import TERMINALS, Target

# A dialect that any adapter speaks.
ANY_DIALECT: Final = "any"

# How a case asks for the terminal of a target, which may have one of its own.
_TERMINAL_NEED: Final = "terminal_"

# Before a response has a status, a connection can end in these ways.
_ENDINGS_WITHOUT_STATUS: Final = (
    "hold-before-headers",
    "close-before-headers",
    "refuse",
    "reset",
)
_REQUEST_ID: Final = re.compile(r"@request-id:[1-9][0-9]?")


def nonsense(case: Case) -> Iterator[str]:
    """Yield what ``case`` says in vain: the place and why, in one line each."""
    for rule in _RULES:
        yield from rule(case)


def inapplicable(case: Case, target: Target) -> Iterator[str]:
    """Yield why ``case`` applies to no adapter that kit or target know: a mistyped name, mostly."""
    known = sorted({*TERMINALS, *target.declaration.dialects})
    if case.dialect not in (ANY_DIALECT, *known):
        meant = did_you_mean(case.dialect, known)
        yield (
            f"dialect: neither the kit nor the target speaks {case.dialect!r}{meant}; "
            f"there are {', '.join([ANY_DIALECT, *known])}"
        )
    words = {name.replace("-", "_") for names in TERMINALS.values() for name in names}
    needs = sorted({_TERMINAL_NEED + word for word in words} | target.capabilities)
    for need in case.needs:
        if need.startswith(_TERMINAL_NEED) and need not in needs:
            meant = did_you_mean(need, needs)
            listed = ", ".join(it for it in needs if it.startswith(_TERMINAL_NEED))
            yield f"needs: neither the kit nor the target knows {need!r}{meant}; there are {listed}"


def unplayable(case: Case) -> Iterator[str]:
    """Yield why no server can play what ``case`` sends."""
    setting = Setting(
        idle_s=1.0,
        now=datetime.now(UTC),
        request_id_headers=("x-request-id",) * request_id_names_needed(case),
        other_origin="http://127.0.0.1:1",
        nonce="",
    )
    try:
        exchanges(case, setting)
    except ValueError as error:  # a pause in a compressed member, steps behind endless ones
        yield f"exchange: {error}"
    except ModuleNotFoundError:  # of zstd: this machine cannot play it, another one may
        return


def _requirement(case: Case) -> Iterator[str]:
    known = [requirement.id for requirement in load_catalogue().requirements]
    folder = case.requirement.replace("-", "_")
    if case.requirement not in known:
        meant = did_you_mean(case.requirement, known) or "; see dsh-conformance list"
        yield f"requirement: no requirement is called {case.requirement!r}{meant}"
    elif folder != case.id.split("/")[0]:
        yield (
            f"requirement: {case.requirement!r} belongs in a folder called {folder}, "
            f"this one is {case.id.split('/')[0]}"
        )


def _needs(case: Case) -> Iterator[str]:
    known = [str(capability) for capability in Capability]
    for need in case.needs:
        if need not in known and not need.startswith(_TERMINAL_NEED):
            meant = did_you_mean(need, known)
            listed = ", ".join(known)
            yield f"needs: no capability is called {need!r}{meant}; there are {listed}"


def _exchanges(case: Case) -> Iterator[str]:
    for number, exchange in enumerate(case.exchange):
        place = f"exchange.{number}"
        if exchange.body is not None and exchange.send:
            yield f"{place}: has a body and steps; give one of them"
        if exchange.status is not None and exchange.end.endswith("-before-headers"):
            yield f"{place}.status: has none with {exchange.end!r}"
        if exchange.status is None and exchange.end not in _ENDINGS_WITHOUT_STATUS:
            yield f"{place}.status: is missing with {exchange.end!r}"
        for name, _ in exchange.headers:
            if name.startswith("@") and not _REQUEST_ID.fullmatch(name):
                yield (
                    f"{place}.headers: no header is called {name!r}; @request-id:1 is the first "
                    "name that the adapter declares"
                )


def _expectation(case: Case) -> Iterator[str]:
    expect, call = case.expect, case.call
    if expect.failure is not None and expect.outcome != "failure":
        yield "expect.failure: stands with the outcome failure only"
    if expect.message is not None and expect.outcome != "success":
        yield (
            "expect.message: stands with the outcome success only; what came before another end "
            "is expect.partial_text and expect.partial_reasoning"
        )
    if expect.outcome == "cancelled" and call.cancel is None:
        yield "expect.outcome: nobody cancels; say when under call.cancel"
    if expect.outcome == "left" and call.leave is None:
        yield "expect.outcome: nobody leaves; say when under call.leave"
    code = None if expect.failure is None else expect.failure.code
    if code is not None and not codes.is_code(code):
        meant = did_you_mean(code, codes.CODES)
        listed = ", ".join([*sorted(codes.CODES), "HTTP_nnn"])
        yield f"expect.failure.code: no code is called {code!r}{meant}; there are {listed}"


def _moments(case: Case) -> Iterator[str]:
    call = case.call
    if call.abort is not None and call.abort.before and call.abort != Moment(before=True):
        yield "call.abort: before the call stands alone"
    if call.cancel is not None and call.cancel.before:
        yield "call.cancel.before: a call is aborted before it begins, never cancelled"
    if call.leave is not None and (
        not call.leave.after_chunks or call.leave != Moment(after_chunks=call.leave.after_chunks)
    ):
        yield "call.leave: must be a table {after_chunks} of one chunk or more, and nothing else"
    if call.think is not None and call.think.after_chunks == 0:
        yield "call.think.after_chunks: must be one chunk or more"


_RULES: Final[tuple[Callable[[Case], Iterator[str]], ...]] = (
    _requirement,
    _needs,
    _exchanges,
    _expectation,
    _moments,
)
