"""The whole kit as a test module: ``pytest --pyargs conformance.suite --dsh-adapter TARGET``."""

from __future__ import annotations

import pytest

from ._pytest._items import judge_item
from ._runner import Planned


def test_conformance(dsh_check: Planned, pytestconfig: pytest.Config) -> None:
    """Each check of the adapter that ``--dsh-adapter`` names."""
    judge_item(dsh_check, pytestconfig)
