"""One page over HTTP, for this host alone and for whoever knows the token.

What reaches a port of loopback is any program of any user of this host, and any web site that this user's browser has
open. So an answer needs the token, which is in the address that is printed, and a Host header that names this server:
a name that an attacker's DNS points here is another one ("DNS rebinding"). There is one page and one path. Nothing of
a request becomes part of a file name or of an answer, and none waits for another.
"""

from __future__ import annotations

import hmac
import io
import secrets
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any

from sizer.records import HostError
from sizer.server.live_page import Served

LOOPBACK = "127.0.0.1"
METHODS = ("GET", "HEAD")

LONGEST_HEAD = 16 * 1024
"""Bytes of a request line with its headers; a browser sends less than one thousand."""
HEAD_SECONDS = 5.0
"""In which a request has to be here as a whole."""
ANSWER_SECONDS = 60.0
"""In which a reader has to have taken the page: through a tunnel it takes some."""
MOST_CLIENTS = 32
"""Served at a time; whoever comes then is turned away."""

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of every answer."""

NOTHING_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""Of an answer without a page."""


class PageServer(socketserver.ThreadingTCPServer):
    """Serves what `page` returns; it listens as soon as it is made. Raises HostError where it cannot."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = MOST_CLIENTS

    def __init__(self, page: Callable[[], Served], port: int = 0) -> None:
        self.page = page
        self.token = secrets.token_urlsafe(32)
        self._places = threading.BoundedSemaphore(MOST_CLIENTS)
        try:
            super().__init__((LOOPBACK, port), _Answer)
        except OSError as error:
            raise HostError(
                "Port {port} of this host cannot be used ({reason}); choose another one, or leave out --port.",
                port=port,
                reason=error.strerror or error,
            ) from error

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a request may call this server."""
        return f"{LOOPBACK}:{self.port}", f"localhost:{self.port}"

    @property
    def address(self) -> str:
        """Where the page is, with the token."""
        return f"http://{LOOPBACK}:{self.port}/?token={self.token}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own, where there is a place."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, or was too slow, is nothing to be told of."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Answer(BaseHTTPRequestHandler):
    """One request, one answer, and the connection is closed: what follows the head of a request is never read."""

    server: PageServer

    def handle(self) -> None:
        head = self._head()
        if head is None:
            return
        self.command = ""
        if len(head) > LONGEST_HEAD:
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        self.rfile = io.BytesIO(head)
        self.raw_requestline = self.rfile.readline()
        if self.parse_request():
            self._answer()

    def send_error(self, code: int, *_: Any, **__: Any) -> None:
        """A status without words: those that http.server would send quote the request."""
        self._send(HTTPStatus(code), NOTHING_POLICY)

    def log_message(self, format: str, *_: Any) -> None:
        """Nothing is logged: an address that is asked for holds the token."""

    def _head(self) -> bytes | None:
        """The request up to its empty line, or more than the longest one; None of a client that is too slow or gone."""
        connection: socket.socket = self.connection
        head, until = b"", time.monotonic() + HEAD_SECONDS
        while b"\r\n\r\n" not in head and b"\n\n" not in head and len(head) <= LONGEST_HEAD:
            left = until - time.monotonic()
            if left <= 0:
                return None
            connection.settimeout(left)
            part = connection.recv(LONGEST_HEAD)
            if not part:
                return None
            head += part
        connection.settimeout(ANSWER_SECONDS)
        return head

    def _answer(self) -> None:
        if self.command not in METHODS:
            self._send(HTTPStatus.METHOD_NOT_ALLOWED, NOTHING_POLICY, {"Allow": ", ".join(METHODS)})
            return
        named = self.headers.get_all("Host", [])
        if len(named) != 1 or named[0] not in self.server.hosts:
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return
        path, _, query = self.path.partition("?")
        # http.server reads the request line as latin-1, which this turns back into the bytes that came.
        if not hmac.compare_digest(query.encode("latin-1"), f"token={self.server.token}".encode()):
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        if path != "/":
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        page = self.server.page()
        headers = {"Content-Type": "text/html; charset=utf-8", "ETag": page.tag}
        self._send(HTTPStatus.OK, page.policy, headers, page.content)

    def _send(
        self, status: HTTPStatus, policy: str, headers: dict[str, str] | None = None, content: bytes = b""
    ) -> None:
        own = {"Content-Security-Policy": policy, "Content-Length": str(len(content)), "Connection": "close"}
        lines = (f"{name}: {value}" for name, value in {**HEADERS, **own, **(headers or {})}.items())
        head = "\r\n".join((f"HTTP/1.0 {status.value} {status.phrase}", *lines, "", "")).encode("ascii")
        self.wfile.write(head if self.command == "HEAD" else head + content)
