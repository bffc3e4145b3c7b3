"""What passes as a request id, and which one of several is taken."""

from __future__ import annotations

from typing import Any

import pytest

from adapter_sdk import ProviderRequestId
from adapter_sdk._request_id import first_request_id

REFUSAL = "a request id is 1 to 256 printable ASCII characters"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("r", id="one-character"),
        pytest.param("r" * 256, id="256-characters"),
        pytest.param("Root=1-67ab;2/x y", id="any-printable-ascii"),
    ],
)
def test_a_clean_value_becomes_an_id(value: str) -> None:
    made = ProviderRequestId(value)
    assert (type(made), made, hash(made)) == (ProviderRequestId, value, hash(value))


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("", id="empty"),
        pytest.param("r" * 257, id="257-characters"),
        pytest.param("a\nb", id="line-break"),
        pytest.param("a\x7f", id="delete"),
        pytest.param("a\u0085b", id="next-line"),
        pytest.param("réq", id="not-ascii"),
        pytest.param(None, id="none"),
        pytest.param(b"req", id="bytes"),
        pytest.param(7, id="number"),
    ],
)
def test_an_unclean_value_is_refused_without_being_repeated(value: Any) -> None:
    with pytest.raises(ValueError) as caught:
        ProviderRequestId(value)
    assert str(caught.value) == REFUSAL


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        pytest.param([], None, id="none-at-all"),
        pytest.param(["a", "b"], "a", id="the-first"),
        pytest.param(["", " \t", "b"], "b", id="empty-and-blank-are-skipped"),
        pytest.param([None, 7, b"x", "b"], "b", id="what-is-no-text-is-skipped"),
        pytest.param(["x" * 257, "b"], "b", id="too-long-is-skipped"),
        pytest.param(["two\nlines", "café", "b"], "b", id="unprintable-is-skipped"),
        pytest.param(["\t a \t"], "a", id="spaces-around-it-go"),
        pytest.param([" " + "x" * 256], "x" * 256, id="the-length-counts-without-spaces"),
        pytest.param(["", "x" * 10_000], None, id="nothing-usable"),
    ],
)
def test_the_first_usable_candidate_is_taken(
    candidates: list[object], expected: str | None
) -> None:
    found = first_request_id(candidates)
    assert found == expected
    assert found is None or type(found) is ProviderRequestId
