"""A target that cannot be judged: one line that says why, and never a green run."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from .ran import Ran

MUTANTS = Path(__file__).parents[2] / "mutants" / "broken.py"

BAD_FACTORY = """
from adapter_sdk import Declaration

def factory(*, base_url, api_key, idle_timeout, progress_timeout):
    raise RuntimeError("no luck")

factory.declaration = Declaration(dialects=("openai-chat",), terminal="done-sentinel")
"""


def test_a_factory_that_raises_is_a_mistake_of_the_target(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = tmp_path / "bad_factory.py"
    target.write_text(BAD_FACTORY)

    ran = Ran(capsys, f"{target}:factory")

    assert ran.exit_code == 4
    assert "the factory cannot be called" in ran.err
    assert "RuntimeError: no luck" in ran.err


UNKNOWN_CAPABILITY = """
from adapter_sdk import Declaration

def factory(**options): ...

factory.declaration = Declaration(
    dialects=("openai-chat",), terminal="done-sentinel", capabilities=frozenset({"flying"})
)
"""


def declaring(**declared: object) -> str:
    """Return a target that declares this."""
    return (
        "from adapter_sdk import Declaration\n"
        "def factory(**options): ...\n"
        f"factory.declaration = Declaration(**{declared!r})\n"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("import sys; sys.exit(0)", "it ends the process with sys.exit(0)", id="exits"),
        pytest.param(
            "class factory:\n def declaration(): raise SystemExit(0)",
            "its declaration cannot be had: it ends the process",
            id="its-declaration-exits",
        ),
        pytest.param(
            "class factory:\n def declaration(): return 1 / 0",
            "its declaration cannot be had: ZeroDivisionError",
            id="its-declaration-raises",
        ),
        pytest.param(
            declaring(dialects=("openai-chat",), terminal="done-sentinel")
            + "class factory(object):\n"
            " declaration = factory.declaration\n"
            " def __init__(self, **options): raise SystemExit(0)",
            "the factory cannot be called with base_url, api_key",
            id="its-factory-exits",
        ),
        pytest.param(
            declaring(dialects=("openai_chat",), terminal="done-sentinel"),
            "declares dialect 'openai_chat'; did you mean 'openai-chat'?",
            id="nearly-a-dialect",
        ),
        pytest.param(
            declaring(dialects="openai-chat", terminal="done-sentinel"),
            "declares dialects 'openai-chat': a tuple of names",
            id="dialects-that-are-a-string",
        ),
        pytest.param(
            declaring(dialects=(), terminal="done-sentinel"),
            "declares dialects (): a tuple of names",
            id="no-dialect",
        ),
        pytest.param(
            declaring(dialects=("openai-chat",), terminal="done"),
            "declares terminal 'done'; openai-chat ends with done-sentinel or finish-reason",
            id="unknown-terminal",
        ),
        pytest.param(
            'raise RuntimeError("no\\nluck")',
            "bad.py cannot be imported: RuntimeError: no luck",
            id="raises",
        ),
        pytest.param("import nosuch", "ModuleNotFoundError: No module named", id="lacks-a-module"),
        pytest.param("def factory(:", "bad.py cannot be imported: SyntaxError", id="no-python"),
        pytest.param(
            UNKNOWN_CAPABILITY, "declares unknown capabilities: flying", id="unknown-capability"
        ),
    ],
)
def test_a_target_that_cannot_be_used_gets_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, says: str
) -> None:
    target = tmp_path / "bad.py"
    target.write_text(text)

    ran = Ran(capsys, f"{target}:factory")

    assert (ran.exit_code, ran.out, len(ran.err.splitlines())) == (4, "", 1)
    assert ran.err.startswith(f"dsh-conformance: {target}:factory: ")
    assert says in ran.err


def test_a_file_imports_what_lies_beside_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "beside_the_target.py").write_text("class Nothing: ...")
    (tmp_path / "target.py").write_text("import beside_the_target")

    ran = Ran(capsys, f"{tmp_path / 'target.py'}:factory")

    assert ran.err.endswith("target.py has no factory; it offers: beside_the_target\n")


def test_a_dialect_without_cases_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = tmp_path / "own.py"
    target.write_text(
        declaring(dialects=("of-my-own",), terminal="over") + "factory.__call__ = None\n"
    )

    ran = Ran(capsys, f"{target}:factory", "code_auth/bare_401", "-x")

    known = "anthropic-messages, openai-chat, openai-responses"
    assert f"note: there is no case of dialect 'of-my-own'; known: {known}" in ran.out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        pytest.param([], 4, "Usage: dsh-conformance", id="nothing"),
        pytest.param(["fixtures"], 4, "Usage: dsh-conformance fixtures", id="a-group-alone"),
        pytest.param(["lst"], 4, "did you mean the command list?", id="nearly-a-command"),
        pytest.param(
            ["deepseek", "--html", "x"], 4, "A report is --report html=FILE", id="a-report's-name"
        ),
        pytest.param(
            [str(MUTANTS)], 4, f"name the factory too, {MUTANTS}:FACTORY", id="a-file-alone"
        ),
    ],
)
def test_what_was_meant_is_guessed(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, says: str
) -> None:
    ran = Ran(capsys, *arguments)

    assert ran.exit_code == code
    assert says in ran.out + ran.err


def test_an_event_loop_that_is_not_installed_is_a_mistake_of_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance._commands._run.find_spec", lambda name: None)

    ran = Ran(capsys, "deepseek", "--backend", "trio")

    said = "dsh-conformance: --backend trio: trio is not installed; pip install trio\n"
    assert (ran.exit_code, ran.out, ran.err) == (4, "", said)


def test_an_installed_adapter_that_cannot_be_imported_gets_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = EntryPoint("broken", "no.such:Thing", "dsh.adapters")
    monkeypatch.setattr("conformance._target.entry_points", lambda group: [broken])

    ran = Ran(capsys, "broken")

    assert (ran.exit_code, ran.out, len(ran.err.splitlines())) == (4, "", 1)
    assert ran.err.startswith("dsh-conformance: broken: no.such:Thing cannot be imported: ")
