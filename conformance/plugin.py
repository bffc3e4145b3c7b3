"""The pytest plugin. Inert: until an option or a fixture asks, it imports nothing but pytest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._case import Case


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the suite."""
    group = parser.getgroup("dsh", "conformance of LLM adapters")
    group.addoption(
        "--dsh-adapter",
        metavar="TARGET",
        help="what to judge: package.module:factory, path.py:factory or an installed adapter",
    )
    group.addoption("--dsh-profile", metavar="NAME", help="a profile that the adapter declares")
    group.addoption("--dsh-cases", metavar="DIR", help="a folder of more case files")
    group.addoption("--dsh-known-failures", metavar="FILE", help="failures that are known; strict")
    group.addoption(
        "--dsh-select",
        metavar="SELECT",
        action="append",
        default=[],
        help="an id, the beginning of one, level:must or dialect:NAME; may be repeated",
    )
    group.addoption("--dsh-seed", type=int, default=1, help="of the seeded splits (default 1)")
    group.addoption(
        "--dsh-backend", choices=("asyncio", "trio"), default="asyncio", help="the event loop"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one item of each check for tests that take ``dsh_check``."""
    if "dsh_check" not in metafunc.fixturenames:
        return
    from ._pytest._options import suite_asked_for

    try:
        planned = suite_asked_for(metafunc.config).planned
    except pytest.UsageError as mistake:  # told in its own words, without a traceback
        raise pytest.Collector.CollectError(str(mistake)) from None
    metafunc.parametrize("dsh_check", planned, ids=[item.check.id for item in planned])


@pytest.fixture
def dsh_server() -> Iterator[Callable[..., Any]]:
    """Start fault servers: ``server = dsh_server([Exchange(429)])``; they end with the test.

    In place of exchanges it takes a case: ``dsh_server(dsh_case("code_auth/bare_401"))``.
    """
    import contextlib

    from ._pytest._server import started

    with contextlib.ExitStack() as stack:
        yield lambda script, **options: stack.enter_context(started(script, **options))


@pytest.fixture(scope="session")
def dsh_case() -> Callable[[str], Case]:
    """Return the case with an id: ``case = dsh_case("code_quota/bare_402_empty_body")``."""
    from ._case_file import shipped_cases

    cases = {case.id: case for case in shipped_cases()}
    return lambda case_id: cases[case_id]


@pytest.fixture(scope="session")
def dsh_replay() -> Callable[..., None]:
    """Judge by one check: ``dsh_replay("my_package:factory", "code_auth/bare_401")``."""
    from ._pytest._replay import replay

    return replay
