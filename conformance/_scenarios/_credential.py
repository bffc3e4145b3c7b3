"""credential: one that is missing or cannot be sent is told before anything is sent."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from typing import Final

from adapter_sdk import LlmError
from adapter_sdk.testing import Exchange, FaultServer

from .._bench import AdapterRaisedError, Bench
from .._judge import Difference, shown
from .._scenario import Scenario, scenario
from ._captured_log import captured_log
from ._reading import Reading
from ._verdicts import failure_differs, requests_differ

_ANSWER: Final = Exchange(500, body=b"{}")
_BEFORE: Final = "check the credential before anything is sent"

# Names of variables in which a machine may hold a key that a factory would find.
_KEY_WORDS: Final = ("KEY", "TOKEN", "SECRET")

# So many characters of a key in a row are a part of it; fewer are chance.
_PART: Final = 6


def _invalid_keys() -> dict[str, str]:
    head, tail = secrets.token_hex(8), secrets.token_hex(8)
    return {
        "with a dash that only looks like one": f"{head}\u2011{tail}",
        "with a line break inside": f"{head}\n{tail}",
        "with a line break at its end": f"{head}{tail}\n",
        "with a carriage return inside": f"{head}\r\n{tail}",
        "with a no-break space inside": f"{head}\u00a0{tail}",
        "with a NUL inside": f"{head}\0{tail}",
    }


def _shows(text: str, key: str) -> bool:
    """Whether ``text`` holds a part of ``key``, however it is escaped."""
    pieces = "".join(c if c.isascii() and c.isalnum() else " " for c in key).split()
    return any(
        piece[start : start + _PART] in text
        for piece in pieces
        for start in range(len(piece) - _PART + 1)
    )


@contextlib.contextmanager
def _no_keys_in_the_environment() -> Iterator[None]:
    """Hide keys that the machine itself holds; not for checks that run side by side."""
    names = [name for name in os.environ if any(word in name.upper() for word in _KEY_WORDS)]
    hidden = {name: os.environ.pop(name) for name in names}
    try:
        yield
    finally:
        os.environ.update(hidden)


@scenario("credential", "A missing or blank key is MISSING_CREDENTIAL, and nothing is sent")
async def missing(bench: Bench) -> list[Difference]:
    """None, empty, and white space alone."""
    found: list[Difference] = []
    with _no_keys_in_the_environment():
        for key in (None, "", "   "):
            of = f"a call with the key {key!r}"
            with FaultServer((_ANSWER,)) as server:
                seen = await bench.first_answer(server.base_url, api_key=key)
                found += failure_differs(seen, "MISSING_CREDENTIAL", of=of, advice=_BEFORE)
                found += requests_differ(len(server.requests), 0, of=of, advice=_BEFORE)
    return found


@scenario("credential", "A key that no header can carry is INVALID_CREDENTIAL, and nothing is sent")
async def invalid(bench: Bench) -> list[Difference]:
    """Look-alike dashes, line breaks, and other characters that copying brings in."""
    found: list[Difference] = []
    for name, key in _invalid_keys().items():
        of = f"a call with a key {name}"
        with FaultServer((_ANSWER,)) as server:
            seen = await bench.first_answer(server.base_url, api_key=key)
            found += failure_differs(seen, "INVALID_CREDENTIAL", of=of, advice=_BEFORE)
            found += requests_differ(len(server.requests), 0, of=of, advice=_BEFORE)
        if seen.failure is not None and _shows(str(seen.failure), key):
            of = f"the message after {of}"
            found.append(Difference(of, "no part of the key in it", "a part of the key"))
    return found


@scenario("credential", "Spaces around a key are cut off, and the rest is sent")
async def spaces_around_it(bench: Bench) -> list[Difference]:
    """What remains of a copied line."""
    with FaultServer((_ANSWER,)) as server:
        seen = await bench.first_answer(server.base_url, api_key=f"  {bench.credential}\t ")
        found = requests_differ(
            len(server.requests), 1, of="a call with spaces around its key", advice="trim the key"
        )
        if found:
            return failure_differs(seen, "SERVER", of="a call with spaces around its key") or found
        values = [value for _, value in server.requests[0].headers if bench.credential in value]
    if not values:
        return [Difference("the headers sent", "one that carries the key", "none")]
    return [
        Difference("the header with the key", "no space behind the key", shown(value))
        for value in values
        if value != value.strip() or f" {bench.credential}" in value.replace(" ", "", 1)
    ]


@scenario("credential", "No repr, no log line and no message shows any part of the key")
async def shown_nowhere(bench: Bench) -> list[Difference]:
    """For a key that is sent and one that is refused, logging at its lowest level."""
    found: list[Difference] = []
    keys = {
        "a good key": bench.credential,
        "a key that is refused": _invalid_keys()["with a dash that only looks like one"],
    }
    for of, key in keys.items():
        with FaultServer((_ANSWER,)) as server, captured_log() as lines:
            places = await _said_about(bench, server.base_url, key)
        secret = key.removeprefix("sk-dsh-")  # a prefix that says what it is may be shown
        telling = next((line for line in lines if _shows(line, secret)), "")
        places[f"the log of {telling.split(':')[0]}"] = telling
        found += [
            Difference(f"{place} with {of}", "no part of the key in it", "a part of the key")
            for place, text in places.items()
            if _shows(text, secret)
        ]
    return found


async def _said_about(bench: Bench, base_url: str, key: str) -> dict[str, str]:
    """Return what is said of an adapter with ``key``, by the place where it is said."""
    try:
        async with bench.adapter(base_url, api_key=key) as adapter:
            reading = Reading(adapter, bench.request(), patience_s=bench.patience_s)
            said = {"repr(adapter)": repr(adapter), "repr(stream)": repr(reading.stream)}
            await reading.leave()
            seen = await bench.call(adapter)
            said["repr(adapter) after a call"] = repr(adapter)
            said["the message"] = seen.error or str(seen.failure)
            return said
    except AdapterRaisedError as raised:
        if not isinstance(raised.__cause__, LlmError):  # a factory may refuse a key at once
            raise
        return {"the exception": f"{raised} {raised.__cause__!r}"}


SCENARIOS: Final[tuple[Scenario, ...]] = (missing, invalid, spaces_around_it, shown_nowhere)
