"""Profiles: what a person writes, checked and resolved over the catalogue. No I/O but its file."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from adapter_sdk import BaseAdapter

from ._wire import APIS, CHAT, COMPAT, LEVELS, MESSAGES, OF_THE_ROUTE_ALONE, RESPONSES

if TYPE_CHECKING:
    from adapter_sdk.retry import RetryPolicy

Raw: TypeAlias = Mapping[str, Any]
"""A table as it was written."""

INPUTS: Final = ("text", "image")

DEFAULT_CONTEXT_WINDOW: Final = 262_144
DEFAULT_MAX_TOKENS: Final = 32_768

_REQUEST_ID_HEADERS: Final = {
    CHAT: ("x-request-id",),
    RESPONSES: ("x-request-id",),
    MESSAGES: ("request-id", "x-request-id"),
}

_TO_THE_POLICY: Final = "the adapter makes one request a call; retries belong in retry_policy"
_REFUSED: Final = {"max_retries": _TO_THE_POLICY, "max_retry_delay_ms": _TO_THE_POLICY}

_PROFILE_KEYS: Final = (
    *("api_key_env", "display_name", "api", "base_url", "models", "model_overrides", "compat"),
    *("default_context_window", "default_max_tokens", "default_input", "headers", "reasoning"),
    *("thinking_budgets", "idle_timeout", "retry_policy", "request_id_headers"),
)
_MODEL_KEYS: Final = (
    *("id", "name", "context_window", "max_tokens", "input", "reasoning_efforts", "compat"),
)
_NEEDED: Final = ("api", "base_url", "models")

_CATALOGUE: Final = Path(__file__).with_name("profiles.toml")


class ProfileError(ValueError):
    """A set of profiles that cannot be used.

    Attributes:
        problems: One sentence for each route that has one; it names route, model and field.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model of a route.

    Attributes:
        id: As the provider knows it.
        name: For people.
        context_window: Tokens that it takes.
        max_tokens: Most tokens of an answer that it is capable of.
        cap: The request's default cap in tokens where one is configured, else None.
        input: ``text``, and ``image`` where it takes images.
        reasoning_efforts: Level to the provider's word; empty where it offers none.
        compat: Every switch of the protocol, resolved.
    """

    id: str
    name: str
    context_window: int
    max_tokens: int
    cap: int | None
    input: tuple[str, ...]
    reasoning_efforts: Mapping[str, str]
    compat: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One profile, resolved. Two with the same values are equal.

    Attributes:
        name: The key of the profile.
        display_name: For people.
        api: One of ``APIS``.
        base_url: Absolute.
        api_key_env: Environment variable of the credential, or None.
        models: By id, in the order of the profile.
        headers: Sent with every request.
        reasoning: Level of requests that name none, or None.
        thinking_budgets: Level to tokens; messages protocol only.
        idle_timeout: Seconds, or None for the SDK's default.
        retry_policy: For a step loop that retries, or None; the adapter only carries it.
        request_id_headers: In order of preference.
        compat: Every switch of the protocol, resolved for the route.
    """

    name: str
    display_name: str
    api: str
    base_url: str
    api_key_env: str | None
    models: Mapping[str, Model] = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    reasoning: str | None
    thinking_budgets: Mapping[str, int]
    idle_timeout: float | None
    retry_policy: RetryPolicy | None
    request_id_headers: tuple[str, ...]
    compat: Mapping[str, Any]


@functools.cache
def catalogue() -> Mapping[str, Raw]:
    """Return the rows of ``profiles.toml``, by route."""
    return MappingProxyType(tomllib.loads(_CATALOGUE.read_text(encoding="utf-8")))


def resolve(profiles: object) -> Mapping[str, Route]:
    """Return every profile of a set, resolved.

    Raises:
        ProfileError: The set cannot be used; every route that has a problem is named.
    """
    if not isinstance(profiles, Mapping):
        kind = type(profiles).__name__
        raise ProfileError([f"profiles: a table of routes, each by its name, got {kind}"])
    routes: dict[str, Route] = {}
    problems: list[str] = []
    for name, raw in profiles.items():
        try:
            if not isinstance(name, str) or not name.strip():
                raise ProfileError([f"profiles: a route needs a name that is not blank: {name!r}"])
            routes[name] = _route(name, raw, catalogue().get(name))
        except ProfileError as error:
            problems += error.problems
    if problems:
        raise ProfileError(problems)
    return MappingProxyType(routes)


def read_profiles(path: str | Path) -> Mapping[str, Any]:
    """Return the tables of a TOML file, not yet checked.

    Raises:
        ProfileError: It is no TOML; the message names the file, the line and the route.
        OSError: It cannot be read.
    """
    text = Path(path).read_text(encoding="utf-8")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, said = _line_of(str(error), text)
        raise ProfileError([f"{path}: line {line}, {_table_above(text, line)}: {said}"]) from error


