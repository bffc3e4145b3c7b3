"""What is read between known bytes is what parsing the whole would read, or nothing is."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter_sdk._wire_json import parse_json
from adapter_sdk.dialects._repeated_payload import _MOST_TRIES, _TRIAL, RepeatedPayload

NAME: Final = "message"


def read(payload: Any) -> tuple[str, str] | None:
    """A text, and what it means, of a payload that says no more."""
    if not isinstance(payload, dict) or not isinstance(payload.get("text"), str):
        return None
    return None if payload.get("more") else (str(payload.get("kind")), payload["text"])


def before_and_behind(text: str) -> bytes:
    return f'{{"kind": "a", "text": {json.dumps(text)}, "n": 1}}'.encode()


def learned(*examples: bytes) -> RepeatedPayload[str]:
    known = RepeatedPayload(read, passing_over=0)
    for data in examples:
        plain = read(parse_json(data))
        assert plain is not None
        known.learn(NAME, data, *plain)
    return known


@pytest.fixture
def known() -> RepeatedPayload[str]:
    return learned(before_and_behind("one"), before_and_behind("two"))


FOUND: Final = {
    "plain": '"three"',
    "of-the-examples": '"two"',
    "empty": '""',
    "spaces": '"  "',
    "escapes": r'"\"\\\/\b\f\n\r\t"',
    "escaped-letters": r'"\u0077\u006f"',
    "other-letters": '"zwölf 漢字 🙂"',
    "escaped-pair": r'"\ud83d\ude42"',
    "half-of-a-pair": r'"\ud83d"',
    "looks-like-what-is-behind": r'"\", \"n\": 1}"',
    "rubout": '"\x7f"',
}


@pytest.mark.parametrize("written", FOUND.values(), ids=FOUND.keys())
def test_a_text_between_the_known_bytes_is_found(known: RepeatedPayload[str], written: str) -> None:
    data = f'{{"kind": "a", "text": {written}, "n": 1}}'.encode()

    assert known.text_of(NAME, data) == json.loads(written)
    assert known.meaning == "a"


NOT_FOUND: Final = {
    "other-bytes-before": b'{"kind": "b", "text": "x", "n": 1}',
    "other-bytes-behind": b'{"kind": "a", "text": "x", "n": 2}',
    "more-behind": b'{"kind": "a", "text": "x", "more": 1, "n": 1}',
    "a-space-behind": b'{"kind": "a", "text": "x", "n": 1} ',
    "cut-behind": b'{"kind": "a", "text": "x", "n": 1',
    "cut-right-behind-the-text": b'{"kind": "a", "text": "x"',
    "spaces-alone-behind-the-text": b'{"kind": "a", "text": "x"   ',
    "cut-in-the-text": b'{"kind": "a", "text": "x',
    "cut-before-the-text": b'{"kind": "a", "text": "',
    "another-text-behind": b'{"kind": "a", "text": "x", "text": "y", "n": 1}',
    "null": b'{"kind": "a", "text": null, "n": 1}',
    "a-number": b'{"kind": "a", "text": 7, "n": 1}',
    "an-array": b'{"kind": "a", "text": ["x"], "n": 1}',
    "a-line-end": b'{"kind": "a", "text": "\n", "n": 1}',
    "a-wrong-escape": rb'{"kind": "a", "text": "\x", "n": 1}',
    "a-cut-escape": rb'{"kind": "a", "text": "\u12", "n": 1}',
    "no-utf-8": b'{"kind": "a", "text": "\xff", "n": 1}',
    "nothing": b"",
    "another-document": b"[DONE]",
}


@pytest.mark.parametrize("data", NOT_FOUND.values(), ids=NOT_FOUND.keys())
def test_whatever_differs_elsewhere_is_left_to_the_parser(
    known: RepeatedPayload[str], data: bytes
) -> None:
    assert known.text_of(NAME, data) is None


PADDED: Final = {
    "none": (b"}}", "text"),
    "between": (b"}    }", "text"),
    "at-the-end": (b"}}   ", "text"),
    "another-bracket": (b"}]", None),
    "one-bracket-more": (b"}}}", None),
    "one-bracket-less": (b"} ", None),
    "nothing": (b"", None),
    "spaces-alone": (b"  ", None),
    "a-tab": (b"}\t}", None),
    "a-string": (b'," ":1}}', None),
}


@pytest.mark.parametrize(("behind", "found"), PADDED.values(), ids=PADDED.keys())
def test_brackets_may_be_padded_with_spaces(behind: bytes, found: str | None) -> None:
    def inner(payload: Any) -> tuple[str, str] | None:
        return "", payload["delta"]["text"]

    known = RepeatedPayload(inner, passing_over=0)
    for data in (b'{"delta": {"text": "one"}  }', b'{"delta": {"text": "two"} }'):
        known.learn(NAME, data, "", json.loads(data)["delta"]["text"])

    assert known.text_of(NAME, b'{"delta": {"text": "text"' + behind) == found


def test_spaces_before_anything_but_brackets_are_left_to_the_parser(
    known: RepeatedPayload[str],
) -> None:
    assert known.text_of(NAME, b'{"kind": "a", "text": "x",  "n": 1}') is None


def test_another_event_name_is_left_to_the_parser(known: RepeatedPayload[str]) -> None:
    assert known.text_of("error", before_and_behind("three")) is None
    assert known.text_of(NAME, before_and_behind("three")) == "three"


def test_bytes_behind_that_vary_are_not_tried_again(known: RepeatedPayload[str]) -> None:
    assert known.text_of(NAME, b'{"kind": "a", "text": "x", "n": 2}') is None
    assert known.text_of(NAME, before_and_behind("three")) is None


NOT_LEARNED: Final[dict[str, tuple[bytes, ...]]] = {
    "one-example": (before_and_behind("one"),),
    "bytes-behind-that-vary": (
        b'{"kind": "a", "text": "one", "n": 1}',
        b'{"kind": "a", "text": "two", "n": 2}',
    ),
    "bytes-before-that-vary": (
        b'{"n": 1, "kind": "a", "text": "one"}',
        b'{"n": 2, "kind": "a", "text": "two"}',
    ),
    "another-meaning": (
        b'{"kind": "a", "text": "one"}',
        b'{"kind": "b", "text": "two"}',
    ),
    "the-text-twice": (
        b'{"kind": "a", "text": "one", "again": "one"}',
        b'{"kind": "a", "text": "two", "again": "two"}',
    ),
    "escaped-and-elsewhere-as-it-is": (
        rb'{"kind": "a", "text": "\u006fne", "model": "one"}',
        rb'{"kind": "a", "text": "\u006fne", "model": "one"}',
    ),
    "the-trial-text-twice": (
        f'{{"text": "{_TRIAL}", "kind": "a", "by": "{_TRIAL}"}}'.encode(),
        f'{{"text": "{_TRIAL}", "kind": "a", "by": "{_TRIAL}"}}'.encode(),
        f'{{"text": "{_TRIAL}", "kind": "a", "by": "two"}}'.encode(),
    ),
    "the-meaning-is-the-text": (
        b'{"text": "a", "kind": "a"}',
        b'{"text": "a", "kind": "a"}',
    ),
    "no-utf-8-behind": (
        b'{"kind": "a", "text": "one", "by": "\xff"}',
        b'{"kind": "a", "text": "two", "by": "\xff"}',
    ),
    "too-large-to-keep": (
        b'{"kind": "a", "text": "one", "by": "%b"}' % (b"x" * 4096),
        b'{"kind": "a", "text": "two", "by": "%b"}' % (b"x" * 4096),
    ),
    "a-text-that-json-escapes": (before_and_behind("\n"), before_and_behind("two")),
}


@pytest.mark.parametrize("examples", NOT_LEARNED.values(), ids=NOT_LEARNED.keys())
def test_what_cannot_be_trusted_is_not_learned(examples: tuple[bytes, ...]) -> None:
    known = learned(*examples)

    for data in examples:
        found = known.text_of(NAME, data)
        assert found is None or (known.meaning, found) == read(parse_json(data))
    assert known.text_of(NAME, before_and_behind("three")) is None


def test_a_text_in_the_place_of_its_twin_is_learned_where_it_is_read() -> None:
    known = learned(
        b'{"text": "no", "kind": "a", "text": "one"}',
        b'{"text": "no", "kind": "a", "text": "two"}',
    )

    assert known.text_of(NAME, b'{"text": "no", "kind": "a", "text": "three"}') == "three"
    assert known.text_of(NAME, b'{"text": "three", "kind": "a", "text": "one"}') is None


def test_the_last_pair_that_was_alike_is_what_is_known() -> None:
    def other(text: str) -> bytes:
        return b'{"kind": "b", "text": "%b"}' % text.encode()

    known = learned(before_and_behind("one"), before_and_behind("two"), other("one"), other("two"))

    assert known.text_of(NAME, other("three")) == "three"
    assert known.meaning == "b"
    assert known.text_of(NAME, before_and_behind("three")) is None


def test_the_first_ones_are_no_examples() -> None:
    known = RepeatedPayload(read, passing_over=2)
    found = []
    for text in ("one", "two", "three", "four", "five"):
        data = before_and_behind(text)
        found.append(known.text_of(NAME, data))
        if found[-1] is None:
            known.learn(NAME, data, "a", text)

    assert found == [None, None, None, None, "five"]


def test_an_answer_whose_payloads_never_settle_is_tried_so_often_and_no_more() -> None:
    tried: list[Any] = []

    def read_counted(payload: Any) -> tuple[str, str] | None:
        tried.append(payload)
        return read(payload)

    known = RepeatedPayload(read_counted, passing_over=0)
    for number in range(10 * _MOST_TRIES):  # alike in pairs alone
        data = f'{{"kind": "a", "n": {number // 2}, "text": "one"}}'.encode()
        if known.text_of(NAME, data) is None:
            known.learn(NAME, data, "a", "one")

    assert len(tried) == _MOST_TRIES


def test_what_varies_behind_is_never_tried() -> None:
    def refuse(_: Any) -> tuple[str, str] | None:
        raise AssertionError("parsed once more")

    known = RepeatedPayload(refuse, passing_over=0)
    for number in range(9):
        data = f'{{"kind": "a", "text": "one", "n": {number}}}'.encode()
        assert known.text_of(NAME, data) is None
        known.learn(NAME, data, "a", "one")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["one", "a", "text", "\ud83d", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("nm"), inner),
    max_leaves=4,
)
texts = st.sampled_from(["one", "two", "a", "text", "\n", '"', "ö", ""]) | st.text(max_size=6)


@st.composite
def payloads(draw: st.DrawFn) -> list[bytes]:
    """Some payloads in a row, most of them alike; bytes of some are changed."""
    around: dict[str, Any] = draw(
        st.dictionaries(st.sampled_from(["kind", "more", "n", "model"]), values, max_size=4)
    )
    at = draw(st.integers(0, len(around)))
    datas = []
    for _ in range(draw(st.integers(3, 8))):
        fields = list(around.items())
        text = draw(texts)
        fields.insert(at, ("text", text))
        if draw(st.integers(0, 5)) == 0:
            fields.append(draw(st.sampled_from([("text", "two"), ("more", 1), ("n", 2)])))
        written = ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in fields)
        data = f"{{{written}}}".encode()
        if draw(st.integers(0, 5)) == 0:  # cut right behind the text
            said = json.dumps(text).encode()
            data = data[: data.rfind(said) + len(said)]
        elif draw(st.integers(0, 5)) == 0:
            place = draw(st.integers(0, len(data) - 1))
            behind = draw(st.sampled_from([b"", data[place:], data[place + 1 :]]))
            data = data[:place] + draw(st.binary(max_size=2)) + behind
        datas.append(data)
    return datas


@settings(deadline=None, max_examples=500)
@given(payloads())
def test_what_is_found_is_what_the_parser_reads(datas: list[bytes]) -> None:
    known = RepeatedPayload(read, passing_over=0)
    for data in datas:
        try:
            plain = read(parse_json(data))
        except ValueError:
            plain = None
        found = known.text_of(NAME, data)
        assert found is None or (known.meaning, found) == plain
        if found is None and plain is not None:
            known.learn(NAME, data, *plain)
