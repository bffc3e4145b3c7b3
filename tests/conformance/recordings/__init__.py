"""Tests of the recordings: the files, what is made of them, and how they replay."""

import pytest

# It asserts for two modules of tests, and a difference is to be shown as in them.
pytest.register_assert_rewrite(f"{__name__}.outcomes")
