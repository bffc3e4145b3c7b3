"""What each profile promises, and that the kit judges it by its own promises."""

from __future__ import annotations

from typing import Final

import pytest

from adapter_sdk import Capability
from conformance._target import TargetError, load_target
from reference_adapters.pi import PiAdapter, PiProfiles

TEXT_ONLY: Final = frozenset(
    {
        Capability.TOOLS,
        Capability.REASONING,
        Capability.HTTP_FACTS,
        Capability.PROGRESS_TIMEOUT,
        Capability.REQUEST_ID,
    }
)
WITH_IMAGES: Final = TEXT_ONLY | {Capability.IMAGES}


@pytest.mark.parametrize(
    ("profile", "dialect", "terminal", "header", "capabilities"),
    [
        ("openai", "openai-chat", "finish-reason", "x-request-id", WITH_IMAGES),
        (
            *("openai-responses", "openai-responses", "response-completed"),
            *("x-request-id", WITH_IMAGES),
        ),
        ("anthropic", "anthropic-messages", "message-stop", "request-id", WITH_IMAGES),
        ("openrouter", "openai-chat", "finish-reason", "x-generation-id", WITH_IMAGES),
        ("groq", "openai-chat", "finish-reason", "x-request-id", TEXT_ONLY),
        ("mistral", "openai-chat", "finish-reason", "mistral-correlation-id", WITH_IMAGES),
        ("xai", "openai-chat", "finish-reason", "x-request-id", WITH_IMAGES),
        ("together", "openai-chat", "finish-reason", "x-request-id", TEXT_ONLY),
        ("deepseek", "openai-chat", "done-sentinel", "x-request-id", TEXT_ONLY),
        ("ollama", "openai-chat", "finish-reason", "x-request-id", WITH_IMAGES),
        ("vllm", "openai-chat", "finish-reason", "x-request-id", TEXT_ONLY),
    ],
)
def test_a_profile_declares_its_own_dialect_and_proof(
    profile: str,
    dialect: str,
    terminal: str,
    header: str,
    capabilities: frozenset[Capability],
) -> None:
    target = load_target("pi", profile=profile)
    declared = target.declaration
    assert (declared.dialects, declared.terminal) == ((dialect,), terminal)
    assert declared.request_id_headers[0] == header
    assert declared.capabilities == capabilities
    assert declared.model in PiProfiles().routes[profile].models
    assert (target.factory, target.profile, target.takes_client) == (PiAdapter, profile, True)


def test_without_a_profile_the_first_one_of_the_catalogue_is_judged() -> None:
    assert load_target("pi").declaration == load_target("pi", profile="openai").declaration


def test_a_profile_that_is_not_declared_is_told_with_those_that_are() -> None:
    with pytest.raises(TargetError) as caught:
        load_target("pi", profile="nowhere")
    assert str(caught.value) == (
        "pi: there is no profile 'nowhere'; declared are: openai, openai-responses, anthropic, "
        "openrouter, groq, mistral, xai, together, deepseek, ollama, vllm"
    )
