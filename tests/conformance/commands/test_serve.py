"""``serve``: one case for any client, as often as it asks."""

from __future__ import annotations

import re
import shlex
import signal
import socket
from pathlib import Path
from threading import Thread, active_count
from typing import Self

import pytest

from conformance._case_file import shipped_cases
from conformance._serve import CaseServer, curl_line

from .ran import Ran, running
from .raw_client import RawClient, ask, request_bytes

CASES = {case.id: case for case in shipped_cases()}
UNAUTHORIZED = "code_auth/bare_401"
TWO_EXCHANGES = "code_other_status/302_to_another_origin"
REFUSED = "truncation_transport/connection_refused"
PATIENCE_S = 10.0


class Served:
    """A case that is served in a thread, for so many rounds."""

    def __init__(self, case_id: str, *, times: int, idle_s: float = 0.2) -> None:
        self.told: list[str] = []
        self.server = CaseServer(CASES[case_id], port=0, idle_s=idle_s, tell=self.told.append)
        self.times = times

    def __enter__(self) -> Self:
        self.server.__enter__()
        self._thread = Thread(target=self.server.serve, args=(self.times,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        self.server.__exit__(None, None, None)

    def events(self, client: int) -> list[str]:
        found = [re.fullmatch(r"client (\d+) +[\d.]+ ms  (.*)", line) for line in self.told]
        return [it[2] for it in found if it is not None and it[1] == str(client)]


def test_every_client_gets_the_case_from_its_start_and_is_told_of() -> None:
    threads = active_count()
    with Served(UNAUTHORIZED, times=3) as served:
        answers = [ask(served.server.base_url) for _ in range(3)]

    assert [answer.data[:16] for answer in answers] == [b"HTTP/1.1 401 Una"] * 3
    assert (served.server.clients, served.server.requests) == (3, 3)
    for client in (1, 2, 3):
        assert served.events(client) == [
            "accepted",
            "request received: POST /v1/chat/completions, 16 bytes of body",
            "head sent: 401 (48 bytes)",
            "idle",
            "peer closed",
        ]
    assert active_count() == threads


def test_a_connection_that_is_kept_gets_the_case_again() -> None:
    with Served(UNAUTHORIZED, times=3) as served, RawClient(served.server.base_url) as client:
        answers = []
        for _ in range(3):
            client.send(request_bytes())
            answers.append(client.read().data)

    assert len(set(answers)) == 1
    assert (served.server.clients, served.server.requests) == (1, 3)


def test_a_client_that_follows_to_another_origin_is_found_out() -> None:
    with Served(TWO_EXCHANGES, times=1, idle_s=0.05) as served:
        answer = ask(served.server.base_url)
        elsewhere = re.search(rb"(?i)location: (http://[^/\r]+)", answer.data)
        assert elsewhere is not None
        ask(elsewhere[1].decode())

    assert served.server.requests_elsewhere == 1


def test_a_script_that_a_client_left_early_begins_anew_once_it_is_quiet() -> None:
    served = Served(TWO_EXCHANGES, times=1, idle_s=0.02)
    with served.server:
        answers = []
        for times in (1, 2):  # a round that is not played to its end is over when it is quiet
            serving = Thread(target=served.server.serve, args=(times,), daemon=True)
            serving.start()
            answers.append(ask(served.server.base_url).data.split()[1])
            serving.join(PATIENCE_S)
            assert not serving.is_alive()

    assert answers == [b"302", b"302"]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_the_command_serves_until_it_is_told_to_stop(tmp_path: Path, end: signal.Signals) -> None:
    with running(tmp_path, "serve", UNAUTHORIZED) as command:
        base_url = command.wait_for("base URL")
        with RawClient(base_url) as client:
            client.send(request_bytes())
            answer = client.read()
            command.wait_for("client 1 ")
            code, out, err = command.end(end)

    assert answer.data.startswith(b"HTTP/1.1 401 ")
    assert (code, err) == (0, "")
    assert "request received: POST /v1/chat/completions" in out
    assert out.splitlines()[-1] == "1 client, 1 request"


def test_the_command_ends_by_itself_after_its_rounds(tmp_path: Path) -> None:
    with running(tmp_path, "serve", UNAUTHORIZED, "--times", "1", "--idle", "0.1") as command:
        ask(command.wait_for("base URL"))
        code, out, err = command.end(None)

    assert (code, err) == (0, "")
    assert "peer closed" in out


def test_the_curl_line_asks_the_case() -> None:
    with Served(UNAUTHORIZED, times=1) as served:
        words = shlex.split(curl_line(CASES[UNAUTHORIZED], served.server.base_url))
        body = words[words.index("-d") + 1].encode()
        path = words[2].removeprefix(served.server.base_url)
        answer = ask(served.server.base_url, request_bytes(body, path=path))

    assert words[0] == "curl"
    assert path == "/chat/completions"
    assert answer.data.startswith(b"HTTP/1.1 401 ")


def test_a_case_that_refuses_connections_holds_its_port_and_refuses() -> None:
    with CaseServer(CASES[REFUSED], port=0, idle_s=1.0, tell=print) as server:
        port = int(server.base_url.rpartition(":")[2])
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), PATIENCE_S)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(
            ["nosuch"],
            "nosuch: no case has this id; see dsh-conformance list --json",
            id="unknown-case",
        ),
        pytest.param(
            ["code_auth/bare_41"],
            "code_auth/bare_41: no case has this id; did you mean code_auth/bare_401",
            id="mistyped-case",
        ),
        pytest.param(
            ["code_aut"],
            "code_aut: no case has this id; did you mean code-auth?",
            id="mistyped-requirement",
        ),
        pytest.param(
            ["code-challenge-page"],
            "code-challenge-page: is a requirement; its cases are code_challenge_page/",
            id="requirement",
        ),
        pytest.param(
            ["sse_framing"],
            " more; see dsh-conformance explain sse-framing",
            id="requirement-of-many-cases",
        ),
        pytest.param(
            ["state-isolation"],
            "state-isolation: is a requirement without a case: it is checked in code, which "
            "cannot be served",
            id="requirement-in-code",
        ),
        pytest.param(
            ["single_attempt/in_every_call"],
            "single_attempt/in_every_call: is a check in code, which cannot be served; see "
            "dsh-conformance explain single_attempt/in_every_call",
            id="check-in-code",
        ),
        pytest.param([UNAUTHORIZED, "--port", "70000"], "not in the range", id="no-port"),
        pytest.param([UNAUTHORIZED, "--idle", "0"], "not in the range", id="no-idle"),
        pytest.param([UNAUTHORIZED, "--times", "0"], "not in the range", id="no-times"),
        pytest.param([UNAUTHORIZED, "--cases", "nosuch"], "no such folder", id="no-folder"),
        pytest.param([REFUSED, "--times", "1"], "leave --times out", id="count-of-refusals"),
        pytest.param([], "Missing argument", id="nothing"),
    ],
)
def test_a_mistake_is_one_line_and_exit_4(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    ran = Ran(capsys, "serve", *arguments)

    assert ran.exit_code == 4
    assert ran.is_one_line
    assert says in ran.err


@pytest.mark.parametrize("command", [("serve", UNAUTHORIZED), ("record",)], ids=["serve", "record"])
def test_a_busy_port_is_one_line_and_exit_4(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: tuple[str, ...]
) -> None:
    record = ("--upstream", "http://127.0.0.1:9", "--out", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        options = record if command == ("record",) else ()
        ran = Ran(capsys, *command, *options, "--port", str(port))

    assert ran.exit_code == 4
    assert ran.err == (
        f"dsh-conformance: port {port}: another program listens there; "
        "leave --port out for a free one\n"
    )
