"""Whether a busy machine may have spoilt a play: it earns another look, and never a verdict."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from adapter_sdk import codes

from ._case import Case
from ._lanes import Played
from ._lateness import LATE_SHARE

_REQUEST: Final = "request received"


def may_be_spoilt(case: Case, played: Played) -> bool:
    """Whether a bad verdict may be the machine's: time decided it, or the script was not sent."""
    by_time = bool(played.differences) and (case.is_timed or _timed_out(played))
    return by_time or bool(played.trouble)


def _timed_out(played: Played) -> bool:
    return played.seen.failure is not None and played.seen.failure.code == codes.TIMEOUT


def _ended_by_time(played: Played) -> bool:
    """Whether a limit ran out, or the caller stopped the call at its moment."""
    code = "" if played.seen.failure is None else played.seen.failure.code
    return code in (codes.TIMEOUT, codes.ABORTED) or played.seen.ending in ("cancelled", "left")


def was_late(played: Played) -> bool:
    """Whether one of the two sides was held up by so much that it may have cost the verdict.

    The caller is: its event loop woke up late. The server is: it read the request late, or not
    before the call was ended by its time, or it was silent for the idle limit between two sends.
    Some of it an adapter can bring about as well; all that it gains is another look. A call
    without an end had many times the limit, and seconds beside.
    """
    if played.seen.ending == "hung":
        return False
    late_s = LATE_SHARE * played.idle_s
    server = [(at, what) for at, side, what in played.timeline if side == "server"]
    requests = [at for at, what in server if _REQUEST in what]
    busy = requests[:1] + [at for at, what in server if "sent" in what]
    return (
        played.late_s >= late_s
        or (requests[0] >= late_s if requests else _ended_by_time(played))
        or any(later - earlier >= played.idle_s for earlier, later in pairwise(busy))
    )