def _line_of(said: str, text: str) -> tuple[int, str]:
    """Return where a syntax error is, from the parser's own words, and the rest of them."""
    found = re.search(r" \(at line (\d+), column \d+\)$", said)
    if found is None:  # at the end of the document
        return len(text.splitlines()) or 1, said
    return int(found[1]), said[: found.start()]


def _table_above(text: str, line: int) -> str:
    headers = re.findall(r"^[ \t]*\[+([^\[\]\n]+)", "\n".join(text.splitlines()[:line]), re.M)
    route = headers[-1].strip().split(".")[0].strip("\"' ") if headers else ""
    return f"in the profile {route}" if route else "before the first profile"


# ---- one route ---------------------------------------------------------------------------


def _route(name: str, raw: object, row: Raw | None) -> Route:
    table = _table(name, raw, _PROFILE_KEYS)
    if row is None and (missing := [key for key in _NEEDED if key not in table]):
        raise _problem(name, f"the catalogue does not know this route, so it needs {_and(missing)}")
    row = row or {}
    api = _one_of(name, "api", table.get("api", row.get("api")), APIS)
    if api != row.get("api"):  # a row's switches are those of its own protocol
        row = {key: value for key, value in row.items() if key != "compat"}
    whole = {**row, **table}
    compat = {
        **{switch: default for switch, (default, _) in COMPAT[api].items()},
        **_compat(name, row.get("compat", {}), api),
        **_compat(name, table.get("compat", {}), api),
    }
    if api != MESSAGES and "thinking_budgets" in table:
        raise _problem(name, f"thinking_budgets: the protocol {api} takes no budgets")
    variable, level = whole.get("api_key_env"), whole.get("reasoning")
    headers = _texts(name, "headers", whole.get("headers", {}))
    timing: dict[str, Any] = {k: whole[k] for k in ("idle_timeout",) if k in whole}
    try:  # the very checks of the adapter that the route will have
        checked = BaseAdapter(
            base_url=_text(name, "base_url", whole["base_url"]), headers=headers, **timing
        )
    except ValueError as error:
        raise error if isinstance(error, ProfileError) else _problem(name, str(error)) from error
    return Route(
        name=name,
        display_name=_text(name, "display_name", whole.get("display_name", name)),
        api=api,
        base_url=whole["base_url"],
        api_key_env=None if variable is None else _text(name, "api_key_env", variable),
        models=MappingProxyType(_models(name, table, row, whole, api, compat)),
        headers=MappingProxyType(headers),
        reasoning=None if level is None else _one_of(name, "reasoning", level, LEVELS),
        thinking_budgets=MappingProxyType(_budgets(name, whole.get("thinking_budgets", {}))),
        idle_timeout=checked.idle_timeout if timing else None,
        retry_policy=_policy(name, whole.get("retry_policy")),
        request_id_headers=_names(
            name, "request_id_headers", whole.get("request_id_headers", _REQUEST_ID_HEADERS[api])
        ),
        compat=MappingProxyType(compat),
    )


def _models(
    name: str, table: Raw, row: Raw, whole: Raw, api: str, compat: Mapping[str, Any]
) -> dict[str, Model]:
    overrides = table.get("model_overrides", {})
    if not isinstance(overrides, Mapping):
        raise _problem(name, "model_overrides: a table of models, each by its id")
    if "models" in table and "model_overrides" in table:
        raise _problem(
            name, "model_overrides: they change the catalogue's models, which `models` replaces"
        )
    written = table.get("models", row.get("models", ()))
    if not isinstance(written, Sequence) or isinstance(written, str) or not written:
        raise _problem(name, "models: an array with at least one model")
    models: dict[str, Model] = {}
    for number, raw in enumerate(written):
        if not isinstance(raw, Mapping) or not isinstance(raw.get("id"), str) or not raw["id"]:
            raise _problem(name, f"models[{number}]: a model needs an id that is not empty")
        model_id = raw["id"]
        if model_id in models:
            raise _problem(name, f"model {model_id!r}: it stands in `models` twice")
        own = overrides.get(model_id, {})
        where = f"{name}: model {model_id!r}"
        keys = _MODEL_KEYS if "models" in table else tuple(k for k in _MODEL_KEYS if k != "id")
        configured = raw if "models" in table else _table(where, own, keys)
        if "compat" in raw and "models" not in table and api != row.get("api"):
            raw = {key: value for key, value in raw.items() if key != "compat"}
        merged = _table(where, {**raw, **configured}, _MODEL_KEYS)
        switches = {**compat}
        for source in (raw.get("compat", {}), configured.get("compat", {})):
            switches |= _compat(where, source, api, but=OF_THE_ROUTE_ALONE)
        models[model_id] = _model(
            where, merged, whole, switches, has_cap="max_tokens" in configured
        )
    for model_id in overrides:
        if model_id not in models:
            raise _problem(
                name, f"model_overrides: there is no model {model_id!r} in the catalogue"
            )
    return models


