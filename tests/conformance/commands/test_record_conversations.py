"""The recorder between a client and a server: connections, addresses, faults of either side."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from threading import Thread

import pytest

from adapter_sdk.testing import Exchange, FaultServer, Pause, Send
from conformance._record._store import Store, StoreError, label, server_name
from conformance._record._upstream import UpstreamError, upstream_of

from .raw_client import Answered, RawClient, ask, request_bytes
from .raw_server import anonymous_tls, raw_server
from .recording_session import PATIENCE_S, recorder_at

GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


def test_requests_on_one_connection_are_a_recording_each(tmp_path: Path) -> None:
    script = [Exchange(200, body=b"one"), Exchange(429, body=b"two"), Exchange(204)]
    with (
        FaultServer(script) as server,
        recorder_at(server.base_url, tmp_path, times=3) as session,
        RawClient(session.base_url) as client,
    ):
        answers = []
        for path in ("/v1/chat/completions", "/v1/models?x=1", "/"):
            client.send(request_bytes(path=path))
            answers.append(client.read())
        session.wait()
    recordings = session.recordings()

    assert [it.name for it in recordings] == [
        "local/0001_chat_completions_200",
        "local/0002_v1_models_429",
        "local/0003_root_204",
    ]
    assert [it.body for it in recordings] == [b"one", b"two", b""]
    assert [answer.ending for answer in answers] == ["open"] * 3
    assert len(server.connections) == 1


def test_many_clients_at_once_are_kept_apart(tmp_path: Path) -> None:
    count = 8
    script = [Exchange(200, body=b"x" * 50_000) for _ in range(count)]
    came: list[Answered] = []
    with (
        FaultServer(script) as server,
        recorder_at(server.base_url, tmp_path, times=count) as session,
    ):
        clients = [Thread(target=lambda: came.append(ask(session.base_url))) for _ in range(count)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(PATIENCE_S)
        session.wait()
    recordings = session.recordings()

    assert len(recordings) == count == len(server.connections)
    assert {it.sha256 for it in recordings} == {recordings[0].sha256}
    assert {answer.data for answer in came} == {b"".join(r.data for r in recordings[0].reads)}


def test_the_path_and_the_host_are_those_of_the_upstream(tmp_path: Path) -> None:
    with FaultServer([Exchange(200, body=b"x")]) as server:
        upstream = f"{server.base_url}/api/v1/"
        with recorder_at(upstream, tmp_path, times=1) as session:
            ask(session.base_url, request_bytes(path="/chat?n=1"))
            session.wait()
    (seen,) = server.requests

    assert (seen.target, seen.header("host")) == ("/api/v1/chat?n=1", f"127.0.0.1:{server.port}")
    assert session.recordings()[0].request.path == "/api/v1/chat?n=1"


def test_what_comes_apart_in_time_is_kept_apart(tmp_path: Path) -> None:
    steps = (Send(b"a"), Pause(0.3), Send(b"b"))
    with (
        FaultServer([Exchange(200, steps=steps)]) as server,
        recorder_at(server.base_url, tmp_path, times=1) as session,
    ):
        ask(session.base_url)
        session.wait()
    (recording,) = session.recordings()
    times = [read.at_ms for read in recording.reads]

    assert recording.body_reads[:2] == (b"a", b"b")
    assert times[-1] - times[0] >= 150  # half of it, for a busy machine reads the first one late
    assert recording.end_at_ms >= times[-1]


def test_a_client_that_waits_for_continue_gets_it(tmp_path: Path) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
    with (
        FaultServer([Exchange(200, body=b"x")]) as server,
        recorder_at(server.base_url, tmp_path, times=1) as session,
        RawClient(session.base_url) as client,
    ):
        client.send(head)
        told = client.read(until=b"\r\n\r\n")
        client.send(b"body")
        client.read()
        session.wait()

    assert told.data == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert server.requests[0].body == b"body"
    assert session.recordings()[0].answer.interim[0].status == 100


def test_a_chunked_request_is_forwarded_as_it_came_and_kept_without_its_chunks(
    tmp_path: Path,
) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    with (
        FaultServer([Exchange(200, body=b"x")]) as server,
        recorder_at(server.base_url, tmp_path, times=1) as session,
    ):
        ask(session.base_url, head + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")
        session.wait()

    assert server.requests[0].body == b"abcde"
    assert server.requests[0].header("transfer-encoding") == "chunked"
    assert session.recordings()[0].request.body == "abcde"


def test_an_upstream_that_hangs_up_between_two_requests_ends_the_client(tmp_path: Path) -> None:
    with (
        raw_server([GOOD]) as (upstream, _),
        recorder_at(upstream, tmp_path, times=1) as session,
        RawClient(session.base_url) as client,
    ):
        client.send(request_bytes())
        first, then = client.read(), client.read()
        session.wait()

    assert (first, then) == (Answered(GOOD, "open"), Answered(b"", "fin"))


def test_an_answer_under_tls_is_kept_like_any_other(tmp_path: Path) -> None:
    server_tls, client_tls = anonymous_tls()
    large = b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000
    with raw_server([large[:100], large[100:]], [GOOD[:-1]], tls=server_tls) as (url, asked):
        upstream = dataclasses.replace(upstream_of(url), tls=client_tls)
        with recorder_at(upstream, tmp_path, times=2) as session:
            whole, cut = ask(session.base_url), ask(session.base_url)
            session.wait()
    first, second = session.recordings()

    assert whole == Answered(large, "open")
    assert cut == Answered(GOOD[:-1], "fin")
    assert b"".join(read.data for read in first.reads) == large
    assert (second.body, second.ending, second.is_whole) == (b"h", "fin", False)
    assert asked[0].startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")


def test_an_upstream_that_cannot_be_reached_is_a_502_and_a_line(tmp_path: Path) -> None:
    with FaultServer([Exchange(None, ending="refuse")]) as server:
        answered, (line,) = asked_through(server.base_url, tmp_path)

    assert line == f"the upstream cannot be reached: {server.base_url}: Connection refused"
    assert answered.data.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert answered.data.endswith(f"\r\n\r\n{line}\n".encode())
    assert answered.ending == "fin"
    assert list(tmp_path.rglob("*.json")) == []


def test_an_upstream_whose_tls_is_not_trusted_is_a_502_and_a_line(tmp_path: Path) -> None:
    server_tls, _ = anonymous_tls()
    with raw_server([GOOD], tls=server_tls) as (upstream, asked):
        answered, (line,) = asked_through(upstream, tmp_path)

    assert line.startswith(f"the upstream cannot be reached: {upstream}: no TLS: ")
    assert answered.data.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert asked == []


def asked_through(upstream: str, folder: Path) -> tuple[Answered, list[str]]:
    with recorder_at(upstream, folder, times=None) as session:
        return ask(session.base_url), session.said


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        pytest.param(b"hello\r\n\r\n", "a client sent no HTTP request", id="no-http"),
        pytest.param(
            b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n", "content-length", id="no-length"
        ),
        pytest.param(
            b"GET http://a.example/ HTTP/1.1\r\nHost: a\r\n\r\n", "a path belongs", id="proxy-form"
        ),
        pytest.param(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n", "a path belongs", id="connect"),
    ],
)
def test_a_request_that_cannot_be_forwarded_is_a_400_and_a_line(
    tmp_path: Path, request_: bytes, says: str
) -> None:
    with (
        FaultServer([]) as server,
        recorder_at(server.base_url, tmp_path, times=None) as session,
    ):
        answered = ask(session.base_url, request_)

    assert answered.data.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert says in session.said[0]
    assert server.connections == []


DAMAGED = {
    "an-end-inside-the-head": (b"HTTP/1.1 200 OK\r\nContent-", "the reads end inside the head"),
    "no-http": (b"220 mail.example ESMTP\r\n\r\n", "no status line"),
    "bytes-behind-the-end": (GOOD + b"more", "4 bytes behind the end"),
    "a-chunk-without-a-size": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc",
        "a chunk has no size",
    ),
}


@pytest.mark.parametrize(("answer", "damage"), DAMAGED.values(), ids=DAMAGED.keys())
def test_what_no_recording_can_hold_is_forwarded_and_kept_aside(
    tmp_path: Path, answer: bytes, damage: str
) -> None:
    with (
        raw_server([answer]) as (upstream, _),
        recorder_at(upstream, tmp_path, times=1) as session,
    ):
        with RawClient(session.base_url) as client:
            client.send(request_bytes())
            came = client.read()
            came = came if came.ending == "fin" else Answered(came.data + client.read().data, "fin")
        session.wait()
    (file,) = tmp_path.rglob("*.damaged")
    kept = json.loads(file.read_text())

    assert came == Answered(answer, "fin")
    assert "".join(read["text"] for read in kept["reads"]).encode() == answer
    assert damage in kept["damage"]
    assert damage in session.said[0]
    assert session.recordings() == []


def test_a_second_recorder_goes_on_counting_and_overwrites_nothing(tmp_path: Path) -> None:
    kept = []
    for body in (b"one", b"two"):
        with (
            FaultServer([Exchange(200, body=body)]) as server,
            recorder_at(server.base_url, tmp_path, times=1) as session,
        ):
            ask(session.base_url, request_bytes(path="/a"))
            session.wait()
        kept = [(it.name, it.body) for it in session.recordings()]

    assert kept == [("local/0001_a_200", b"one"), ("local/0002_a_200", b"two")]


def test_what_cannot_be_written_is_forwarded_and_said_to_be_lost(tmp_path: Path) -> None:
    with (
        FaultServer([Exchange(200, body=b"x")]) as server,
        recorder_at(server.base_url, tmp_path, times=None) as session,
    ):
        shutil.rmtree(tmp_path / "local")
        answered = ask(session.base_url)

    assert answered.data.endswith(b"x")
    assert session.said[0].startswith("lost: ")
    assert session.recorder.lost == 1


@pytest.mark.parametrize(
    ("url", "says"),
    [
        pytest.param("api.example", "write it as https://HOST", id="no-scheme"),
        pytest.param("ftp://api.example", "write it as https://HOST", id="other-scheme"),
        pytest.param("https://", "write it as https://HOST", id="no-host"),
        pytest.param("http://api.example", "write https://api.example", id="in-the-clear"),
        pytest.param("https://a.example:x", "Port could not be cast", id="no-port"),
        pytest.param("https://u:p@a.example", "leave the credentials", id="credentials"),
        pytest.param("https://a.example/v1?key=1", "ends with its path", id="query"),
    ],
)
def test_an_upstream_that_cannot_be_used_is_said_in_one_line(url: str, says: str) -> None:
    with pytest.raises(UpstreamError, match=says.replace("?", r"\?")) as raised:
        upstream_of(url)

    assert "u:p" not in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("url", "shown", "name"),
    [
        ("http://127.0.0.1:8080", "127.0.0.1", "127_0_0_1"),
        ("http://[::1]:8080/v1", "::1", "1"),
        ("https://api.acme.example", "api.acme.example", "api_acme_example"),
        ("https://mine.models.acme.example", "***.models.acme.example", "models_acme_example"),
    ],
)
def test_an_upstreams_name_tells_no_account(url: str, shown: str, name: str) -> None:
    host = upstream_of(url).shown_host

    assert (host, server_name(host)) == (shown, name)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/", "root"),
        ("/v1/chat/completions", "chat_completions"),
        ("/a/" + "b" * 99, "a_" + "b" * 38),
    ],
)
def test_a_file_is_named_for_the_path(path: str, words: str) -> None:
    assert label(path) == words


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_recorded(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match="file/local"):
        Store(tmp_path / "file", "local")
    with pytest.raises(StoreError, match="--name No"):
        Store(tmp_path, "No")
