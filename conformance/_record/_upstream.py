"""Where the recorder forwards to: an address that was checked, and a connection to it."""

from __future__ import annotations

import os
import socket
import ssl
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from .._loopback_only import is_loopback

_CONNECT_LIMIT_S: Final = 10.0
_PORTS: Final = {"http": 80, "https": 443}


class UpstreamError(ValueError):
    """An upstream that cannot be used; the text says what is wrong with it."""


class UnreachableError(Exception):
    """No connection to the upstream; the text says why."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server to record.

    Attributes:
        scheme: ``http`` or ``https``.
        host: Name or address.
        port: Its port.
        path: What comes before the path of every request, without a slash at the end.
        tls: How TLS is spoken; None where it is not.
    """

    scheme: str
    host: str
    port: int
    path: str = ""
    tls: ssl.SSLContext | None = None

    @property
    def url(self) -> str:
        """The address, as a person writes it."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def authority(self) -> str:
        """What its Host header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def shown_host(self) -> str:
        """The host without what may name an account: ``***.example.com``."""
        labels = self.host.split(".")
        if is_loopback(self.host) or len(labels) < 4:
            return self.host
        return ".".join(["***", *labels[1:]])

    def connect(self) -> socket.socket:
        """Return a connection; the caller closes it.

        Raises:
            UnreachableError: No such host, nobody listens, no answer, or no TLS that is trusted.
        """
        try:
            sock = socket.create_connection((self.host, self.port), _CONNECT_LIMIT_S)
        except OSError as error:  # refused, no such name, no route, no answer in time
            raise UnreachableError(f"{self.url}: {_said(error)}") from error
        if self.tls is None:
            return sock
        try:
            return self.tls.wrap_socket(sock, server_hostname=self.host)
        except OSError as error:  # a certificate that is not trusted, no TLS, no answer in time
            sock.close()
            raise UnreachableError(f"{self.url}: no TLS: {_said(error)}") from error


def upstream_of(url: str) -> Upstream:
    """Return the upstream at ``url``.

    Raises:
        UpstreamError: No such address, or one to which credentials would go in the clear.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:  # a port that is none, a bracket without its other one
        raise UpstreamError(f"--upstream {url}: {error}") from error
    host = parts.hostname
    if parts.scheme not in _PORTS or not host:
        raise UpstreamError(f"--upstream {url}: write it as https://HOST or http://127.0.0.1:PORT")
    if parts.username is not None or parts.password is not None:
        raise UpstreamError("--upstream: leave the credentials to the client, which sends them")
    if parts.query or parts.fragment:
        raise UpstreamError(f"--upstream {url}: an address ends with its path")
    if parts.scheme == "http" and not is_loopback(host):
        raise UpstreamError(f"--upstream {url}: http:// is for this machine; write https://{host}")
    tls = ssl.create_default_context() if parts.scheme == "https" else None
    return Upstream(parts.scheme, host, port or _PORTS[parts.scheme], _path(parts), tls)


def _path(parts: SplitResult) -> str:
    return parts.path.rstrip("/")


def _said(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not trusted: {error.verify_message}"
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, socket.gaierror) or error.errno is None:
        return str(error.strerror or error)
    return os.strerror(error.errno) if not isinstance(error, ssl.SSLError) else str(error.reason)
