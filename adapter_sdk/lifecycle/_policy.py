"""How long a call goes on, and how long each of its responses may be silent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

from .. import FailureClass, LlmFailure
from .._limits import checked_optional_limit
from ..retry import Backoff, Delay, Random, choose_delay
from ._failover import FailoverScope

# Design note 000.
DEFAULT_BACKOFF: Final = Backoff(initial_delay_ms=200, max_delay_ms=600_000, jitter_ratio=0.1)
DEFAULT_CONNECT_TIMEOUT_S: Final = 15.0
DEFAULT_HEADER_TIMEOUT_S: Final = 60.0
DEFAULT_IDLE_TIMEOUT_S: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseLimits:
    """Limits of one response, in seconds; None leaves a limit to the adapter.

    A ``BaseAdapter`` made with a tighter limit keeps it. Any other adapter whose streams are
    ``ChunkStream`` keeps its own limits. The rest have the idle limit only, and there it counts
    chunks: what else arrives cannot be seen from outside.

    Attributes:
        connect_timeout: Until connected.
        header_timeout: Until the response's head.
        idle_timeout: Without any event or comment while the caller waits.

    Raises:
        ValueError: A limit is not positive, finite and at most 2,147,483.647 s.
    """

    connect_timeout: float | None = DEFAULT_CONNECT_TIMEOUT_S
    header_timeout: float | None = DEFAULT_HEADER_TIMEOUT_S
    idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT_S

    def __post_init__(self) -> None:
        for name in ("connect_timeout", "header_timeout", "idle_timeout"):
            checked_optional_limit(name, getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedResponse:
    """What a policy decides on.

    Attributes:
        failure: What went wrong.
        failure_class: Its class, derived.
        scope: How far recovery may lead, derived.
        route_id: The route that failed.
        responses: How many responses this call has made, this one included.
        route_failures: How many of them failed on this route, this one included.
        elapsed_ms: Since the call began, waits and the caller's own pauses included.
    """

    failure: LlmFailure
    failure_class: FailureClass
    scope: FailoverScope
    route_id: str
    responses: int
    route_failures: int
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The failure ends the call; ``reason`` says why, for diagnostics."""

    reason: str


class RecoveryPolicy(Protocol):
    """Decides on each failed response. The client chooses the route: the first that has rested."""

    @property
    def limits(self) -> ResponseLimits:
        """Limits of each response."""
        ...

    @property
    def max_elapsed(self) -> float | None:
        """Seconds that the whole call may take, waits included; None: no bound."""
        ...

    def decide(self, failed: FailedResponse, *, random: Random) -> Delay | GiveUp:
        """Return how long the failed route rests before it is asked again, or that it is over."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """The policy of design note 000: until the caller aborts, unless a bound is given.

    Attributes:
        max_responses: Most responses of one call, 1 or more; None: no bound.
        max_elapsed: Seconds that the whole call may take, waits and the caller's own pauses
            included; None: no bound. What would end behind it is not waited for.
        backoff: Delays and their cap, which cuts a provider's delay too.
        limits: Limits of each response.

    Raises:
        ValueError: A number that cannot be; the message begins with its name.
    """

    max_responses: int | None = None
    max_elapsed: float | None = None
    backoff: Backoff = DEFAULT_BACKOFF
    limits: ResponseLimits = field(default_factory=ResponseLimits)

    def __post_init__(self) -> None:
        most = self.max_responses
        if most is not None and (type(most) is not int or most < 1):
            raise ValueError(f"max_responses: a whole number of 1 or more, or None, got {most!r}")
        checked_optional_limit("max_elapsed", self.max_elapsed)
        if not isinstance(self.backoff, Backoff):
            raise ValueError(f"backoff: a Backoff, got {type(self.backoff).__name__}")
        if not isinstance(self.limits, ResponseLimits):
            raise ValueError(f"limits: a ResponseLimits, got {type(self.limits).__name__}")

    def decide(self, failed: FailedResponse, *, random: Random) -> Delay | GiveUp:
        """See ``RecoveryPolicy``."""
        if failed.scope == "never":
            return GiveUp(f"{failed.failure_class} is not recovered from")
        if self.max_responses is not None and failed.responses >= self.max_responses:
            return GiveUp(f"max_responses is {self.max_responses}")
        return choose_delay(
            self.backoff,
            hint_ms=failed.failure.provider_retry_after_ms,
            retry=failed.route_failures,
            above_cap="cap",
            random=random,
        )
