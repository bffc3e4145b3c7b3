"""``python -m adapter_sdk.agent``: the demo, a conversation in a file, what a person sees."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from rich.console import Console

from adapter_sdk import ToolCallBlock, assistant, user
from adapter_sdk.agent._command import main
from adapter_sdk.agent._demo import ANSWER, QUESTION
from adapter_sdk.agent._observed import ObservedLog
from adapter_sdk.agent._screens import LiveScreen, PlainScreen, lines_of
from adapter_sdk.session import Event, MemoryLog, derive_messages, load_events, message_to_json
from adapter_sdk.testing import Exchange, FaultServer, Send

STREAM: Final = (("content-type", "text/event-stream"),)
# Two waits of 2.5 s, and a machine that is busy with other tests.
LIMIT_S: Final = 60


def answering(text: str) -> Exchange:
    return Exchange(
        200,
        STREAM,
        steps=(
            Send(b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % text.encode()),
            Send(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'),
            Send(b"data: [DONE]\n\n"),
        ),
    )


def run(*arguments: str, said: str = "", **environment: str) -> tuple[int, list[str], str]:
    """Run the command in a pipe; return its code, its lines and what went to standard error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "adapter_sdk.agent", *arguments],
        check=False,
        capture_output=True,
        env={**os.environ, **environment},
        input=said,
        text=True,
        timeout=LIMIT_S,
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_the_demo_shows_a_429_a_wait_a_withdrawn_text_and_a_success(tmp_path: Path) -> None:
    log = tmp_path / "demo.db"
    code, lines, errors = run("--demo", "--session", str(log))
    assert (code, errors) == (0, "")
    assert lines == [
        f"you> {QUESTION}",
        "retry 1/5 demo RATE_LIMIT 429: in 2 s",
        "retry 1/5 demo RATE_LIMIT 429: started",
        "retry 2/5 demo TRANSPORT 200: in 1 s, 32 characters withdrawn",
        "retry 2/5 demo TRANSPORT 200: started, 32 characters withdrawn",
        ANSWER,
        "[3 requests, 49 chunks in the log, 2 messages for the next request]",
    ]
    assert derive_messages(load_events(log)) == (user(QUESTION), assistant(ANSWER))


def test_a_conversation_goes_on_where_its_file_was_left(tmp_path: Path) -> None:
    log = str(tmp_path / "chat.jsonl")
    options = ("--adapter", "deepseek", "--session", log, "--model", "deepseek-v4-flash")
    with FaultServer([answering("Hello."), answering("Still here.")]) as server:
        environment = {"DEEPSEEK_API_KEY": "any", "DEEPSEEK_BASE_URL": server.base_url}
        assert run(*options, said="Hi\n\n", **environment) == (0, ["Hello."], "")
        assert run(*options, said="And now?", **environment) == (
            0,
            ["[goes on after 2 messages]", "Still here."],
            "",
        )
        assert len(server.requests) == 2
    assert derive_messages(load_events(log)) == (
        user("Hi"),
        assistant("Hello."),
        user("And now?"),
        assistant("Still here."),
    )


