"""What a set of profiles may say: every rule by its message, and what comes of a good one."""

from __future__ import annotations

import builtins
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from adapter_sdk.retry import NormalRetry
from reference_adapters.pi import PiAdapter, PiProfiles, ProfileError
from reference_adapters.pi._profiles import catalogue, resolve

BASE: Final[dict[str, Any]] = {
    "api": "openai-completions",
    "base_url": "https://gateway.invalid/v1",
    "models": [{"id": "m1"}],
}
RETRIES: Final = "the adapter makes one request a call; retries belong in retry_policy"


def own(**changes: Any) -> dict[str, Any]:
    return {"mine": {**BASE, **changes}}


def model(**changes: Any) -> dict[str, Any]:
    return own(models=[{"id": "m1", **changes}])


def openai(**changes: Any) -> dict[str, Any]:
    return {"openai": changes}


REFUSED: Final = {
    "an-array": ([BASE], "profiles: a table of routes, each by its name, got list"),
    "an-empty-name": ({"": BASE}, "profiles: a route needs a name that is not blank: ''"),
    "a-blank-name": ({" ": BASE}, "profiles: a route needs a name that is not blank: ' '"),
    "a-number-as-name": ({7: BASE}, "profiles: a route needs a name that is not blank: 7"),
    "a-profile-that-is-a-text": ({"mine": "x"}, "mine: a table, got str"),
    "max-retries": (own(max_retries=2), f"mine: max_retries: {RETRIES}"),
    "max-retries-of-0": (openai(max_retries=0), f"openai: max_retries: {RETRIES}"),
    "max-retry-delay": (own(max_retry_delay_ms=9), f"mine: max_retry_delay_ms: {RETRIES}"),
    "retries-of-a-model": (
        model(max_retries=2),
        f"mine: model 'm1': max_retries: {RETRIES}",
    ),
    "an-unknown-key": (
        own(baseurl="x"),
        "mine: baseurl: there is no such key; there are api_key_env, display_name, api, "
        "base_url, models, model_overrides, compat, default_context_window, default_max_tokens, "
        "default_input, headers, reasoning, thinking_budgets, idle_timeout, retry_policy, "
        "request_id_headers",
    ),
    "an-unknown-route-alone": (
        {"mine": {}},
        "mine: the catalogue does not know this route, so it needs api, base_url, models",
    ),
    "an-unknown-route-without-models": (
        {"mine": {"api": "openai-completions", "base_url": "https://x.invalid"}},
        "mine: the catalogue does not know this route, so it needs models",
    ),
    "an-unknown-protocol": (
        own(api="openai"),
        "mine: api: one of 'openai-completions', 'openai-responses', 'anthropic-messages'; "
        "got 'openai'",
    ),
    "a-blank-address": (own(base_url=" "), "mine: base_url: a text that is not blank"),
    "an-address-without-a-scheme": (
        own(base_url="gateway.invalid"),
        "mine: base_url: an absolute address that begins with http:// or https://",
    ),
    "a-header-of-the-adapter": (
        own(headers={"Authorization": "x"}),
        "mine: headers: authorization is set by the adapter itself",
    ),
    "a-header-that-is-a-number": (own(headers={"x-a": 1}), "mine: headers.x-a: a text"),
    "headers-as-an-array": (own(headers=["x"]), "mine: headers: a table of name = text"),
    "a-blank-variable": (own(api_key_env=""), "mine: api_key_env: a text that is not blank"),
    "a-blank-display-name": (own(display_name=""), "mine: display_name: a text that is not blank"),
    "no-models": (own(models=[]), "mine: models: an array with at least one model"),
    "models-as-a-text": (own(models="m1"), "mine: models: an array with at least one model"),
    "a-model-without-id": (
        own(models=[{"name": "x"}]),
        "mine: models[0]: a model needs an id that is not empty",
    ),
    "a-model-with-an-empty-id": (
        own(models=[{"id": "m1"}, {"id": ""}]),
        "mine: models[1]: a model needs an id that is not empty",
    ),
    "a-model-twice": (
        own(models=[{"id": "m1"}, {"id": "m1"}]),
        "mine: model 'm1': it stands in `models` twice",
    ),
    "an-unknown-key-of-a-model": (
        model(context=1),
        "mine: model 'm1': context: there is no such key; there are id, name, context_window, "
        "max_tokens, input, reasoning_efforts, compat",
    ),
    "an-override-of-nothing": (
        openai(model_overrides={"gpt-9": {}}),
        "openai: model_overrides: there is no model 'gpt-9' in the catalogue",
    ),
    "an-override-beside-models": (
        openai(models=[{"id": "m1"}], model_overrides={"m1": {}}),
        "openai: model_overrides: they change the catalogue's models, which `models` replaces",
    ),
    "overrides-as-an-array": (
        openai(model_overrides=[]),
        "openai: model_overrides: a table of models, each by its id",
    ),
    "an-override-of-the-id": (
        openai(model_overrides={"gpt-5.1": {"id": "x"}}),
        "openai: model 'gpt-5.1': id: there is no such key; there are name, context_window, "
        "max_tokens, input, reasoning_efforts, compat",
    ),
    "an-empty-effort-table": (
        model(reasoning_efforts={}),
        "mine: model 'm1': reasoning_efforts: it offers no level besides off; "
        "write false instead",
    ),
    "an-effort-table-of-off-alone": (
        model(reasoning_efforts={"off": ""}),
        "mine: model 'm1': reasoning_efforts: it offers no level besides off; "
        "write false instead",
    ),
    "efforts-that-are-true": (
        model(reasoning_efforts=True),
        "mine: model 'm1': reasoning_efforts: false, or a table of level = provider's word",
    ),
    "an-unknown-level": (
        model(reasoning_efforts={"deep": "deep"}),
        "mine: model 'm1': reasoning_efforts.deep: one of 'off', 'minimal', 'low', 'medium', "
        "'high', 'xhigh', 'max'; got 'deep'",
    ),
    "a-level-without-a-word": (
        model(reasoning_efforts={"low": ""}),
        "mine: model 'm1': reasoning_efforts.low: the provider's word, empty for off alone",
    ),
    "an-unknown-input": (
        model(input=["sound"]),
        "mine: model 'm1': input: one of 'text', 'image'; got 'sound'",
    ),
    "no-input": (
        model(input=[]),
        "mine: model 'm1': input: an array of texts with at least one",
    ),
    "no-tokens": (
        model(max_tokens=0),
        "mine: model 'm1': max_tokens: a whole number of tokens, 1 or more; got 0",
    ),
    "half-a-token": (
        own(default_context_window=0.5),
        "mine: model 'm1': default_context_window: a whole number of tokens, 1 or more; got 0.5",
    ),
    "a-switch-that-the-protocol-lacks": (
        own(compat={"cache": "5m"}),
        "mine: compat.cache: openai-completions has no such switch; it has max_tokens_field, "
        "reasoning_field, strict, system_role, temperature, terminal, thinking_format, "
        "usage_in_stream",
    ),
    "a-switch-of-a-model-that-the-protocol-lacks": (
        model(compat={"summary": True}),
        "mine: model 'm1': compat.summary: openai-completions has no such switch; it has "
        "max_tokens_field, reasoning_field, strict, system_role, temperature, terminal, "
        "thinking_format, usage_in_stream",
    ),
    "a-setting-that-the-switch-lacks": (
        own(compat={"system_role": "boss"}),
        "mine: compat.system_role: one of 'system', 'developer'; got 'boss'",
    ),
    "a-number-for-a-yes": (
        own(compat={"strict": 1}),
        "mine: compat.strict: one of true, false; got 1",
    ),
    "a-switch-of-the-route-on-a-model": (
        model(compat={"terminal": "done-sentinel"}),
        "mine: model 'm1': compat.terminal: a switch of the route, not of one model",
    ),
    "compat-as-a-text": (own(compat="x"), "mine: compat: a table of switches"),
    "an-unknown-default-level": (
        own(reasoning="deep"),
        "mine: reasoning: one of 'off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'; "
        "got 'deep'",
    ),
    "budgets-where-there-are-none": (
        own(thinking_budgets={"low": 1024}),
        "mine: thinking_budgets: the protocol openai-completions takes no budgets",
    ),
    "a-budget-of-nothing": (
        {"anthropic": {"thinking_budgets": {"low": 0}}},
        "anthropic: thinking_budgets.low: a whole number of tokens, 1 or more; got 0",
    ),
    "no-idle-time": (
        own(idle_timeout=0),
        "mine: idle_timeout: seconds above 0 and at most 2147483.647, got 0.0",
    ),
    "a-policy-that-is-none": (
        own(retry_policy={"max_retries": -1}),
        "mine: retry_policy.max_retries: ",
    ),
    "no-request-id-header": (
        own(request_id_headers=[]),
        "mine: request_id_headers: an array of texts with at least one",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("profiles", "message"), REFUSED.values(), ids=REFUSED)
def test_a_set_that_cannot_be_used_is_refused_by_name(profiles: Any, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        PiProfiles(profiles)
    said = str(caught.value)
    assert said.startswith(message) if message.endswith(": ") else said == message


def test_every_route_with_a_problem_is_named_at_once() -> None:
    with pytest.raises(ProfileError) as caught:
        PiProfiles({"a": {}, **own(), "b": {**BASE, "api": "x"}, "c": 7})
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["a", "b", "c"]


@pytest.mark.parametrize(("profiles", "message"), REFUSED.values(), ids=REFUSED)
def test_a_refused_set_leaves_the_old_one_serving(profiles: Any, message: str) -> None:
    serving = PiProfiles(own(display_name="Old"))
    before = dict(serving.routes)
    adapter = PiAdapter(profile="mine", profiles=serving, api_key="k")
    with pytest.raises(ProfileError):
        serving.replace({**profiles, "other": BASE} if isinstance(profiles, dict) else profiles)
    assert dict(serving.routes) == before
    assert adapter.route.display_name == "Old"


def test_a_profile_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ProfileError, match=r"\Aprofile 'nowhere': there is none; there are openai"):
        PiAdapter(profile="nowhere")


# ---- a file ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            '[openai]\nreasoning = "low"\n\n[mine]\napi = "openai-completions\n',
            "line 5, in the profile mine: Illegal character '\\n'",
            id="a-quote-that-is-missing",
        ),
        pytest.param(
            '[mine]\napi = "openai-completions"\n[[mine.models]]\nid = m1\n',
            "line 4, in the profile mine: Invalid value",
            id="a-word-without-quotes-in-a-model",
        ),
        pytest.param(
            "[mine]\n[mine]\n",
            "line 2, in the profile mine: Cannot declare ('mine',) twice",
            id="a-profile-twice",
        ),
        pytest.param("x = \n", "line 1, before the first profile: Invalid value", id="no-profile"),
        pytest.param(
            '["my route"]\nmodels = [',
            "line 2, in the profile my route: Invalid value (at end of document)",
            id="an-end-too-early",
        ),
    ],
)
def test_a_syntax_error_names_line_and_route(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "profiles.toml"
    path.write_text(text)
    with pytest.raises(ProfileError) as caught:
        PiProfiles.read(path)
    assert str(caught.value) == f"{path}: {message}"


NEW_GATEWAY: Final = """
[my-gateway]
api = "openai-completions"
base_url = "https://gateway.invalid/v1"
api_key_env = "MY_GATEWAY_KEY"
compat = { system_role = "developer" }

[[my-gateway.models]]
id = "some/model"
""".strip()


def test_a_new_gateway_is_at_most_nine_lines_and_no_code(tmp_path: Path) -> None:
    path = tmp_path / "profiles.toml"
    path.write_text(NEW_GATEWAY)
    assert len(NEW_GATEWAY.splitlines()) <= 9
    adapter = PiAdapter(profile="my-gateway", profiles=PiProfiles.read(path))
    assert repr(adapter) == "<PiAdapter my-gateway <RouteAdapter https://gateway.invalid/v1>>"
    assert list(adapter.route.models) == ["some/model"]


# ---- what comes of a good set ------------------------------------------------------------


def test_the_catalogue_has_the_routes_of_the_design_and_every_row_resolves() -> None:
    assert list(catalogue()) == [
        *("openai", "openai-responses", "anthropic", "openrouter", "groq", "mistral", "xai"),
        *("together", "deepseek", "ollama", "vllm"),
    ]
    assert list(PiProfiles().routes) == list(catalogue())


def test_a_profile_overrides_its_row_field_by_field() -> None:
    row = resolve({"openai": {}})["openai"]
    changed = resolve(
        openai(
            display_name="Ours",
            base_url="https://proxy.invalid/v1",
            compat={"temperature": False},
            headers={"x-team": "a"},
            retry_policy={"max_retries": 1},
            idle_timeout=30,
        )
    )["openai"]
    assert (changed.display_name, changed.base_url) == ("Ours", "https://proxy.invalid/v1")
    assert (changed.api, changed.api_key_env) == (row.api, row.api_key_env)
    assert list(changed.models) == list(row.models)
    assert changed.compat == {**row.compat, "temperature": False}
    assert changed.headers == {"x-team": "a"}
    assert changed.retry_policy == NormalRetry(max_retries=1)
    assert changed.idle_timeout == 30.0


def test_models_of_a_profile_replace_those_of_the_row() -> None:
    route = resolve(openai(models=[{"id": "ft:mine"}]))["openai"]
    assert list(route.models) == ["ft:mine"]
    # The row's defaults hold for them.
    assert route.models["ft:mine"].input == ("text", "image")


@pytest.mark.parametrize(
    ("profiles", "route", "model_id", "capability", "cap"),
    [
        pytest.param({}, "openai", "gpt-4.1", 32_768, None, id="a-catalogue-value-is-a-capability"),
        pytest.param(
            openai(model_overrides={"gpt-4.1": {"max_tokens": 99}}),
            *("openai", "gpt-4.1", 99, 99),
            id="an-override-is-a-cap",
        ),
        pytest.param(
            openai(model_overrides={"gpt-4.1": {"name": "x"}}),
            *("openai", "gpt-4.1", 32_768, None),
            id="another-override-is-none",
        ),
        pytest.param(model(max_tokens=7), "mine", "m1", 7, 7, id="a-configured-model"),
        pytest.param(own(), "mine", "m1", 32_768, None, id="the-default"),
        pytest.param(
            own(default_max_tokens=5), "mine", "m1", 5, None, id="a-configured-default-is-no-cap"
        ),
    ],
)
def test_a_configured_cap_is_sent_and_a_capability_is_not(
    profiles: Any, route: str, model_id: str, capability: int, cap: int | None
) -> None:
    found = PiProfiles(profiles).routes[route].models[model_id]
    assert (found.max_tokens, found.cap) == (capability, cap)


def test_switches_resolve_from_the_model_to_the_route_to_the_row_to_the_protocol() -> None:
    changes = {
        "compat": {"max_tokens_field": "max_tokens", "strict": False},
        "model_overrides": {"gpt-4.1": {"compat": {"strict": True}}},
    }
    route = resolve(openai(**changes))["openai"]
    assert dict(route.models["gpt-4.1"].compat) == {
        "system_role": "developer",  # the row
        "max_tokens_field": "max_tokens",  # the route, against the row
        "strict": True,  # the model, against the route
        "thinking_format": "openai",  # the protocol, as all that follow
        "reasoning_field": "",
        "terminal": "finish-reason",
        "usage_in_stream": True,
        "temperature": True,
    }
    assert route.models["gpt-5.1"].compat["temperature"] is False  # the row's own model


def test_a_row_that_is_given_another_protocol_keeps_no_switch_of_the_old_one() -> None:
    route = resolve(openai(api="openai-responses"))["openai"]
    assert dict(route.compat) == {"reasoning_summary": "", "strict": True, "temperature": True}


def test_resolved_values_cannot_be_changed() -> None:
    route = resolve(own())["mine"]
    for table in (route.models, route.compat, route.headers, route.models["m1"].compat):
        with pytest.raises(TypeError):
            table["x"] = 1  # type: ignore[index]


# ---- the vendor's package ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "missing", "message"),
    [
        ("openai", "openai", "openai: openai-completions needs the package openai"),
        (
            "openai-responses",
            "openai",
            "openai-responses: openai-responses needs the package openai",
        ),
        ("anthropic", "anthropic", "anthropic: anthropic-messages needs the package anthropic"),
        ("groq", "httpx2", "groq: openai-completions needs the package httpx2"),
    ],
)
def test_a_missing_package_says_which_command_installs_it(
    profile: str, missing: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModuleNotFoundError) as caught:
        PiAdapter(profile=profile)
    assert str(caught.value) == f"{message}: pip install 'dsh-adapter-sdk[pi]'"


def test_importing_the_door_imports_no_vendor(monkeypatch: pytest.MonkeyPatch) -> None:
    imported: list[str] = []
    original = builtins.__import__

    def noted(name: str, *arguments: Any, **options: Any) -> ModuleType:
        imported.append(name)
        return original(name, *arguments, **options)

    doors = [name for name in sys.modules if name.startswith("reference_adapters.pi")]
    for name in doors:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", noted)
    importlib.import_module("reference_adapters.pi").PiAdapter.declaration("anthropic")
    assert {"openai", "anthropic", "httpx2"} & {name.split(".")[0] for name in imported} == set()
