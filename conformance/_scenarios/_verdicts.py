"""What an observation should have been, as differences that tell a person what to do."""

from __future__ import annotations

from typing import Final

from adapter_sdk import LlmFailure, TextDelta

from .._judge import Difference, shown
from .._observe import Observation

# A report shows four differences; a check that plays hundreds of calls stops after as many.
ENOUGH: Final = 4


def outcome(seen: Observation) -> str:
    """Return how a call ended, in a few words."""
    if seen.failure is not None:
        return f"failure {seen.failure.code}: {shown(seen.failure.message)}"
    if seen.ending == "success":
        return f"success with the text {shown(seen.joined(TextDelta))}"
    if seen.ending == "raised":
        return f"an exception: {shown(seen.error)}"
    return "an end without a finish" if seen.ending == "no-finish" else seen.ending


def failure_differs(
    seen: Observation, *codes: str, of: str, advice: str = "", **facts: object
) -> list[Difference]:
    """Return what is not as it should be where the call should fail.

    Args:
        seen: What its caller saw.
        codes: Any of these is right.
        of: Which call: "the call after …".
        advice: What to do about it.
        facts: Fields of the failure and their values.
    """
    failure = seen.failure
    wanted = " or ".join(codes) + (f" ({advice})" if advice else "")
    if seen.ending != "failure" or not isinstance(failure, LlmFailure) or failure.code not in codes:
        return [Difference(of, wanted, outcome(seen))]
    return [
        Difference(f"{name} of {of}", _told(value), _told(getattr(failure, name)))
        for name, value in facts.items()
        if getattr(failure, name) != value
    ]


def success_differs(seen: Observation, text: str, *, of: str, advice: str = "") -> list[Difference]:
    """Return what is not as it should be where the call should bring exactly ``text``."""
    wanted = f"success with the text {shown(text)}" + (f" ({advice})" if advice else "")
    if seen.ending != "success" or seen.joined(TextDelta) != text:
        return [Difference(of, wanted, outcome(seen))]
    whole = "".join(block.text for block in seen.assembled().blocks() if block.type == "text")
    if whole != text:
        return [Difference(of, wanted, f"blocks with the text {shown(whole)}")]
    return []


def requests_differ(
    seen: int, expected: int, *, of: str, advice: str = "switch off every retry underneath"
) -> list[Difference]:
    """Return a difference where the server saw another number of requests."""
    if seen == expected:
        return []
    return [Difference(f"HTTP requests of {of}", f"{expected} ({advice})", str(seen))]


def _told(value: object) -> str:
    return "nothing" if value is None else shown(value)
