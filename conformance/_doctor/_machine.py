"""Look at the machine: Python, packages, proxies, loopback, installed adapters."""

from __future__ import annotations

import os
import platform
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final

from adapter_sdk.testing import Exchange, FaultServer

from .._target import installed_targets
from ._finding import Finding

OLDEST_PYTHON: Final = (3, 11)
DISTRIBUTION: Final = "dsh-adapter-sdk"
EXTRA: Final = "conformance"
OPTIONAL: Final = ("trio", "httpx2", "pytest-xdist")
PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")

_REQUIREMENT: Final = re.compile(r"([\w.-]+)(?:\[[^]]*\])?\s*([^;]*)(?:;(.*))?")
_LEAST: Final = re.compile(r">=\s*([0-9.]+)")


def machine() -> Iterator[Finding]:
    """Yield what every step finds."""
    yield _python()
    yield from _packages()
    yield from _proxies()
    yield _loopback()
    yield _installed()


def _python() -> Finding:
    said = f"Python {platform.python_version()}"
    if sys.version_info >= OLDEST_PYTHON:
        return Finding("good", said)
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return Finding("bad", said, f"use Python {oldest} or newer")


def _packages() -> Iterator[Finding]:
    try:
        wanted = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        yield Finding(
            "note", f"{DISTRIBUTION} is not installed", f"pip install '{DISTRIBUTION}[{EXTRA}]'"
        )
        return
    for line in wanted:
        found = _REQUIREMENT.match(line)
        if found is None or (found[3] and f'"{EXTRA}"' not in found[3].replace("'", '"')):
            continue
        least = _LEAST.search(found[2])
        yield _package(found[1], least[1] if least else "")
    for name in OPTIONAL:
        try:
            yield Finding("good", f"{name} {version(name)} (optional)")
        except PackageNotFoundError:
            yield Finding("note", f"{name} is not installed (optional)")


def _package(name: str, least: str) -> Finding:
    try:
        there = version(name)
    except PackageNotFoundError:
        return Finding("bad", f"{name} is not installed", f"pip install '{DISTRIBUTION}[{EXTRA}]'")
    if _numbers(there) < _numbers(least):
        return Finding("bad", f"{name} {there}", f"pip install '{name}>={least}'")
    return Finding("good", f"{name} {there}")


def _numbers(version_text: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", version_text)[:3]]


def _proxies() -> Iterator[Finding]:
    names = [name for key in PROXIES for name in (key, key.lower()) if os.environ.get(name)]
    if names:
        yield Finding("note", f"{', '.join(names)}: a run ignores it; an adapter elsewhere may not")
    else:
        yield Finding("good", "no proxy in the environment")


def _loopback() -> Finding:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with FaultServer([Exchange(204)]) as server, direct.open(server.base_url, timeout=5):
            return Finding("good", "a server on 127.0.0.1 can be reached")
    except OSError as error:  # no loopback interface, no free port, a filter that drops it
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        remedy = "allow connections to 127.0.0.1, at any port"
        return Finding("bad", f"a server on 127.0.0.1 cannot be reached: {reason}", remedy)


def _installed() -> Finding:
    names = installed_targets()
    return Finding("good", f"installed adapters: {', '.join(names) or 'none'}")