def test_a_turn_that_a_crash_left_open_is_closed_first(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    run("--adapter", "deepseek", "--session", str(path), DEEPSEEK_API_KEY="any")
    with path.open("ab") as file:
        file.write(b'{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}\n{"type":"us')
    code, lines, _ = run("--adapter", "deepseek", "--session", str(path), DEEPSEEK_API_KEY="any")
    assert (code, lines) == (0, ["[the last turn was interrupted; it was closed]"])


def test_a_failure_is_shown_and_the_conversation_is_not_over() -> None:
    with FaultServer([Exchange(401, body=b'{"error":"no"}'), answering("Hello.")]) as server:
        code, lines, errors = run(
            "--adapter",
            "deepseek",
            said="Hi\nHi again\n",
            DEEPSEEK_API_KEY="any",
            DEEPSEEK_BASE_URL=server.base_url,
        )
    assert (code, errors) == (0, "")
    assert lines[0].startswith("[error: AUTH: ")
    assert lines[1:] == ["Hello."]


def test_a_script_whose_last_turn_failed_ends_with_1() -> None:
    with FaultServer([answering("Hello."), Exchange(401, body=b'{"error":"no"}')]) as server:
        code, lines, errors = run(
            "--adapter",
            "deepseek",
            said="Hi\nHi again\n",
            DEEPSEEK_API_KEY="any",
            DEEPSEEK_BASE_URL=server.base_url,
        )
    assert (code, errors, lines[0]) == (1, "", "Hello.")
    assert lines[1].startswith("[error: AUTH: ")


def test_ctrl_c_closes_the_turn(tmp_path: Path) -> None:
    log = tmp_path / "chat.jsonl"
    held = Exchange(200, STREAM, steps=answering("Half").steps[:1], ending="hold")
    with FaultServer([held]) as server:
        environment = {"DEEPSEEK_API_KEY": "any", "DEEPSEEK_BASE_URL": server.base_url}
        with subprocess.Popen(
            [
                *(sys.executable, "-m", "adapter_sdk.agent"),
                *("--adapter", "deepseek", "--session", str(log)),
            ],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                assert process.stdin is not None
                process.stdin.write("Hi\n")
                process.stdin.flush()
                assert server.wait_for_requests(1, LIMIT_S)
                while b"Half" not in log.read_bytes():
                    assert process.poll() is None
                process.send_signal(signal.SIGINT)
                said, _ = process.communicate(timeout=LIMIT_S)
            finally:
                process.kill()
    assert (process.returncode, said) == (130, "Half\n[interrupted]\n")
    assert derive_messages(load_events(log)) == (user("Hi"), assistant("Half"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--adapter", "nobody"], "error: --adapter nobody: not installed; there are: deepseek"),
        (["--demo", "--session", "missing/x.db"], "missing/x.db: unable to open database file"),
        (["--demo", "--session", "pyproject.jsonl"], "line 1: no log of this format"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.jsonl").write_text("of somebody else\n")
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert (said.out, len(said.err.splitlines())) == ("", 1)
    assert message in said.err


def test_without_an_adapter_the_command_says_what_it_needs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2
    assert "--adapter, or watch --demo" in capsys.readouterr().err


# ---- screens -----------------------------------------------------------------------------

FAILURE: Final = {"code": "SERVER", "message": "busy", "status": 503}
DRAFT: Final = "The moon is made of"


def event(seq: int, type_: str, **data: Any) -> Event:
    return Event(type_, seq, 1_000 * seq, {"turn": 1, "step": 1, **data})


def text_chunk(seq: int, text: str) -> Event:
    return event(seq, "assistant/chunk", chunk={"type": "text-delta", "index": 0, "text": text})


RETRY: Final = event(
    2,
    "llm/retry",
    retryId="r",
    provider="example",
    mode="normal",
    policyKey="k",
    retry=1,
    maxRetries=5,
    delayMs=500,
    failure=FAILURE,
)


@pytest.mark.parametrize(
    ("shown", "lines"),
    [
        (event(0, "turn/start"), []),
        (
            event(0, "assistant/message", message=message_to_json(assistant("Hi"))),
            ["Hi"],
        ),
        (
            event(
                0, "assistant/message", message=message_to_json(assistant("H")), interrupted=True
            ),
            ["H"],
        ),
        (
            event(
                0,
                "assistant/message",
                message=message_to_json(assistant(ToolCallBlock("c", "clock", "{}"))),
            ),
            [],
        ),
        (event(0, "tool/start", name="clock", toolCallId="c"), ["[runs clock]"]),
        (
            event(0, "context/summary"),
            ["[the context was full: the conversation so far was summed up]"],
        ),
        (event(0, "turn/end", reason="complete"), []),
        (event(0, "turn/end", reason="step-limit"), ["[step-limit]"]),
        (event(0, "turn/end", reason="error", error=FAILURE), ["[error: SERVER: busy]"]),
    ],
)
def test_an_event_adds_these_lines(shown: Event, lines: list[str]) -> None:
    assert lines_of(shown) == lines


def test_withdrawn_text_never_reaches_a_pipe() -> None:
    written: list[str] = []
    screen = PlainScreen(written.append)
    with screen.turn():
        for shown in (
            event(0, "step/start", provider="example"),
            text_chunk(1, DRAFT),
            RETRY,
            event(3, "llm/retry-started", retryId="r", retry=1),
            text_chunk(4, "Rock."),
            event(5, "assistant/message", message=message_to_json(assistant("Rock."))),
        ):
            screen.show(shown)
    screen.say("[done]")
    assert written == [
        "retry 1/5 example SERVER 503: in 1 s, 19 characters withdrawn",
        "retry 1/5 example SERVER 503: started, 19 characters withdrawn",
        "Rock.",
        "[done]",
    ]


def picture(screen: LiveScreen) -> list[str]:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    with console.capture() as capture:
        console.print(screen._picture())
    return [line.rstrip() for line in capture.get().splitlines()]


def test_a_terminal_shows_text_as_it_grows_and_takes_it_back() -> None:
    screen = LiveScreen(Console(file=io.StringIO(), width=80, force_terminal=True))
    with screen.turn():
        screen.show(event(0, "step/start", provider="example"))
        screen.show(text_chunk(1, DRAFT))
        assert picture(screen) == [DRAFT]
        reason = {"kind": "error", "failure": FAILURE}
        screen.show(event(2, "assistant/chunk", chunk={"type": "finish", "reason": reason}))
        assert picture(screen) == []
        screen.show(RETRY)
        (row,) = picture(screen)
        assert DRAFT not in row
        assert "19 characters withdrawn" in row
        screen.show(event(3, "llm/retry-started", retryId="r", retry=1))
        screen.show(text_chunk(4, "Ro"))
        assert picture(screen)[1:] == ["Ro"]
        screen.show(event(5, "assistant/message", message=message_to_json(assistant("Rock."))))
        assert picture(screen)[1:] == ["Rock."]


CLEARS_THE_SCREEN: Final = "a\x1b[2Jb\rc\td\ne"
HARMLESS: Final = "a\ufffd[2Jb\ufffdc\td\ne"


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        pytest.param(
            event(0, "assistant/message", message=message_to_json(assistant(CLEARS_THE_SCREEN))),
            HARMLESS,
            id="text",
        ),
        pytest.param(
            event(0, "tool/start", name=CLEARS_THE_SCREEN, toolCallId="c"),
            f"[runs {HARMLESS}]",
            id="name-of-a-tool",
        ),
    ],
)
def test_what_a_model_says_moves_no_cursor(shown: Event, line: str) -> None:
    assert lines_of(shown) == [line]


def test_text_that_grows_moves_no_cursor() -> None:
    screen = LiveScreen(Console(file=io.StringIO(), width=80, force_terminal=True))
    with screen.turn():
        screen.show(text_chunk(1, "a\x1b[2Jb"))
        assert picture(screen) == ["a\ufffd[2Jb"]


def test_a_terminal_begins_each_attempt_with_nothing() -> None:
    screen = LiveScreen(Console(file=io.StringIO(), width=80, force_terminal=True))
    with screen.turn():
        screen.show(text_chunk(1, DRAFT))
        screen.show(event(2, "request/header", attempt=2))
        screen.show(text_chunk(3, "Rock."))
        assert picture(screen) == ["Rock."]
        screen.show(event(4, "turn/end", reason="interrupted"))
        assert picture(screen) == ["[interrupted]"]


def test_a_terminal_ends_with_the_retries_and_the_answer_below_them() -> None:
    drawn = io.StringIO()
    screen = LiveScreen(Console(file=drawn, width=80, force_terminal=True, color_system=None))
    screen.say("you> [b]Hi[/b]")
    with screen.turn():
        screen.show(event(0, "step/start", provider="example"))
        screen.show(RETRY)
        screen.show(event(5, "assistant/message", message=message_to_json(assistant("Rock."))))
    text = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", drawn.getvalue())
    assert text.startswith("you> [b]Hi[/b]\n")
    assert text.rstrip().endswith("Rock.")
    assert text.rindex("SERVER 503") < text.rindex("Rock.")


def test_an_observed_log_tells_of_each_event_once_it_is_stored() -> None:
    log = MemoryLog()
    seen: list[tuple[Event, int]] = []
    observed = ObservedLog(log, lambda event: seen.append((event, len(log.events))))
    first = observed.append("a/b", {})
    second = observed.append("a/c", {}, source_event_seqs=[0])
    assert seen == [(first, 1), (second, 2)]
    assert observed.events is log.events
    observed.close()
    with pytest.raises(Exception, match="the log is closed"):
        log.append("a/b", {})
