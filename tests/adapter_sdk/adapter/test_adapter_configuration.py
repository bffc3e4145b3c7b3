"""What the base class may be configured with, and where it finds its address."""

from __future__ import annotations

import math
from typing import Any

import pytest

from .example_adapter import ABSOLUTE, Example, adapter_with, finish_of

RANGE = "seconds above 0 and at most 2147483.647, got"
BARE = "base_url: an address without a query, a fragment or a credential"
HOST = "base_url: an address with a host and, where it names one, a port"
PLAIN = "base_url: printable ASCII without spaces"
RESERVED = "headers: {} is set by the adapter itself"
LIMITS = ("idle_timeout", "progress_timeout", "connect_timeout", "header_timeout")


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(0, f"{RANGE} 0.0", id="zero"),
        pytest.param(-0.5, f"{RANGE} -0.5", id="negative"),
        pytest.param(math.nan, f"{RANGE} nan", id="nan"),
        pytest.param(math.inf, f"{RANGE} inf", id="infinite"),
        pytest.param(2_147_483.648, f"{RANGE} 2147483.648", id="above-the-longest"),
        pytest.param(10**400, f"{RANGE} inf", id="far-above-the-longest"),
        pytest.param(True, "a number of seconds, got bool", id="bool"),
        pytest.param("5", "a number of seconds, got str", id="text"),
    ],
)
def test_a_limit_that_cannot_be_is_refused_at_construction(
    name: str, value: Any, message: str
) -> None:
    options = {name: value}
    with pytest.raises(ValueError) as caught:
        Example(**options)
    assert str(caught.value) == f"{name}: {message}"


def test_the_limits_by_default() -> None:
    adapter = Example()
    assert {name: getattr(adapter, name) for name in LIMITS} == {
        "idle_timeout": 300.0,
        "progress_timeout": 900.0,
        "connect_timeout": None,
        "header_timeout": None,
    }
    assert adapter.event_limit_bytes == 16 * 1024 * 1024


def test_only_the_idle_limit_cannot_be_switched_off() -> None:
    adapter = Example(progress_timeout=None, connect_timeout=None, header_timeout=None)
    assert adapter.progress_timeout is None
    options: dict[str, Any] = {"idle_timeout": None}
    with pytest.raises(ValueError, match="idle_timeout: a number of seconds, got NoneType"):
        Example(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(
            pytest.param(
                {"event_limit_bytes": value},
                "event_limit_bytes: a whole number of 1 or more",
                id=f"event-limit-{value!r}",
            )
            for value in (0, -1, 1.5, True, "5", None)
        ),
        *(
            pytest.param({"base_url": value}, ABSOLUTE, id=f"address-{value or 'empty'}")
            for value in ("", "api.example", "ftp://api.example", "//api.example", "http://")
        ),
        *(
            pytest.param({"base_url": value}, BARE, id=f"address-{value}")
            for value in (
                "http://api.example/?a=1",
                "http://api.example#a",
                "http://user:pw@api.example",
                "http://?a",
            )
        ),
        *(
            pytest.param({"base_url": value}, PLAIN, id=f"address-{value!a}")
            for value in ("http://api.example/a b", "http://dömain", "http://api\n.example")
        ),
        *(
            pytest.param({"base_url": value}, HOST, id=f"address-{value}")
            for value in (
                "http://api.example:port",
                "http://api.example:65536",
                "http://api.example:0",
                "http://:80",
                "http://[::1",
            )
        ),
        *(
            pytest.param({"headers": {name: "x"}}, RESERVED.format(name.lower()), id=name)
            for name in (
                "Authorization",
                "accept",
                "ACCEPT-ENCODING",
                "content-type",
                "content-length",
                "host",
                "transfer-encoding",
            )
        ),
        *(
            pytest.param(
                {"headers": {name: "x"}},
                "headers: a name holds a character that no header can carry",
                id=f"header-name-{name!a}",
            )
            for name in ("", "a b", "a:b", "näme", "a\nb", "-")
        ),
        *(
            pytest.param(
                {"headers": {"X-A": value}},
                "headers: the value of x-a is no printable ASCII text",
                id=f"header-value-{value!a}",
            )
            for value in ("wört", "a\nb", "a\x00", 5, None)
        ),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused_by_name(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError) as caught:
        Example(**options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("base_url", "environment", "url"),
    [
        pytest.param(None, None, "http://api.example/v1/chat/completions", id="default"),
        pytest.param(None, "  ", "http://api.example/v1/chat/completions", id="blank-environment"),
        pytest.param(None, "https://env/x/", "https://env/x/chat/completions", id="environment"),
        pytest.param("http://arg:80", "https://env", "http://arg/chat/completions", id="argument"),
        pytest.param(
            " http://a/b// ", None, "http://a/b/chat/completions", id="slashes-and-spaces"
        ),
        pytest.param("HTTP://[::1]:8/", None, "http://[::1]:8/chat/completions", id="ipv6"),
    ],
)
@pytest.mark.anyio
async def test_the_address_is_found(
    base_url: str | None, environment: str | None, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EXAMPLE_BASE_URL", raising=False)
    adapter, scripted = adapter_with(base_url=base_url)
    if environment is not None:
        monkeypatch.setenv("EXAMPLE_BASE_URL", environment)  # read at the call
    assert (await finish_of(adapter)).failure is None
    assert [str(sent.url) for sent in scripted.requests] == [url]
    await scripted.client.aclose()


def test_a_default_address_that_cannot_be_used_is_refused_by_its_name() -> None:
    class Slip(Example):
        default_base_url = "api.example"

    with pytest.raises(ValueError) as caught:
        Slip(base_url="http://api.example")
    assert str(caught.value) == f"default_{ABSOLUTE}"
