"""What the recorder saw of one exchange, and the recording that comes of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from pydantic import ValidationError

from .._recording._values import Read, RecordedEnding, RecordedRequest, Recording, sha256_of
from .._secrets import credentials_of, masked_headers, masked_path, masked_text
from ._framing import MessageEnd
from ._scrub import scrubbed
from ._upstream import Upstream

_STOPPED: Final = "the recorder was stopped before the end"


@dataclass(slots=True)
class Watched:
    """One exchange as it is seen; times are ``time.monotonic()``.

    Attributes:
        request: The request, as far as it has come.
        answer: The answer, as far as it has come.
        sent_at: When the request was sent, or its last part before the answer began.
        reads: What each read brought, and when.
        ending: How it ended; until then it is open.
        ended_at: When it ended, or when the recorder stopped looking.
        stopped: The recorder was told to stop before the end.
    """

    request: MessageEnd
    answer: MessageEnd
    sent_at: float = field(default_factory=time.monotonic)
    reads: list[tuple[float, bytes]] = field(default_factory=list)
    ending: RecordedEnding = "open"
    ended_at: float = 0.0
    stopped: bool = False

    def sent(self) -> None:
        """Note that more of the request went out, just now."""
        if not self.reads:
            self.sent_at = time.monotonic()

    def received(self, data: bytes) -> None:
        """Note what one read brought."""
        self.reads.append((time.monotonic(), data))

    def ended(self, ending: RecordedEnding) -> None:
        """Note how it ended, just now."""
        self.ending, self.ended_at = ending, time.monotonic()


@dataclass(frozen=True, slots=True)
class Kept:
    """What of an exchange is kept.

    Attributes:
        values: Of the recording, but for its name.
        damage: Why no recording can hold it, or empty.
    """

    values: dict[str, object]
    damage: str

    @property
    def recording(self) -> Recording:
        """The recording, still without a name."""
        return Recording.model_validate({**self.values, "name": "unnamed"})


def kept_of(seen: Watched, upstream: Upstream, server: str) -> Kept:
    """Return what is kept of ``seen``, without credentials.

    Args:
        seen: The exchange, ended.
        upstream: Whom it was with.
        server: What the recording calls it.
    """
    credentials = credentials_of(seen.request.headers)
    datas = scrubbed(
        [data for _, data in seen.reads],
        head_bytes=seen.answer.head_bytes,
        credentials=credentials,
    )
    reads = tuple(
        Read.of(_since_ms(seen, at), data) for (at, _), data in zip(seen.reads, datas, strict=True)
    )
    values: dict[str, object] = {
        "origin": "recorded",
        "server": server,
        "version": seen.answer.value("server"),
        "date": datetime.now(UTC).date().isoformat(),
        "note": _note(seen),
        "request": _request(seen, upstream, credentials),
        "reads": reads,
        "ending": seen.ending,
        "end_at_ms": _since_ms(seen, seen.ended_at),
        "sha256": sha256_of(reads),
    }
    kept = Kept(values, "")
    try:
        kept.recording  # noqa: B018 - why: makes it once, so that damage shows here
    except ValidationError as error:  # an end inside the head, no HTTP, bytes behind the end
        said = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        return Kept(values, said)
    return kept


def _note(seen: Watched) -> str:
    if seen.stopped:
        return _STOPPED
    if not seen.reads:
        return "not a byte came"
    if seen.answer.trouble:
        return seen.answer.trouble
    return ""


def _request(seen: Watched, upstream: Upstream, credentials: tuple[str, ...]) -> RecordedRequest:
    method, _, target = seen.request.start_line.partition(" ")
    path = upstream.path + target.rpartition(" ")[0]
    hidden = masked_headers(seen.request.headers)
    headers = tuple(
        (name, upstream.shown_host if name.lower() == "host" else value) for name, value in hidden
    )
    body = bytes(seen.request.content).decode("utf-8", "replace")
    return RecordedRequest(
        method=method,
        path=masked_path(path),
        headers=headers,
        body=masked_text(body, credentials) if body else None,
    )


def _since_ms(seen: Watched, at: float) -> float:
    # Hundredths, as loopback needs them; the answer can begin before the request has ended.
    return round(max(0.0, at - seen.sent_at) * 1000, 2)
