"""Sweeps: what differs is told, and a failing split shrinks to its core."""

from __future__ import annotations

import pytest

from conformance._case import Case
from conformance._case_file import shipped_cases
from conformance._lanes import Means
from conformance._sweep import body_of, smallest_failing_cuts, sweeps, with_body
from conformance._target import load_target


@pytest.mark.parametrize(
    ("cuts", "guilty"),
    [
        pytest.param(range(1, 50), {17}, id="one-cut"),
        pytest.param(range(1, 50), {3, 40}, id="two-together"),
        pytest.param([5], {5}, id="nothing-to-leave-out"),
    ],
)
def test_a_failing_split_shrinks_to_the_cuts_that_matter(cuts: range, guilty: set[int]) -> None:
    assert set(smallest_failing_cuts(list(cuts), lambda some: guilty <= set(some))) == guilty


def good_case() -> Case:
    return next(
        c for c in shipped_cases() if c.id == "finish_mapping/last_text_rides_finish_chunk_dropped"
    )


def test_a_sweep_tells_which_variant_and_what_differs() -> None:
    case = with_body(good_case(), body_of(good_case()))
    wrong = (
        case.expect.message.model_copy(update={"text": "other"}) if case.expect.message else None
    )
    broken = case.model_copy(update={"expect": case.expect.model_copy(update={"message": wrong})})

    found = sweeps([broken], load_target("deepseek"), Means(), extent="smoke", seed=1)
    differences = {sweep.check.id: sweep.run() for sweep in found}

    crlf = differences["sse_framing/variant_crlf_line_ends"]
    assert [str(d) for d in crlf] == [
        f"{case.id} with CRLF line ends: text: expected 'other', got 'Hello you'"
    ]
    cut = differences["sse_framing/every_two_way_split"]
    assert "a cut at byte" in str(cut[0])
