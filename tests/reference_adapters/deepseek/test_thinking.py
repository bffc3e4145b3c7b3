"""The two switches for reasoning, in every combination, against the rules in words."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from adapter_sdk import LlmError
from reference_adapters.deepseek._thinking import EFFORTS, checked_configuration, thinking_fields

SWITCHES = (None, "enabled", "disabled")
WORDS = (None, *EFFORTS)
PURPOSES = (None, "session-title", "summary")
OFF = {"thinking": {"type": "disabled"}}


def on(effort: str) -> dict[str, Any]:
    return {"thinking": {"type": "enabled"}, "reasoning_effort": effort}


def test_the_efforts() -> None:
    assert EFFORTS == ("off", "low", "high", "max")


@pytest.mark.parametrize(
    ("thinking", "configured", "asked", "purpose"),
    [
        row
        for row in itertools.product(SWITCHES, WORDS, WORDS, PURPOSES)
        if not (row[0] == "disabled" and row[1] not in (None, "off"))  # refused before
    ],
)
def test_every_combination_follows_the_rules(
    thinking: str | None, configured: str | None, asked: str | None, purpose: str | None
) -> None:
    def fields() -> dict[str, Any]:
        return thinking_fields(
            thinking=thinking, configured=configured, asked=asked, purpose=purpose
        )

    if thinking == "disabled" and asked not in (None, "off"):  # a lock
        with pytest.raises(LlmError) as caught:
            fields()
        assert caught.value.code == "UNSUPPORTED_REASONING_EFFORT"
    elif purpose == "session-title" or thinking == "disabled":
        assert fields() == OFF
    elif asked is not None:  # the request wins
        assert fields() == (OFF if asked == "off" else on(asked))
    elif configured is not None:
        assert fields() == (OFF if configured == "off" else on(configured))
    else:  # nothing set, nothing sent; enabled alone means the default
        assert fields() == ({} if thinking is None else on("high"))


@pytest.mark.parametrize("asked", ["medium", "OFF", "", "none"])
@pytest.mark.parametrize("thinking", SWITCHES)
def test_a_word_that_nobody_knows_is_refused(thinking: str | None, asked: str) -> None:
    with pytest.raises(LlmError) as caught:
        thinking_fields(thinking=thinking, configured=None, asked=asked, purpose=None)
    assert caught.value.code == "UNSUPPORTED_REASONING_EFFORT"


@pytest.mark.parametrize(("thinking", "effort"), list(itertools.product(SWITCHES, WORDS)))
def test_a_configuration_may_not_contradict_itself(
    thinking: str | None, effort: str | None
) -> None:
    if thinking == "disabled" and effort not in (None, "off"):
        with pytest.raises(ValueError, match=r"^reasoning_effort: thinking is disabled"):
            checked_configuration(thinking, effort)
    else:
        checked_configuration(thinking, effort)
