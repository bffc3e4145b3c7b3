"""``doctor``: the machine and a target, step by step."""

from __future__ import annotations

from pathlib import Path

import pytest

from .ran import Ran

ROOT = Path(__file__).parents[3]
MUTANTS = ROOT / "tests" / "mutants" / "broken.py"

GOOD = """
from adapter_sdk import BaseAdapter
from adapter_sdk.dialects.openai_chat import OpenAIChat

class Good(BaseAdapter):
    dialect = OpenAIChat(terminal="done-sentinel")
    default_base_url = "https://good.invalid"
    api_key_env = "GOOD_KEY"

def made(**arguments):
    return Good(**arguments)

class Changed:
    def __init__(self, **arguments):
        self.inner = Good(**arguments)

    async def aclose(self):
        await self.inner.aclose()
"""

TARGETS: dict[str, tuple[str, int, str, str]] = {
    "no-base-url": (
        "def target(*, url, api_key, idle_timeout, progress_timeout): ...",
        4,
        "✗ the factory takes no base_url",
        "give the factory a parameter base_url that can be passed by keyword",
    ),
    "asks-for-more": (
        "def target(*, base_url, api_key, idle_timeout, progress_timeout, region): ...",
        4,
        "✗ the factory asks for region",
        "give region a default",
    ),
    "positional-only": (
        "def target(base_url, /, *, api_key, idle_timeout, progress_timeout): ...",
        4,
        "✗ the factory takes no base_url",
        "",
    ),
    "raises": (
        "def target(**arguments): raise RuntimeError('no luck')",
        4,
        "✗ the factory: 'RuntimeError: no luck'",
        "",
    ),
    "no-stream": (
        "def target(**arguments): return object()",
        4,
        "✗ the adapter has no stream()",
        "make it a method, not async",
    ),
    "a-coroutine": (
        "class target(Changed):\n    async def stream(self, request, abort=None): ...",
        4,
        "✗ stream() returns coroutine, which lacks __aiter__, __aenter__",
        "make it a method, not async",
    ),
    "stream-raises": (
        "class target(Changed):\n    def stream(self, request, abort=None): return 1 / 0",
        4,
        "✗ stream(request, abort) raises ZeroDivisionError: division by zero",
        "",
    ),
    "a-wrong-path": (
        "def target(*, base_url, **more): return Good(base_url='http://127.0.0.1:1', **more)",
        1,
        "✗ a good answer over a socket, on asyncio: failure: ",
        "run the kit",
    ),
    "a-client-not-used": (
        "def target(*, http_client=None, **more): return Good(**more)",
        1,
        "✗ a good answer over http_client: failure: ",
        "",
    ),
    "no-client": (
        "def target(*, base_url, api_key, idle_timeout, progress_timeout):\n"
        "    return Good(base_url=base_url, api_key=api_key, idle_timeout=idle_timeout)",
        0,
        "! the factory takes no http_client",
        "take http_client, and every split",
    ),
}


@pytest.mark.parametrize(
    ("source", "exit_code", "line", "remedy"), TARGETS.values(), ids=TARGETS.keys()
)
def test_what_is_wrong_with_a_target_is_a_line_with_what_to_do(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    source: str,
    exit_code: int,
    line: str,
    remedy: str,
) -> None:
    file = tmp_path / "candidate.py"
    declared = 'Declaration(dialects=("openai-chat",), terminal="done-sentinel")'
    file.write_text(
        f"from adapter_sdk import Declaration\n{GOOD}\n{source}\ntarget.declaration = {declared}\n"
    )

    ran = Ran(capsys, "doctor", f"{file}:target")
    lines = ran.out.splitlines()
    (number,) = [n for n, said in enumerate(lines) if said.startswith(line)]

    assert (ran.exit_code, ran.err) == (exit_code, "")
    assert lines[number + 1].strip().startswith(remedy)
    assert lines[-1] == ("ready to be judged" if exit_code == 0 else "not ready to be judged")


def test_a_target_that_is_ready_has_no_cross(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "doctor", f"{MUTANTS}:Good")

    assert (ran.exit_code, ran.err) == (0, "")
    assert "✗" not in ran.out
    for said in (
        "✓ Python 3",
        "✓ pydantic ",
        "✓ no proxy in the environment",
        "✓ a server on 127.0.0.1 can be reached",
        "✓ installed adapters: ",
        "✓ declares openai-chat, ends with done-sentinel; ",
        "✓ the factory takes base_url, api_key, idle_timeout, progress_timeout",
        "✓ stream() returns an async iterator",
        "✓ a good answer over a socket, on asyncio: the whole text came",
        "✓ a good answer over a socket, on trio: the whole text came",
        "✓ User-Agent: dsh-adapter-sdk/",
        "✓ a good answer over http_client: the whole text came",
    ):
        assert said in ran.out


@pytest.mark.parametrize(
    ("target", "says"),
    [
        pytest.param("nosuch", "no installed adapter has this name", id="unknown"),
        pytest.param("nosuch.py:Thing", "there is no file nosuch.py", id="no-file"),
        pytest.param(f"{MUTANTS}:LlmRequest", "has no declaration", id="no-declaration"),
        pytest.param(f"{MUTANTS}:Nothing", "has no Nothing", id="no-such-name"),
    ],
)
def test_a_target_that_cannot_be_loaded_is_exit_4(
    capsys: pytest.CaptureFixture[str], target: str, says: str
) -> None:
    ran = Ran(capsys, "doctor", target)
    crosses = [line for line in ran.out.splitlines() if line.startswith("✗")]

    assert ran.exit_code == 4
    assert len(crosses) == 1
    assert says in crosses[0]


def test_a_proxy_in_the_environment_is_named_and_no_fault(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://user:secret@proxy.invalid:3128")
    ran = Ran(capsys, "doctor", f"{MUTANTS}:Good")

    assert ran.exit_code == 0
    assert "! https_proxy: a run ignores it" in ran.out
    assert "secret" not in ran.out
