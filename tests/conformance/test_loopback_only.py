"""A run opens no socket that leaves the machine, and asks no proxy.

In processes of their own: these tests' own guard would speak first.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from conformance._loopback_only import is_loopback

# Of the block for documentation (RFC 5737): no packet to it is ever answered.
ELSEWHERE: Final = "192.0.2.1"
REFUSED: Final = "a conformance run opens loopback sockets only, not"

GUARDED: Final = """
import socket, sys
from conformance._loopback_only import NotLoopbackError, loopback_only

def attempt(host):
    try:
        {attempt}
        return "let through"
    except NotLoopbackError as error:
        return str(error)

host = sys.argv[1]
with loopback_only():
    with loopback_only():
        print(attempt(host))
    print(attempt(host))
print("after it:", socket.getaddrinfo("192.0.2.1", 9)[0][4][0])
"""

PROXIES: Final = """
import os, sys
from conformance._loopback_only import loopback_only

def proxies():
    return [name for name in sys.argv[1:] if name in os.environ]

with loopback_only():
    print(proxies())
print(proxies())
"""

REACHES_OUT: Final = """
import socket
from adapter_sdk import Declaration

def factory(*, base_url, api_key, idle_timeout, progress_timeout):
    socket.create_connection(("192.0.2.1", 9), timeout=0.1)

factory.declaration = Declaration(dialects=("openai-chat",), terminal="done-sentinel")
"""


def python(
    code: str, *arguments: str, status: int = 0, environment: Mapping[str, str] | None = None
) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        check=False,
        capture_output=True,
        env={**os.environ, **(environment or {})},
        text=True,
        timeout=60,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param("socket.create_connection((host, 9), timeout=0.1)", id="connect"),
        pytest.param("socket.getaddrinfo(host, 9)", id="look-up"),
    ],
)
@pytest.mark.parametrize("host", [ELSEWHERE, "2001:db8::1", "provider.invalid"])
def test_another_machine_is_refused_until_the_outermost_guard_ends(host: str, attempt: str) -> None:
    said, _ = python(GUARDED.replace("{attempt}", attempt), host)
    assert said.splitlines() == [f"{REFUSED} {host}"] * 2 + [f"after it: {ELSEWHERE}"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_let_through(host: str) -> None:
    said, _ = python(GUARDED.replace("{attempt}", "socket.getaddrinfo(host, 9)"), host)
    assert said.splitlines() == ["let through"] * 2 + [f"after it: {ELSEWHERE}"]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        pytest.param("", True, id="no-name"),
        pytest.param("localhost", True, id="localhost"),
        pytest.param(b"localhost", True, id="bytes"),
        pytest.param("127.0.0.1", True, id="ipv4"),
        pytest.param("127.9.9.9", True, id="anywhere-in-127"),
        pytest.param("::1", True, id="ipv6"),
        pytest.param("::1%lo", True, id="with-a-zone"),
        pytest.param("0.0.0.0", False, id="any"),
        pytest.param("10.0.0.1", False, id="private"),
        pytest.param("localhost.example", False, id="a-name-that-begins-alike"),
        pytest.param("128.0.0.1", False, id="next-to-127"),
    ],
)
def test_the_machine_is_known_by_name_and_by_address(host: str | bytes, *, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_proxies_are_forgotten_for_the_run_and_come_back() -> None:
    names = {"HTTP_PROXY": "http://p:1", "https_proxy": "http://p:2", "ALL_PROXY": "http://p:3"}
    said, _ = python(PROXIES, *names, environment=names)
    during, after = said.splitlines()
    assert during == "[]"
    assert after == str(list(names))


def test_an_adapter_that_reaches_out_is_told_so_in_one_line(tmp_path: Path) -> None:
    target = tmp_path / "reaches_out.py"
    target.write_text(REACHES_OUT)
    command = "from conformance.cli import main; main()"
    _, said = python(command, f"{target}:factory", "code_auth", status=4)
    assert len(said.splitlines()) == 1
    assert said.endswith(f"NotLoopbackError: {REFUSED} {ELSEWHERE}\n")
