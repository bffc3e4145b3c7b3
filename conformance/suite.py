"""The whole kit as a test module: ``pytest --pyargs conformance.suite --dsh-adapter TARGET``."""

from __future__ import annotations

import pytest

from ._pytest._options import suite_asked_for
from ._runner import Planned


def test_conformance(dsh_check: Planned, pytestconfig: pytest.Config) -> None:
    """Each check of the adapter that ``--dsh-adapter`` names."""
    suite_asked_for(pytestconfig).judge(dsh_check)
