"""What a set of profiles may not say: every rule by its message."""

from __future__ import annotations

from typing import Any, Final

import pytest

from reference_adapters.pi import PiAdapter, PiProfiles, ProfileError

from .own_profiles import BASE, model, openai, own

RETRIES: Final = "the adapter makes one request a call; retries belong in retry_policy"

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
