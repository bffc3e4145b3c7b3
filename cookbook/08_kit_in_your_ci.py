"""Run the kit in your CI, with known failures, reports and a badge: GitHub Actions and GitLab.
When: your adapter lives in a repository of its own and must stay as good as it is today.
Known failures are strict: one that passes again, or fails otherwise, turns the run red.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

GITHUB = """\
jobs:
  conformance:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.13"}
      - run: pip install -e . 'dsh-adapter-sdk[conformance]'
      - run: dsh-conformance acme.py:Acme code_ --known-failures known.toml --report json=c.json
      - run: dsh-conformance badge c.json -o conformance.svg
"""  # on GitHub a failure also shows beside the line of the change, without an option

GITLAB = """\
conformance:
  image: python:3.13
  script:
    - pip install -e . 'dsh-adapter-sdk[conformance]'
    - dsh-conformance acme.py:Acme code_ --known-failures known.toml --report junit=c.xml
  artifacts:
    when: always
    reports: {junit: c.xml}
"""

ACME = """\
import dataclasses

from reference_adapters.deepseek import DeepSeekAdapter


class Acme(DeepSeekAdapter):
    def refine_failure(self, failure, payload):
        teapot = failure.status == 401 and payload is None
        return dataclasses.replace(failure, code="INVALID_REQUEST") if teapot else failure
"""

KNOWN = """\
[[known_failure]]
check = "code_auth/bare_401"
reason = "Acme answers 401 while it restarts; see its status page"
answer = "got INVALID_REQUEST"
issue = "our tracker, number 17"
expires = 2099-01-31
"""


def run_line(line: str, folder: Path) -> int:
    """Run one command of a workflow as CI would; return its exit code."""
    command = [sys.executable, "-m", "conformance", *line.split()[line.split().index(TOOL) + 1 :]]
    return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False).returncode


TOOL = "dsh-conformance"
with tempfile.TemporaryDirectory() as name:
    here = Path(name)
    (here / "acme.py").write_text(ACME)
    (here / "known.toml").write_text(KNOWN)
    lines = [line for line in (GITHUB + GITLAB).splitlines() if f" {TOOL} " in line]
    assert [run_line(line, here) for line in lines] == [0, 0, 0]
    assert "<svg" in (here / "conformance.svg").read_text()
    assert "<testsuite" in (here / "c.xml").read_text()

    (here / "known.toml").write_text(KNOWN.replace("INVALID_REQUEST", "QUOTA"))
    assert run_line(lines[0], here) == 1  # it fails, but not as the file says
    print(f"{len(lines)} commands of two workflows ran; a known failure that changed is exit 1")
