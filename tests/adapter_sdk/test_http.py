"""What a request shows, and what the exceptions of the libraries mean."""

from __future__ import annotations

import inspect
import ssl
from types import ModuleType

import anyio
import httpx
import httpx2
import pytest
import trio

from adapter_sdk._http import (
    ResponseHead,
    WireRequest,
    describe_exception,
)

both_libraries = pytest.mark.parametrize(
    "library", [pytest.param(httpx, id="httpx"), pytest.param(httpx2, id="httpx2")]
)

REQUEST = WireRequest(
    url="http://api.example/v1/chat",
    headers={"authorization": "Bearer sk-1", "accept-encoding": "identity"},
    body=b'{"a":1}',
    secrets=("sk-1",),
)


CODE_OF_CLIENT_EXCEPTION = {
    "CloseError": "TRANSPORT",
    "ConnectError": "TRANSPORT",
    "ConnectTimeout": "TIMEOUT",
    "CookieConflict": "UNKNOWN",
    "DecodingError": "TRANSPORT",
    "HTTPError": "UNKNOWN",
    "HTTPStatusError": "UNKNOWN",
    "InvalidURL": "UNKNOWN",
    "LocalProtocolError": "TRANSPORT",
    "NetworkError": "TRANSPORT",
    "PoolTimeout": "TIMEOUT",
    "ProtocolError": "TRANSPORT",
    "ProxyError": "TRANSPORT",
    "ReadError": "TRANSPORT",
    "ReadTimeout": "TIMEOUT",
    "RemoteProtocolError": "TRANSPORT",
    "RequestError": "UNKNOWN",
    "RequestNotRead": "TRANSPORT",
    "ResponseNotRead": "TRANSPORT",
    "StreamClosed": "TRANSPORT",
    "StreamConsumed": "TRANSPORT",
    "StreamError": "TRANSPORT",
    "TimeoutException": "TIMEOUT",
    "TooManyRedirects": "TRANSPORT",
    "TransportError": "TRANSPORT",
    "UnsupportedProtocol": "TRANSPORT",
    "WriteError": "TRANSPORT",
    "WriteTimeout": "TIMEOUT",
}


def exceptions_of(library: ModuleType) -> dict[str, type[Exception]]:
    return {
        name: cls
        for name, cls in vars(library).items()
        if inspect.isclass(cls) and issubclass(cls, Exception)
    }


@both_libraries
def test_every_exception_of_the_clients_has_a_code(library: ModuleType) -> None:
    found = {}
    for name, cls in exceptions_of(library).items():
        error = cls.__new__(cls)  # their constructors differ; the class alone decides
        Exception.__init__(error, "said")
        found[name] = describe_exception(error)[0]
    found.pop("SSEError", None)  # raised by httpx2's own decoder, which is not used
    assert found == CODE_OF_CLIENT_EXCEPTION


class OwnReadTimeout(httpx.ReadTimeout):
    pass


class ReadTimeout(Exception):
    pass


