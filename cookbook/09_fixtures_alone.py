"""Inject provider faults into your own application: the pytest fixtures, without our adapters.
When: you call a provider over any client and want to see what your program does when it breaks.
`dsh_server` starts fault servers, `dsh_case` finds the kit's cases; both end with the test.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

# What you would put beside your own tests. The application under test is plain httpx.
TEST = '''
import httpx
import pytest

from adapter_sdk.testing import Exchange


def ask(base_url):
    """The application: asks, and gives the person something to read."""
    try:
        answer = httpx.post(f"{base_url}/chat", json={"say": "hello"}, timeout=0.3)
    except httpx.TimeoutException:
        return "no answer in time"
    except httpx.TransportError:
        return "the connection broke"
    if answer.status_code == 429:
        return f"busy, again in {answer.headers['retry-after']} s"
    return answer.text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Exchange(200, body=b"hello"), "hello"),
        (Exchange(429, (("retry-after", "7"),)), "busy, again in 7 s"),
        (Exchange(200, body=b"hello", ending="short"), "the connection broke"),
        (Exchange(200, ending="hold"), "no answer in time"),
    ],
    ids=["good", "throttled", "reset", "silent"],
)
def test_the_application_tells_a_person_what_happened(dsh_server, answer, said):
    server = dsh_server([answer])
    assert ask(server.base_url) == said
    assert len(server.requests) == 1


def test_it_survives_an_answer_of_the_kit(dsh_server, dsh_case):
    case = dsh_case("code_auth/bare_401")
    server = dsh_server(case)
    assert ask(server.base_url) == ""
'''

with tempfile.TemporaryDirectory() as name:
    (Path(name) / "test_application.py").write_text(TEST)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name],
        capture_output=True,
        text=True,
        check=False,
        cwd=name,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    print(ran.stdout.splitlines()[-1])
