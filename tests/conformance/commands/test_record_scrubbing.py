"""What the recorder forwards and what it keeps: credentials pass and are never written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapter_sdk.testing import Exchange, FaultServer
from conformance._fixtures_lint import linted
from conformance._record._scrub import scrubbed
from conformance._secrets import is_sensitive, masked_path, masked_text, secrets_in

from .ran import Ran
from .raw_client import ask, request_bytes
from .recording_session import recorder_at

KEY = "sk-live-0123456789abcdefABCDEF"
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2IifQ.c2lnbmF0dXJl"
SENT = (
    ("Authorization", f"Bearer {KEY}"),
    ("X-Api-Key", "plainwordkey"),
    ("Cookie", "session=c00kie; theme=dark"),
    ("Acme-Organization", "org-acme"),
    ("X-Purpose", "chat"),
)
ANSWERED = (
    ("content-type", "application/json"),
    ("set-cookie", "session=n3w; Path=/"),
    ("acme-organization-id", "0f0f-acme"),
    ("x-request-id", "req-1"),
)
BODY = json.dumps(
    {"error": f"Incorrect key {KEY} or plainwordkey of org-Abc123Def456Ghi789, mail a@acme.dev"}
).encode()


def test_credentials_are_forwarded_and_not_kept(tmp_path: Path) -> None:
    request = request_bytes(
        f'{{"prompt": "my key is {KEY}"}}'.encode(),
        path="/v1/chat?key=abc123&model=tiny",
        headers=SENT,
    )
    with (
        FaultServer([Exchange(401, ANSWERED, body=BODY)]) as server,
        recorder_at(server.base_url, tmp_path, times=1) as session,
    ):
        answered = ask(session.base_url, request)
        session.wait()
    (seen,) = server.requests
    (recording,) = session.recordings()
    (file,) = tmp_path.rglob("*.json")

    assert [pair for pair in seen.headers if pair in SENT] == list(SENT)
    assert (seen.target, seen.body) == (
        "/v1/chat?key=abc123&model=tiny",
        request[-len(seen.body) :],
    )
    assert KEY.encode() in answered.data
    assert recording.request.path == "/v1/chat?key=***&model=tiny"
    assert recording.request.body == '{"prompt": "my key is ***"}'
    assert dict(recording.request.headers) == {
        "Host": "127.0.0.1",
        "Content-Length": str(len(seen.body)),
        "Authorization": "Bearer ***",
        "X-Api-Key": "***",
        "Cookie": "***",
        "Acme-Organization": "***",
        "X-Purpose": "chat",
    }
    masked = dict(recording.headers)
    assert masked["set-cookie"] == "*" * len("session=n3w; Path=/")
    assert masked["acme-organization-id"] == "*********"
    assert masked["x-request-id"] == "req-1"
    assert len(recording.body) == len(BODY)
    kept = file.read_text()
    for secret in (KEY, "plainwordkey", "c00kie", "org-acme", "n3w", "0f0f", "Abc123", "abc123"):
        assert secret not in kept
    assert linted(tmp_path).problems == ()


def test_what_a_person_wrote_is_kept_and_the_help_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    body = '{"user": "ann.lee", "metadata": {"id": 4711}, "prompt": "I am Ann, of a@acme.dev"}'
    with (
        FaultServer([Exchange(200, ANSWERED, body=b"Hello Ann")]) as server,
        recorder_at(server.base_url, tmp_path, times=1) as session,
    ):
        ask(session.base_url, request_bytes(body.encode()))
        session.wait()
    (recording,) = session.recordings()
    said = " ".join(Ran(capsys, "record", "--help").out.split())

    assert recording.request.body == body.replace("a@acme.dev", "***")
    assert recording.body == b"Hello Ann"
    assert linted(tmp_path).problems == ()
    assert "All else that questions and answers say is kept as it is" in said
    assert "Look at the bodies before you share a recording" in said


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        pytest.param(f"key {KEY}", ["an API key"], id="api-key"),
        pytest.param("AIza" + "b" * 35, ["an API key"], id="other-api-key"),
        pytest.param(f"Authorization: {TOKEN}", ["a token"], id="web-token"),
        pytest.param("Bearer abc12345xyz", ["a bearer token"], id="bearer"),
        pytest.param("org-abcDEF0123456789", ["an account id"], id="account"),
        pytest.param("write to ann.lee@acme.dev!", ["an e-mail address"], id="mail"),
        pytest.param("Bearer authentication is missing", [], id="prose"),
        pytest.param("Bearer ***", [], id="masked"),
        pytest.param("chatcmpl-3d1DLXoATQdVFjSHkze9qyids0NNI3xa", [], id="answer-id"),
        pytest.param("req_0123456789abcdef0123", [], id="request-id"),
        pytest.param("a@example.com b@x.example c@y.invalid", [], id="nobodys-addresses"),
        pytest.param("task-0123456789abcdef0123", [], id="word-that-ends-like-a-prefix"),
    ],
)
def test_what_looks_like_a_secret(text: str, kinds: list[str]) -> None:
    assert [found.kind for found in secrets_in(text.encode())] == kinds


@pytest.mark.parametrize(
    ("header", "sensitive"),
    [
        ("Authorization", True),
        ("proxy-authorization", True),
        ("x-api-key", True),
        ("api-key", True),
        ("x-goog-api-key", True),
        ("Set-Cookie", True),
        ("x-amz-security-token", True),
        ("acme-organization", True),
        ("acme-project", True),
        ("x-user-id", True),
        ("x-request-id", False),
        ("x-ratelimit-remaining-tokens", False),
        ("x-ratelimit-limit-project-tokens", False),
        ("www-authenticate", False),
        ("user-agent", False),
        ("content-type", False),
    ],
)
def test_which_headers_are_nobodys_business(header: str, sensitive: bool) -> None:
    assert is_sensitive(header) is sensitive


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/v1/chat", "/v1/chat"),
        ("/v1?api_key=x&n=2", "/v1?api_key=***&n=2"),
        ("/accounts/0123456789abcdef0123456789abcdef/ai", "/accounts/***/ai"),
        ("/p/0a1b2c3d-0000-4000-8000-0123456789ab", "/p/***"),
    ],
)
def test_what_is_kept_of_a_path(path: str, kept: str) -> None:
    assert masked_path(path) == kept


def test_secrets_that_overlap_are_masked_as_one() -> None:
    assert masked_text(f"Bearer {KEY}; Bearer abc12345") == "Bearer ***; Bearer ***"


def test_a_secret_that_two_reads_share_is_masked_and_no_boundary_moves() -> None:
    head = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\n"
    reads = [head[:25], head[25:] + b"key sk-0123456", b"789abcdefgh end"]

    kept = scrubbed(reads, head_bytes=len(head))

    assert [len(read) for read in kept] == [len(read) for read in reads]
    masked = b"HTTP/1.1 200 OK\r\nSet-Cookie: ***\r\n\r\nkey " + b"*" * 21 + b" end"
    assert b"".join(kept) == masked
