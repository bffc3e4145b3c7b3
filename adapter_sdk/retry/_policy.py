"""Whether and how often a provider's failures are retried: configuration, checked and frozen."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from .. import codes
from ._backoff import Backoff

# Design note 003.
DEFAULT_MAX_RETRIES: Final = 5
DEFAULT_RETRYABLE_CODES: Final = tuple(sorted(codes.TRANSIENT_CODES))

_NORMAL_KEYS: Final = frozenset({"mode", "max_retries", "retryable_codes", "backoff"})
_BACKOFF_KEYS: Final = frozenset(f.name for f in dataclasses.fields(Backoff))


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalRetry:
    """Retry some codes, so many times.

    Attributes:
        max_retries: Most retries of one step, 0 or more; 0 retries nothing.
        retryable_codes: Codes that are retried; at least one, each once, ABORTED never.
        backoff: Delays and their cap.

    Raises:
        ValueError: A value breaks its rule; the message begins with the field's name.

    Source: design note 003.
    """

    max_retries: int = DEFAULT_MAX_RETRIES
    retryable_codes: tuple[str, ...] = DEFAULT_RETRYABLE_CODES
    backoff: Backoff = field(default_factory=Backoff)
    mode: Literal["normal"] = field(default="normal", init=False)

    def __post_init__(self) -> None:
        if type(self.max_retries) is not int or self.max_retries < 0:
            raise ValueError(
                f"max_retries: a whole number of 0 or more, got {_shown(self.max_retries)}"
            )
        _check_codes(self.retryable_codes)
        _check_backoff(self.backoff)

    @property
    def key(self) -> str:
        """The policy as one short text; equal for equal policies, whatever the codes' order."""
        listed = "+".join(sorted(self.retryable_codes))
        return f"normal/{self.max_retries}/{listed}/{_backoff_key(self.backoff)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlwaysRetry:
    """Retry everything that nobody else recovers from, without a limit.

    Attributes:
        backoff: Delays and their cap.

    Raises:
        ValueError: ``backoff`` is no ``Backoff``.

    Source: design note 003.
    """

    backoff: Backoff = field(default_factory=Backoff)
    mode: Literal["always"] = field(default="always", init=False)

    def __post_init__(self) -> None:
        _check_backoff(self.backoff)

    @property
    def key(self) -> str:
        """The policy as one short text; equal for equal policies."""
        return f"always/{_backoff_key(self.backoff)}"


RetryPolicy: TypeAlias = NormalRetry | AlwaysRetry


def parse_retry_policy(value: object, *, path: str = "retry_policy") -> RetryPolicy:
    """Return the policy that a configuration describes.

    Args:
        value: A mapping ``{mode, max_retries, retryable_codes, backoff: {initial_delay_ms,
            max_delay_ms, jitter_ratio}}``, every key optional, or a policy, which is returned
            as it is. With mode ``always`` the two fields of ``normal`` are ignored unread: they
            are left over from another mode.
        path: Where the value stands in the configuration; every message begins with it.

    Raises:
        ValueError: No mapping, an unknown key, or a value that breaks its rule.
    """
    if isinstance(value, (NormalRetry, AlwaysRetry)):
        return value
    fields = _checked_mapping(value, _NORMAL_KEYS, path)
    mode = fields.pop("mode", "normal")
    if mode not in ("normal", "always"):
        raise ValueError(f"{path}.mode: normal or always, got {_shown(mode)}")
    if "backoff" in fields:
        fields["backoff"] = _parsed_backoff(fields["backoff"], f"{path}.backoff")
    if mode == "always":
        return AlwaysRetry(**{k: v for k, v in fields.items() if k == "backoff"})
    if isinstance(fields.get("retryable_codes"), list):  # as JSON and TOML write it
        fields["retryable_codes"] = tuple(fields["retryable_codes"])
    try:
        return NormalRetry(**fields)
    except ValueError as error:
        raise ValueError(f"{path}.{error}") from error


def _parsed_backoff(value: object, path: str) -> Backoff:
    if isinstance(value, Backoff):
        return value
    fields = _checked_mapping(value, _BACKOFF_KEYS, path)
    try:
        return Backoff(**fields)
    except ValueError as error:
        raise ValueError(f"{path}.{error}") from error


def _checked_mapping(value: object, known: frozenset[str], path: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{path}: a mapping, got {type(value).__name__}")
    for key in value:
        if key not in known:
            raise ValueError(f"{path}.{key}: unknown; known are {', '.join(sorted(known))}")
    return dict(value)


def _check_codes(listed: object) -> None:
    if not isinstance(listed, tuple) or not listed:
        raise ValueError("retryable_codes: a list of at least one code")
    for index, code in enumerate(listed):
        where = f"retryable_codes[{index}]"
        if not isinstance(code, str) or not codes.is_code(code):
            raise ValueError(f"{where}: a code of the closed list, got {_shown(code)}")
        if code == codes.ABORTED:
            raise ValueError(f"{where}: ABORTED is the caller's own wish and is never retried")
        if code in listed[:index]:
            raise ValueError(f"{where}: {code} stands there twice")


def _check_backoff(value: object) -> None:
    if not isinstance(value, Backoff):
        raise ValueError(f"backoff: a Backoff, got {type(value).__name__}")


def _backoff_key(backoff: Backoff) -> str:
    return f"{backoff.initial_delay_ms}-{backoff.max_delay_ms}/{float(backoff.jitter_ratio)!r}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


DEFAULT_RETRY_POLICY: Final[RetryPolicy] = NormalRetry()