def group(*errors: Exception) -> ExceptionGroup[Exception]:
    return ExceptionGroup("unhandled errors in a TaskGroup", errors)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        pytest.param(
            httpx.PoolTimeout("waited"),
            "TIMEOUT",
            "no connection came free in the client's pool (PoolTimeout: waited)",
            id="pool-timeout-names-the-pool",
        ),
        pytest.param(
            httpx2.PoolTimeout(""),
            "TIMEOUT",
            "no connection came free in the client's pool (PoolTimeout)",
            id="without-a-message-of-its-own",
        ),
        pytest.param(
            httpx.ConnectTimeout(""),
            "TIMEOUT",
            "no connection within the connect limit (ConnectTimeout)",
            id="connect-timeout",
        ),
        pytest.param(
            httpx.ReadTimeout(" \n"),
            "TIMEOUT",
            "the client's own read limit fired (ReadTimeout)",
            id="blank-message",
        ),
        pytest.param(
            httpx.WriteTimeout("w"),
            "TIMEOUT",
            "the client's own write limit fired (WriteTimeout: w)",
            id="write-timeout",
        ),
        pytest.param(
            httpx.ConnectError("refused"),
            "TRANSPORT",
            "no connection to the provider (ConnectError: refused)",
            id="connect-error",
        ),
        pytest.param(
            httpx.ReadError(""),
            "TRANSPORT",
            "the connection broke while the answer was read (ReadError)",
            id="read-error",
        ),
        pytest.param(
            httpx2.WriteError(""),
            "TRANSPORT",
            "the connection broke while the request was sent (WriteError)",
            id="write-error",
        ),
        pytest.param(
            httpx.RemoteProtocolError("incomplete"),
            "TRANSPORT",
            "the answer breaks HTTP or ends too early (RemoteProtocolError: incomplete)",
            id="remote-protocol-error",
        ),
        pytest.param(
            httpx.DecodingError("gzip"),
            "TRANSPORT",
            "the body is not what its content-encoding says (DecodingError: gzip)",
            id="decoding-error",
        ),
        pytest.param(
            httpx.UnsupportedProtocol("ftp"),
            "TRANSPORT",
            "UnsupportedProtocol: ftp",
            id="no-hint-for-this-one",
        ),
        pytest.param(
            OwnReadTimeout("x"),
            "TIMEOUT",
            "the client's own read limit fired (OwnReadTimeout: x)",
            id="subclass",
        ),
        pytest.param(TimeoutError(), "TIMEOUT", "TimeoutError", id="builtin-timeout"),
        pytest.param(
            ConnectionResetError(104, "reset"),
            "TRANSPORT",
            "ConnectionResetError: [Errno 104] reset",
            id="os-error",
        ),
        pytest.param(ssl.SSLError("bad"), "TRANSPORT", "SSLError: ('bad',)", id="tls"),
        pytest.param(EOFError(), "TRANSPORT", "EOFError", id="end-of-file"),
        pytest.param(anyio.EndOfStream(), "TRANSPORT", "EndOfStream", id="anyio-end-of-stream"),
        pytest.param(
            anyio.BrokenResourceError(), "TRANSPORT", "BrokenResourceError", id="anyio-broken"
        ),
        pytest.param(
            trio.ClosedResourceError("gone"),
            "TRANSPORT",
            "ClosedResourceError: gone",
            id="trio-closed",
        ),
        pytest.param(KeyError("x"), "UNKNOWN", "KeyError: 'x'", id="a-bug-of-somebodys"),
        pytest.param(RuntimeError(), "UNKNOWN", "RuntimeError", id="nothing-said"),
        pytest.param(
            group(group(httpx.PoolTimeout("p"))),
            "TIMEOUT",
            "no connection came free in the client's pool (PoolTimeout: p)",
            id="one-error-in-groups",
        ),
        pytest.param(
            group(OSError(1, "a"), ValueError("b")),
            "UNKNOWN",
            "ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)",
            id="two-errors-in-a-group",
        ),
    ],
)
def test_an_exception_is_described(error: BaseException, code: str, message: str) -> None:
    assert describe_exception(error) == (code, message)


def test_the_name_counts_and_not_the_package() -> None:
    # The clients share their names and not their classes; httpx's own base has to be there.
    assert describe_exception(ReadTimeout())[0] == "UNKNOWN"


def test_a_request_shows_neither_headers_nor_body_nor_secrets() -> None:
    assert repr(REQUEST) == "WireRequest(url='http://api.example/v1/chat', method='POST')"


def test_header_lines_are_found_in_any_case_and_in_order() -> None:
    head = ResponseHead(200, [("X-Id", "a"), ("date", "now"), ("x-id", "b")])
    assert (head.values("x-ID"), head.values("absent")) == (["a", "b"], [])
