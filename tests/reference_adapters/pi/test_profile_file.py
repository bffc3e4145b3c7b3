"""A file of profiles: where its syntax breaks, and how little a new gateway takes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from reference_adapters.pi import PiAdapter, PiProfiles, ProfileError


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
