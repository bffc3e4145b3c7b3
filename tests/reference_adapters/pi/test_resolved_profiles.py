"""What comes of a good set of profiles: routes, models, caps and switches."""

from __future__ import annotations

from typing import Any

import pytest

from adapter_sdk.retry import NormalRetry
from reference_adapters.pi import PiProfiles
from reference_adapters.pi._profiles import catalogue, resolve

from .own_profiles import model, openai, own


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
