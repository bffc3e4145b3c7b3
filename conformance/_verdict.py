"""From a play to the verdict of its check. Pure."""

from __future__ import annotations

from adapter_sdk import LlmFailure

from ._catalogue import Requirement
from ._lanes import Played
from ._result import Check, Result, Status


def verdict(check: Check, played: Played, lane: str) -> Result:
    """Return what ``played`` says of the adapter, or of the kit where it did not go out."""
    return Result(
        check=check,
        status=_status(check.requirement, played),
        differences=tuple(str(difference) for difference in played.differences),
        lane=lane,
        said=_said(played),
        timeline=played.timeline,
        elapsed_s=played.seen.elapsed_s,
        note=played.trouble,
    )


def _status(requirement: Requirement, played: Played) -> Status:
    if played.trouble:
        return Status.HARNESS
    if not played.differences:
        return Status.PASS
    if requirement.level != "must":
        return Status.WARN
    fields = {difference.field for difference in played.differences}
    return Status.WRONG_REASON if "code" in fields and "outcome" not in fields else Status.FAIL


def _facts(failure: LlmFailure) -> dict[str, object]:
    try:
        stored = failure.to_json()
    except Exception:  # noqa: BLE001 - why: an adapter's own kind of failure may raise
        return {}
    return {key: value for key, value in stored.items() if key not in ("code", "message")}


def _said(played: Played) -> str:
    seen = played.seen
    if seen.failure is not None:
        facts = _facts(seen.failure)
        more = "".join(f", {key} {value}" for key, value in facts.items())
        return f"{seen.failure.code}{more}: {seen.failure.message}"
    if seen.ending == "success":
        count = len(seen.chunks)
        return f"success, {count} chunk{'' if count == 1 else 's'}"
    return seen.error or seen.ending
