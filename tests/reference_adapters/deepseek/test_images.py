"""Budgets for images: the oldest give way in whole quanta, so that the prefix stays cacheable."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter_sdk import (
    ContentBlock,
    ImageBlock,
    LlmRequest,
    Message,
    TextBlock,
    ToolResultBlock,
    assistant,
    user,
)
from reference_adapters.deepseek import DeepSeekAdapter
from reference_adapters.deepseek._images import (
    IMAGE_BYTES_QUANTUM,
    IMAGES_QUANTUM,
    MOST_IMAGE_BYTES,
    MOST_IMAGES,
    PLACEHOLDER,
    image_bytes,
    images_to_drop,
    within_budget,
)

MIB = 1024 * 1024


def test_the_budgets_and_their_quanta() -> None:
    assert (MOST_IMAGES, IMAGES_QUANTUM) == (600, 20)
    assert (MOST_IMAGE_BYTES, IMAGE_BYTES_QUANTUM) == (20 * MIB, 10 * MIB)
    assert TextBlock("[an earlier image was left out]") == PLACEHOLDER


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 100, 1000])
def test_the_size_of_an_image_is_that_of_its_file(size: int) -> None:
    assert image_bytes(ImageBlock("image/png", base64.b64encode(bytes(size)).decode())) == size


@pytest.mark.parametrize(
    ("sizes", "dropped"),
    [
        pytest.param([], 0, id="none"),
        pytest.param([1] * 600, 0, id="as-many-as-there-may-be"),
        pytest.param([1] * 601, 20, id="one-too-many-drops-a-quantum"),
        pytest.param([1] * 620, 20, id="a-quantum-too-many"),
        pytest.param([1] * 621, 40, id="one-more-drops-the-next"),
        pytest.param([10 * MIB, 10 * MIB], 0, id="as-large-as-they-may-be"),
        pytest.param([10 * MIB, 10 * MIB, 1], 1, id="one-byte-too-many-drops-ten-mebibytes"),
        pytest.param([MIB] * 21, 10, id="ten-of-one-mebibyte"),
        pytest.param([MIB] * 30, 10, id="a-quantum-of-bytes-too-many"),
        pytest.param([MIB] * 31, 20, id="and-the-next"),
        pytest.param([1, 21 * MIB], 2, id="whatever-it-takes"),
        pytest.param([30 * MIB], 1, id="one-that-is-too-large-by-itself"),
        pytest.param([1] * 600 + [20 * MIB], 601, id="the-larger-of-both-counts"),
        pytest.param([MIB] * 21 + [1] * 580, 20, id="the-count-drops-more-than-the-bytes"),
    ],
)
def test_the_oldest_give_way_in_quanta(sizes: list[int], dropped: int) -> None:
    assert images_to_drop(sizes) == dropped


@settings(deadline=None)
@given(sizes=st.lists(st.integers(0, 3 * MIB), max_size=80))
def test_what_is_left_is_within_the_budget(sizes: list[int]) -> None:
    left = sizes[images_to_drop(sizes) :]
    assert len(left) <= MOST_IMAGES
    assert sum(left) <= MOST_IMAGE_BYTES


def test_the_number_dropped_stays_for_twenty_turns() -> None:
    assert [images_to_drop([1] * count) for count in range(598, 645)] == [
        *[0] * 3,
        *[20] * 20,
        *[40] * 20,
        *[60] * 4,
    ]


def image(number: int, size: int = 1) -> ImageBlock:
    return ImageBlock("image/png", base64.b64encode(bytes([number % 256]) * size).decode())


def request(*messages: Message) -> LlmRequest:
    return LlmRequest(model="m", messages=messages)


def test_a_request_within_the_budget_is_left_as_it_is() -> None:
    asked = request(user("a", image(1)), assistant("b"))
    assert within_budget(asked) is asked


def test_the_oldest_images_become_a_fixed_placeholder_wherever_they_stand() -> None:
    large = image(7, 9 * MIB)
    turns = (
        user("first", large, "and", image(1)),
        user(ToolResultBlock("c1", (TextBlock("x"), large), is_error=True), ToolResultBlock("c2")),
        assistant("b"),
        user(large, image(2)),
    )
    assert within_budget(request(*turns)) == request(
        user("first", PLACEHOLDER, "and", PLACEHOLDER),
        user(
            ToolResultBlock("c1", (TextBlock("x"), PLACEHOLDER), is_error=True),
            ToolResultBlock("c2"),
        ),
        assistant("b"),
        user(large, image(2)),
    )
    assert turns[0].content[1] is large  # what was asked stays as it was


def test_what_a_turn_carries_beside_its_images_stays() -> None:
    kept = replace(assistant("b"), replay_state={"id": "r1"})
    many: tuple[ContentBlock, ...] = tuple(image(n) for n in range(601))
    found = within_budget(replace(request(kept, Message("user", many)), max_tokens=5))
    assert (found.max_tokens, found.messages[0]) == (5, kept)
    assert found.messages[1].content == (PLACEHOLDER,) * 20 + many[20:]


def test_what_goes_out_is_within_the_budget() -> None:
    many = tuple(image(n) for n in range(601))
    body = DeepSeekAdapter(api_key="k").body(request(Message("user", many)))
    (turn,) = body["messages"]
    assert turn["content"] == [
        *[{"type": "text", "text": PLACEHOLDER.text}] * 20,
        *(
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{one.data}"}}
            for one in many[20:]
        ),
    ]
