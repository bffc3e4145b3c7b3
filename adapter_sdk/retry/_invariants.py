"""What holds for the retry events of every log; one pass over it, for append, load and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from .. import LlmFailure
from . import _log as types
from ._backoff import LONGEST_DELAY_MS
from ._log import RETRY, RETRY_STARTED, LoggedEvent

Chain: TypeAlias = tuple[int, int, str, str]
"""Turn, step, provider and policy key: what counts up together."""


def check_retry_events(events: Iterable[LoggedEvent]) -> list[str]:
    """Return what is wrong with the retry events, one line a problem; empty: nothing.

    A retry stands in the open turn and step, names the provider of that step, counts up from 1
    without a gap under one id for each provider and policy, stays under its limit, and is
    started at most once, after it was scheduled and before the next one.

    Args:
        events: A whole log, oldest first. Events of other types only open and close.
    """
    invariant = RetryInvariant()
    problems: list[str] = []
    for event in events:
        problems += [f"event {event.seq}: {what}" for what in invariant.problems(event)]
        invariant.take(event)
    return problems


@dataclass(slots=True)
class RetryInvariant:
    """The same, event by event, for a log that checks what it appends; linear in the log."""

    _turn: object = None
    _step: object = None
    _provider: object = None
    _chains: dict[Chain, tuple[str, int]] = field(default_factory=dict)
    _owners: dict[str, Chain] = field(default_factory=dict)
    _last_of_id: dict[str, int] = field(default_factory=dict)
    _started: set[tuple[str, int]] = field(default_factory=set)

    def problems(self, event: LoggedEvent) -> list[str]:
        """Return what ``event`` would break as the next one. Changes nothing."""
        rules = _FIELDS.get(event.type)
        if rules is None:
            return []
        wrong = [f"{name}: {rule}" for name, rule in _wrong_fields(event.data, rules)]
        if not wrong:
            wrong = self._outside(event.data)
            wrong += self._retry(event.data) if event.type == RETRY else self._start(event.data)
        return [f"{event.type}: {what}" for what in wrong]

    def take(self, event: LoggedEvent) -> None:
        """Take the event, which is in the log now."""
        data = event.data
        match event.type:
            case types.TURN_START:
                self._turn, self._step, self._provider = data.get("turn"), None, None
            case types.STEP_START:
                self._step, self._provider = data.get("step"), data.get("provider")
            case types.REQUEST_HEADER if self._step is not None:
                self._provider = data.get("provider", self._provider)
            case types.STEP_END:
                self._step = self._provider = None
            case types.TURN_END:
                self._turn = self._step = self._provider = None
            case types.RETRY if not _wrong_fields(data, _RETRY_FIELDS):
                chain = _chain(data)
                first_id, _ = self._chains.get(chain, (data["retryId"], 0))
                self._chains[chain] = (first_id, data["retry"])
                self._owners.setdefault(data["retryId"], chain)
                self._last_of_id[data["retryId"]] = data["retry"]
            case types.RETRY_STARTED if not _wrong_fields(data, _STARTED_FIELDS):
                self._started.add((data["retryId"], data["retry"]))
            case _:
                pass

    def _outside(self, data: Mapping[str, Any]) -> list[str]:
        if self._turn is None or self._step is None:
            return ["stands outside an open turn and step"]
        if (data["turn"], data["step"]) != (self._turn, self._step):
            here = f"turn {self._turn}, step {self._step}"
            return [f"names turn {data['turn']}, step {data['step']}, but open is {here}"]
        return []

    def _retry(self, data: Mapping[str, Any]) -> list[str]:
        wrong: list[str] = []
        if self._provider is not None and data["provider"] != self._provider:
            wrong.append(f"names {data['provider']!r}, the request went to {self._provider!r}")
        wrong += _limit(data)
        chain = _chain(data)
        known_id, done = self._chains.get(chain, (data["retryId"], 0))
        if data["retry"] != done + 1:
            wrong.append(f"retry {data['retry']}, but the next of its chain is {done + 1}")
        if data["retryId"] != known_id:
            wrong.append(f"changes the id of its chain from {known_id!r} to {data['retryId']!r}")
        if self._owners.get(data["retryId"], chain) != chain:
            wrong.append(f"takes the id {data['retryId']!r} of another chain")
        return wrong

    def _start(self, data: Mapping[str, Any]) -> list[str]:
        which = f"retry {data['retry']} of {data['retryId']!r}"
        wrong: list[str] = []
        owner = self._owners.get(data["retryId"])
        if owner is None or self._last_of_id[data["retryId"]] < data["retry"]:
            wrong.append(f"{which} was never scheduled")
        elif self._last_of_id[data["retryId"]] > data["retry"]:
            wrong.append(f"{which} is over already")
        elif owner[:2] != (data["turn"], data["step"]):
            wrong.append(f"was scheduled in turn {owner[0]}, step {owner[1]}")
        if (data["retryId"], data["retry"]) in self._started:
            wrong.append(f"{which} is started twice")
        return wrong


def _chain(data: Mapping[str, Any]) -> Chain:
    return data["turn"], data["step"], data["provider"], data["policyKey"]


def _limit(data: Mapping[str, Any]) -> list[str]:
    most = data.get("maxRetries")
    if data["mode"] == "always":
        return [] if most is None else ["maxRetries: mode always has no limit"]
    if not _is_count(most):
        return ["maxRetries: a whole number of 1 or more"]
    if data["retry"] > most:
        return [f"retry {data['retry']} exceeds its limit of {most}"]
    return []


# ---- fields ---------------------------------------------------------------------------------

_Rule: TypeAlias = tuple[Callable[[Any], bool], str]


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_number(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_delay(value: object) -> bool:
    return type(value) is int and 0 <= value <= LONGEST_DELAY_MS


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_failure(value: object) -> bool:
    try:
        LlmFailure.from_json(value)
    except ValueError:  # no object, an unknown key, a value that breaks its rule
        return False
    return True


_WHOLE: Final = (_is_number, "a whole number of 0 or more")
_COUNT: Final = (_is_count, "a whole number of 1 or more")
_TEXT: Final = (_is_text, "a string that is not empty")

_STARTED_FIELDS: Final[dict[str, _Rule]] = {
    "retryId": _TEXT,
    "turn": _WHOLE,
    "step": _WHOLE,
    "retry": _COUNT,
}
_RETRY_FIELDS: Final[dict[str, _Rule]] = {
    **_STARTED_FIELDS,
    "provider": _TEXT,
    "mode": (lambda value: value in ("normal", "always"), "normal or always"),
    "policyKey": _TEXT,
    "delayMs": (_is_delay, f"whole milliseconds from 0 to {LONGEST_DELAY_MS}"),
    "failure": (_is_failure, "a failure in its stored form"),
}
_FIELDS: Final = {RETRY: _RETRY_FIELDS, RETRY_STARTED: _STARTED_FIELDS}


def _wrong_fields(data: Mapping[str, Any], rules: dict[str, _Rule]) -> list[tuple[str, str]]:
    return [(name, rule) for name, (holds, rule) in rules.items() if not holds(data.get(name))]