def _model(
    where: str, merged: Raw, defaults: Raw, switches: Mapping[str, Any], *, has_cap: bool
) -> Model:
    def tokens(key: str, default: int) -> int:
        inherited = _count(where, f"default_{key}", defaults.get(f"default_{key}", default))
        return _count(where, key, merged.get(key, inherited))

    most = tokens("max_tokens", DEFAULT_MAX_TOKENS)
    inputs = merged.get("input", defaults.get("default_input", ["text"]))
    return Model(
        id=merged["id"],
        name=_text(where, "name", merged.get("name", merged["id"])),
        context_window=tokens("context_window", DEFAULT_CONTEXT_WINDOW),
        max_tokens=most,
        cap=most if has_cap else None,
        input=_names(where, "input", inputs, allowed=INPUTS),
        reasoning_efforts=MappingProxyType(_efforts(where, merged.get("reasoning_efforts", False))),
        compat=MappingProxyType(dict(switches)),
    )


def _efforts(where: str, value: object) -> dict[str, str]:
    if value is False:
        return {}
    at = "reasoning_efforts"
    if not isinstance(value, Mapping):
        raise _problem(where, f"{at}: false, or a table of level = provider's word")
    if not set(value) - {"off"}:
        raise _problem(where, f"{at}: it offers no level besides off; write false instead")
    for level, word in value.items():
        _one_of(where, f"{at}.{level}", level, LEVELS)
        if not isinstance(word, str) or (not word and level != "off"):
            raise _problem(where, f"{at}.{level}: the provider's word, empty for off alone")
    return dict(value)


def _compat(where: str, value: object, api: str, *, but: Collection[str] = ()) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise _problem(where, "compat: a table of switches")
    for switch, setting in value.items():
        if switch not in COMPAT[api]:
            known = _and(sorted(COMPAT[api]))
            raise _problem(where, f"compat.{switch}: {api} has no such switch; it has {known}")
        if switch in but:
            raise _problem(where, f"compat.{switch}: a switch of the route, not of one model")
        _one_of(where, f"compat.{switch}", setting, COMPAT[api][switch][1])
    return dict(value)


def _budgets(where: str, value: object) -> dict[str, int]:
    if not isinstance(value, Mapping):
        raise _problem(where, "thinking_budgets: a table of level = tokens")
    for level, tokens in value.items():
        _one_of(where, f"thinking_budgets.{level}", level, LEVELS)
        _count(where, f"thinking_budgets.{level}", tokens)
    return dict(value)


# ---- single values -----------------------------------------------------------------------


def _problem(where: str, said: str) -> ProfileError:
    return ProfileError([f"{where}: {said}"])


def _and(words: Iterable[str]) -> str:
    return ", ".join(words)


def _table(where: str, value: object, known: Collection[str]) -> Raw:
    if not isinstance(value, Mapping):
        raise _problem(where, f"a table, got {type(value).__name__}")
    for key in value:
        if key in _REFUSED:
            raise _problem(where, f"{key}: {_REFUSED[key]}")
        if key not in known:
            raise _problem(where, f"{key}: there is no such key; there are {_and(known)}")
    return value


def _text(where: str, at: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _problem(where, f"{at}: a text that is not blank")
    return value


def _one_of(where: str, at: str, value: object, allowed: Collection[object]) -> str:
    if not any(value == good and type(value) is type(good) for good in allowed):
        known = _and(
            str(good).lower() if isinstance(good, bool) else f"{good!r}" for good in allowed
        )
        raise _problem(where, f"{at}: one of {known}; got {value!r}")
    return str(value)


def _count(where: str, at: str, value: object) -> int:
    if type(value) is not int or value < 1:
        raise _problem(where, f"{at}: a whole number of tokens, 1 or more; got {value!r}")
    return value


def _policy(where: str, value: object) -> RetryPolicy | None:
    if value is None:
        return None
    # Here: the one validator of every profile, and sets without a policy never load it.
    from adapter_sdk.retry import parse_retry_policy

    try:
        return parse_retry_policy(value, path="retry_policy")
    except ValueError as error:
        raise _problem(where, str(error)) from error


def _names(where: str, at: str, value: object, *, allowed: Collection[str] = ()) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise _problem(where, f"{at}: an array of texts with at least one")
    for item in value:
        if allowed:
            _one_of(where, at, item, allowed)
        _text(where, at, item)
    return tuple(value)


def _texts(where: str, at: str, value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise _problem(where, f"{at}: a table of name = text")
    for key, item in value.items():
        if not isinstance(item, str):
            raise _problem(where, f"{at}.{key}: a text")
    return dict(value)
