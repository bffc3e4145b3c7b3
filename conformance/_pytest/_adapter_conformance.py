"""An adapter's checks as a test class of three lines. Imports pytest only where pytest runs it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from typing_extensions import override

if TYPE_CHECKING:
    import pytest

    from .._runner import Planned


class AdapterConformance:
    """Subclass it in a test file: pytest collects one test for each check of the adapter.

    Each verdict is the one that the command gives. The options ``--dsh-select``, ``--dsh-seed``
    and ``--dsh-backend`` hold here too.

    Attributes:
        adapter: A class or function at the top of a module, called as the command calls a
            target, or the name of a target.
        profile: A profile that the adapter declares, or None.
        known_failures: A TOML file of failures that are known, beside the test file, or None.
        cases: A folder of more case files, beside the test file, or None.
        select: Ids or beginnings of ids, ``level:must``, ``dialect:NAME``; nothing takes all.

    Example:
        >>> class TestAcme(AdapterConformance):
        ...     adapter = "acme_adapter:AcmeAdapter"

    """

    __test__ = False  # this class itself has no adapter, whatever a project calls its classes

    adapter: ClassVar[Any] = None
    profile: ClassVar[str | None] = None
    known_failures: ClassVar[str | Path | None] = None
    cases: ClassVar[str | Path | None] = None
    select: ClassVar[Sequence[str]] = ()

    @override
    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__test__ = True

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make one test of each check; pytest calls it."""
        if "dsh_planned" not in metafunc.fixturenames:
            return
        import pytest

        from ._class import suite_of

        try:
            planned = suite_of(type(self), metafunc.config).planned
        except pytest.UsageError as mistake:  # told in its own words, without a traceback
            raise pytest.Collector.CollectError(str(mistake)) from None
        metafunc.parametrize("dsh_planned", planned, ids=[item.check.id for item in planned])

    def test_conformance(self, dsh_planned: Planned, pytestconfig: pytest.Config) -> None:
        """One check of the adapter."""
        from ._class import suite_of

        suite_of(type(self), pytestconfig).judge(dsh_planned)
