"""A new adapter package: what is written, and where."""

from __future__ import annotations

from ._package import Names, ScaffoldError, names_of, write_package

__all__ = ["Names", "ScaffoldError", "names_of", "write_package"]
