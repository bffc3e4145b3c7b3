"""The models that DeepSeek lists: advisory, for an id that is not there passes through."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from reference_adapters.deepseek import CATALOGUE, DeepSeekAdapter
from reference_adapters.deepseek._catalogue import takes_images


def test_the_catalogue() -> None:
    limits = {"context_window": 1_000_000, "max_tokens": 256_000}
    assert {name: asdict(model) for name, model in CATALOGUE.items()} == {
        "deepseek-v4-flash": {"id": "deepseek-v4-flash", **limits, "images": False},
        "deepseek-v4-pro": {"id": "deepseek-v4-pro", **limits, "images": False},
        "deepseek-v4-flash-vision-exp": {
            "id": "deepseek-v4-flash-vision-exp",
            **limits,
            "images": True,
        },
    }


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("deepseek-v4-flash", False),
        ("deepseek-v4-pro", False),
        ("deepseek-v4-flash-vision-exp", True),
        ("unlisted-9", False),
    ],
)
def test_only_a_model_that_says_so_takes_images(model: str, *, expected: bool) -> None:
    assert takes_images(model) is expected


@pytest.mark.parametrize(
    ("model", "tokens"), [("deepseek-v4-pro", 1_000_000), ("unlisted-9", 32_768)]
)
def test_the_context_window_is_the_catalogues_or_the_default(model: str, tokens: int) -> None:
    assert DeepSeekAdapter(default_context_window=32_768).context_window(model) == tokens
