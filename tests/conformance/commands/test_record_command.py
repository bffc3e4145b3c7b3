"""``record`` as a person runs it: it ends cleanly, and nothing that came is lost."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from adapter_sdk.testing import Exchange, FaultServer, Send
from conformance._recording._file import load_recording, recording_names

from .ran import Ran, running
from .raw_client import RawClient, ask, request_bytes

HELD = Exchange(200, (("content-type", "text/event-stream"),), steps=(Send(b"a"),), ending="hold")


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_what_an_interrupt_cuts_is_written(tmp_path: Path, end: signal.Signals) -> None:
    with (
        FaultServer([HELD]) as server,
        running(tmp_path, "record", "--upstream", server.base_url, "--name", "acme") as command,
        RawClient(command.wait_for("base URL")) as client,
    ):
        client.send(request_bytes())
        came = client.read(until=b"1\r\na\r\n")
        code, out, err = command.end(end)
        assert server.wait_until_closed(10.0) == []
    (name,) = recording_names(tmp_path / "recordings")
    recording = load_recording(name, tmp_path / "recordings")

    assert (code, err) == (0, "")
    assert name == "acme/0001_chat_completions_200"
    assert b"".join(read.data for read in recording.reads) == came.data
    assert (recording.origin, recording.ending) == ("recorded", "open")
    assert name in out
    assert out.splitlines()[-1] == "1 recording in recordings/acme"


def test_it_ends_by_itself_after_so_many_exchanges(tmp_path: Path) -> None:
    arguments = ("--out", "kept", "--times", "2")
    with (
        FaultServer([Exchange(200, body=b"x"), Exchange(500, body=b"y")]) as server,
        running(tmp_path, "record", "--upstream", server.base_url, *arguments) as command,
    ):
        base_url = command.wait_for("base URL")
        answers = [ask(base_url).data[:12] for _ in range(2)]
        code, out, err = command.end(None)

    assert answers == [b"HTTP/1.1 200", b"HTTP/1.1 500"]
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "2 recordings in kept/127_0_0_1"


def test_nothing_recorded_is_exit_5(tmp_path: Path) -> None:
    with running(tmp_path, "record", "--upstream", "http://127.0.0.1:9") as command:
        assert b"502 Bad Gateway" in ask(command.wait_for("base URL")).data
        code, out, err = command.end(signal.SIGINT)

    assert (code, err) == (5, "")
    assert "the upstream cannot be reached: http://127.0.0.1:9: Connection refused" in out
    assert out.splitlines()[-1] == "0 recordings in recordings/127_0_0_1"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param([], "Missing option '--upstream'", id="no-upstream"),
        pytest.param(["--upstream", "x"], "write it as https://HOST", id="no-address"),
        pytest.param(["--upstream", "http://a.example"], "for this machine", id="in-the-clear"),
        pytest.param(["--upstream", "https://a.example", "--name", "A/b"], "a-z", id="no-name"),
        pytest.param(
            ["--upstream", "https://a.example", "--out", "/dev/null/x"],
            "/dev/null/x",
            id="no-folder",
        ),
    ],
)
def test_a_mistake_is_one_line_and_exit_4(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = Ran(capsys, "record", *arguments)

    assert ran.exit_code == 4
    assert ran.is_one_line
    assert says in ran.err
