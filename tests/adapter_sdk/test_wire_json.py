from __future__ import annotations

import json
import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter_sdk._wire_json import parse_cut_json, parse_json

DEEP = 400  # more than the fast parser takes, less than the interpreter's limit


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b'{"a":[1,2.5,null,true,"x"]}', {"a": [1, 2.5, None, True, "x"]}, id="plain"),
        pytest.param(b" \r\n\t[] ", [], id="white-space-around"),
        pytest.param(b"null", None, id="null"),
        pytest.param('"é"', "é", id="text"),
        pytest.param(b'{"a":1,"a":2}', {"a": 2}, id="the-last-of-two-keys"),
        pytest.param(b'"\\ud83d\\ude00"', "\U0001f600", id="escaped-pair"),
        pytest.param(b'"a\\ud83d"', "a\ud83d", id="escaped-lone-half"),
        pytest.param(b'"\\ude00b"', "\ude00b", id="escaped-lone-second-half"),
        pytest.param('"\ud83d"', "\ud83d", id="raw-lone-half-in-text"),
        pytest.param(b'"a\xffb"', "a\ufffdb", id="invalid-utf-8"),
        pytest.param(b'"a\xe4\xbd"', "a\ufffd", id="cut-utf-8"),
        pytest.param(b'"\xed\xa0\xbd"', "\ufffd\ufffd\ufffd", id="surrogate-as-utf-8"),
        pytest.param(b"[1e999,-1e999]", [math.inf, -math.inf], id="overflow-is-infinite"),
        pytest.param(b"[Infinity,-Infinity]", [math.inf, -math.inf], id="infinities"),
        pytest.param(b"1" + b"0" * 400, 10**400, id="four-hundred-digits"),
        pytest.param('"a\u2028b"'.encode(), "a\u2028b", id="line-separator"),
    ],
)
def test_a_json_value_is_decoded(data: bytes | str, expected: object) -> None:
    assert parse_json(data) == expected


def test_not_a_number_is_a_float() -> None:
    (value,) = parse_json(b"[NaN]")
    assert math.isnan(value)


def test_nesting_beyond_the_fast_parser_is_decoded() -> None:
    value = parse_json(b"[" * DEEP + b"]" * DEEP)
    depth = 0
    while value:
        (value,) = value
        depth += 1
    assert depth == DEEP - 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"", r"no JSON: Expecting value at character 0", id="empty"),
        pytest.param(b" \n", r"no JSON: Expecting value at character 2", id="blank"),
        pytest.param(b"[DONE]", r"no JSON: Expecting value at character 1", id="marker"),
        pytest.param(b"<html>", r"no JSON: Expecting value at character 0", id="html"),
        pytest.param(b'{"a":1', r"no JSON: .* at character 6", id="cut"),
        pytest.param(b"{}{}", r"no JSON: Extra data at character 2", id="two-values"),
        pytest.param(b'{"id":"a","objdata: {"c":1}', r"no JSON: .* at character 22", id="fused"),
        pytest.param(b"{'a':1}", r"no JSON: .* at character 1", id="single-quotes"),
        pytest.param(b"[1,]", r"no JSON: .* at character [23]", id="trailing-comma"),
        pytest.param(b"01", r"no JSON: Extra data at character 1", id="leading-zero"),
        pytest.param(b'"\n"', r"no JSON: Invalid control character at at character 1", id="lf"),
        pytest.param(b"\xef\xbb\xbf{}", r"no JSON: Unexpected UTF-8 BOM .* 0", id="bom"),
        pytest.param(b"\xff\xfe\x00", r"no JSON: Expecting value at character 0", id="binary"),
        pytest.param(b"9" * 5000, r"no JSON: a number that is too long", id="huge-integer"),
        pytest.param(b"[" * 100_000, r"no JSON: nested too deep", id="deep-array"),
        pytest.param(b'{"a":' * 100_000, r"no JSON: nested too deep", id="deep-object"),
        pytest.param(
            b"[" * 100_000 + b"]" * 100_000, r"no JSON: nested too deep", id="deep-but-whole"
        ),
    ],
)
def test_anything_else_is_a_value_error(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$") as caught:
        parse_json(data)
    assert type(caught.value) is ValueError


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(value=JSON, ascii_only=st.booleans())
def test_what_json_writes_is_read_back(value: object, *, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert parse_json(text) == value
    assert parse_json(text.encode()) == value


@given(data=st.binary(max_size=60) | st.text('[]{}":,\\ud80019eE+-. ', max_size=40))
def test_no_data_raises_anything_but_a_value_error(data: bytes | str) -> None:
    with suppress(ValueError):
        parse_json(data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b'{"a":[1,{"b":"c"}]}', {"a": [1, {"b": "c"}]}, id="whole"),
        pytest.param(b'{"a":"b","c":"d', {"a": "b"}, id="in-a-string"),
        pytest.param(b'{"a":"b","c', {"a": "b"}, id="in-a-name"),
        pytest.param(b'{"a":1,"b":42', {"a": 1}, id="in-a-number"),
        pytest.param(b'{"a":1,"b":42\xff', {"a": 1}, id="in-a-number-before-a-bad-byte"),
        pytest.param(b'{"a":1,"b":-1.5e', {"a": 1}, id="in-an-exponent"),
        pytest.param(b'{"a":[true,fal', {"a": [True]}, id="in-a-literal"),
        pytest.param(b'{"a":"\xe4\xbd', {}, id="in-a-character"),
        pytest.param(b'{"a":"\\ud83', {}, id="in-an-escape"),
        pytest.param(b"[", [], id="after-the-first-bracket"),
        pytest.param(b'{"a":1} and more', {"a": 1}, id="something-behind-it"),
    ],
)
def test_what_is_left_of_cut_json_is_decoded(data: bytes, expected: object) -> None:
    assert parse_cut_json(data) == expected


@pytest.mark.parametrize("data", [b"", b"<html>", b"42", b"x{}", b'{"a" 1}', b"{]"])
def test_what_never_was_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        parse_cut_json(data)
