"""The commands that repeat and explain a check, in the setting of its run. Pure."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Final, Protocol

from ._result import Status

# How the ids end of what is judged over many calls, and which no case and no code has.
EVERY_CALL: Final = "/in_every_call"
KNOWN_FAILURE: Final = "/known_failure"

_DEFAULT_BACKEND: Final = "asyncio"
_HTTPX2: Final = "httpx2"
_DEFAULT_SEED: Final = 1
_FULL_SWEEP: Final = "full sweep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """How a run was asked for: what each of its checks needs to be run again alike.

    Attributes:
        target: As it was asked for.
        profile: The profile that was judged, or None.
        backend: The event loop.
        client: Which HTTP client the adapter used, in words.
        seed: Of the seeded splits.
        cases: The folder of more case files, as it was given, or None.
        known_failures: The file of known failures, as it was given, or None.
    """

    target: str
    profile: str | None = None
    backend: str = _DEFAULT_BACKEND
    client: str = ""
    seed: int = _DEFAULT_SEED
    cases: str | None = None
    known_failures: str | None = None

    def command(self, check_id: str, status: Status, lane: str) -> str:
        """Return the command that gives the verdict of one check again, ready for a shell.

        Args:
            check_id: Of the check.
            status: Its verdict: one on what is known needs the file of what is known.
            lane: What gave it: for what holds for every call, the check in which it did not.
        """
        words = ["dsh-conformance", self.target]
        if self.profile:
            words += ["--profile", self.profile]
        if self.backend != _DEFAULT_BACKEND:
            words += ["--backend", self.backend]
        if self.client == _HTTPX2:
            words.append("--httpx2")
        if self.seed != _DEFAULT_SEED:
            words += ["--seed", str(self.seed)]
        if _FULL_SWEEP in lane:
            words += ["--sweep", "full"]
        if self.cases:
            words += ["--cases", self.cases]
        if self.known_failures and status is Status.STALE:
            words += ["--known-failures", self.known_failures]
        return shlex.join([*words, *_selection(check_id, lane)])

    def explanation(self, check_id: str) -> str:
        """Return the command that explains one check."""
        more = ["--cases", self.cases] if self.cases else []
        return shlex.join(["dsh-conformance", "explain", *more, _explained(check_id)])


class Asked(Protocol):
    """A run, or the report of one: it knows how it was asked for."""

    @property
    def target(self) -> str: ...
    @property
    def profile(self) -> str | None: ...
    @property
    def backend(self) -> str: ...
    @property
    def client(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def cases(self) -> str | None: ...
    @property
    def known_failures(self) -> str | None: ...


def repeat_of(run: Asked) -> Repeat:
    """Return how ``run`` was asked for."""
    return Repeat(
        target=run.target,
        profile=run.profile,
        backend=run.backend,
        client=run.client,
        seed=run.seed,
        cases=run.cases,
        known_failures=run.known_failures,
    )


def place_of(check_id: str, lane: str) -> str | None:
    """Return the check in whose calls a rule for every call was not kept, or None."""
    return lane if check_id.endswith(EVERY_CALL) and "/" in lane else None


def _selection(check_id: str, lane: str) -> list[str]:
    place = place_of(check_id, lane)
    if place is not None:
        return [place, check_id]
    # A stale entry of a requirement is judged over all that the requirement has.
    return [check_id.removesuffix("known_failure")]


def _explained(check_id: str) -> str:
    if check_id.endswith(KNOWN_FAILURE):
        return check_id.removesuffix(KNOWN_FAILURE).replace("_", "-")
    return check_id
