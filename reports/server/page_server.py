"""One page over HTTP, for this host alone and for whoever knows the token.

What reaches a port of loopback is any program of any user of this host, and any web site that this user's browser has
open. So an answer needs the token, which is in the address that is printed, and a Host header that names this server:
a name that an attacker's DNS points here is another one ("DNS rebinding"). There is one page and one path. Nothing of
a request becomes part of a file name or of an answer.

One thread waits for all connections at once, so none waits for another. Where there are too many, the one that has been
here longest without a whole request goes: whoever knows the token sends it at once, and is answered before any goes.
"""

from __future__ import annotations

import errno
import hmac
import io
import secrets
import selectors
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException, parse_headers
from http.server import BaseHTTPRequestHandler
from typing import Any

from sizer.bundled.reports.server.live_page import Served
from sizer.records.messages import HostError

LOOPBACK = "127.0.0.1"
METHODS = ("GET", "HEAD")

LONGEST_HEAD = 16 * 1024
"""Bytes of a request line with its headers; a browser sends less than one thousand."""
HEAD_SECONDS = 5.0
"""In which a request has to be here as a whole."""
ANSWER_SECONDS = 60.0
"""In which a reader has to have taken the page: through a tunnel it takes some."""
MOST_CLIENTS = 512
"""At a time: half of the files that a process may usually have open (1,024)."""
MOST_ACCEPTED = MOST_CLIENTS // 8
"""Between two looks at those who are here, so that a client has several looks before others take its place."""
BACKLOG = 4096
"""Connections that the kernel keeps until they are accepted: all that it lets a program have (net.core.somaxconn of
Linux 5.4). One that finds no room there tries again after a second."""
NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
"""Why a connection cannot be accepted while there are as many."""

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


@dataclass(eq=False)
class _Client:
    """A connection, what has come of its request, and what is left of the answer to it."""

    connection: socket.socket
    until: float
    """When it has to have sent its request, or taken its answer (seconds of the monotonic clock)."""
    head: bytes = b""
    answer: memoryview | None = None


class PageServer:
    """Serves what `page` returns, from a thread of its own, until the `with` statement ends or it is closed.

    Raises HostError where it cannot listen.
    """

    def __init__(self, page: Callable[[], Served], port: int = 0) -> None:
        self.page = page
        self.token = secrets.token_urlsafe(32)
        try:
            self._listener = socket.create_server((LOOPBACK, port), backlog=BACKLOG)
        except OSError as error:
            raise HostError(
                "Port {port} of this host cannot be used ({reason}); choose another one, or leave out --port.",
                port=port,
                reason=error.strerror or error,
            ) from error
        self._listener.setblocking(False)
        self.host, self.port = self._listener.getsockname()
        self._selector = selectors.DefaultSelector()
        self._closing, self._closed = socket.socketpair()
        self._asking: dict[_Client, None] = {}
        """Whose request is not whole; the first has been here longest. So it is of those who are answered."""
        self._reading: dict[_Client, None] = {}
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a request may call this server."""
        return f"{LOOPBACK}:{self.port}", f"localhost:{self.port}"

    @property
    def address(self) -> str:
        """Where the page is, with the token."""
        return f"http://{LOOPBACK}:{self.port}/?token={self.token}"

    def __enter__(self) -> PageServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it, with all of its connections."""
        self._closing.close()
        self._thread.join()

    def _serve(self) -> None:
        with self._listener, self._closed, self._selector:
            self._selector.register(self._listener, selectors.EVENT_READ)
            self._selector.register(self._closed, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj: key.data for key, _ in self._selector.select(self._seconds_left())}
                for client in filter(None, ready.values()):
                    self._go_on(client)
                self._drop_late()
                if self._listener in ready:
                    self._accept()
                if self._closed in ready:
                    break
        for client in (*self._asking, *self._reading):
            client.connection.close()

    def _seconds_left(self) -> float | None:
        """Until the first client is too late; None where there is none."""
        first = [next(iter(clients)).until for clients in (self._asking, self._reading) if clients]
        return max(0.0, min(first) - time.monotonic()) if first else None

    def _drop_late(self) -> None:
        now = time.monotonic()
        for clients in (self._asking, self._reading):
            while clients and next(iter(clients)).until <= now:
                self._drop(next(iter(clients)))

    def _drop(self, client: _Client) -> None:
        self._asking.pop(client, None)
        self._reading.pop(client, None)
        self._selector.unregister(client.connection)
        # What was sent goes first, and then the end of it.
        with suppress(OSError):
            client.connection.shutdown(socket.SHUT_WR)
        client.connection.close()

    def _drop_oldest(self) -> bool:
        """Of those whose request is not whole, if there are any; False where nobody is here."""
        clients = self._asking or self._reading
        if clients:
            self._drop(next(iter(clients)))
        return bool(clients)

    def _accept(self) -> None:
        for _ in range(MOST_ACCEPTED):
            try:
                connection, _address = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                # Others may hold all files that this host has.
                if error.errno in NO_ROOM and not self._drop_oldest():
                    time.sleep(0.1)
                continue
            while len(self._asking) + len(self._reading) >= MOST_CLIENTS:
                self._drop_oldest()
            connection.setblocking(False)
            client = _Client(connection, time.monotonic() + HEAD_SECONDS)
            self._asking[client] = None
            self._selector.register(connection, selectors.EVENT_READ, client)
            self._go_on(client)

    def _go_on(self, client: _Client) -> None:
        """With what can be done of its request or of the answer without waiting."""
        try:
            if client.answer is None:
                self._read(client)
            if client.answer is not None:
                self._write(client)
        except BlockingIOError:
            pass
        except OSError:
            self._drop(client)

    def _read(self, client: _Client) -> None:
        part = client.connection.recv(LONGEST_HEAD)
        client.head += part
        if not part:
            self._drop(client)
        elif b"\r\n\r\n" in client.head or b"\n\n" in client.head or len(client.head) > LONGEST_HEAD:
            client.answer = memoryview(_Request(self, client.head).answer)
            client.until = time.monotonic() + ANSWER_SECONDS
            del self._asking[client]
            self._reading[client] = None
            self._selector.modify(client.connection, selectors.EVENT_WRITE, client)

    def _write(self, client: _Client) -> None:
        assert client.answer is not None
        while client.answer:
            client.answer = client.answer[client.connection.send(client.answer) :]
        self._drop(client)


class _Request(BaseHTTPRequestHandler):
    """One request and its answer, after which the connection is closed: what follows a head is never read.

    Of who does not show the token the request line alone is parsed: headers take a hundred times as long.
    """

    server: PageServer  # type: ignore[assignment]  # It asks of a server no more than this one has.

    def __init__(self, server: PageServer, head: bytes) -> None:
        self.server, self.command, self.answer = server, "", b""
        if len(head) > LONGEST_HEAD:
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        self.raw_requestline, _, headers = head.partition(b"\n")
        self.rfile = io.BytesIO()
        if self.parse_request():
            self._answer(headers)

    def send_error(self, code: int, *_: Any, **__: Any) -> None:
        """A status without words: those that http.server would send quote the request."""
        self._send(HTTPStatus(code), NOTHING_POLICY)

    def log_message(self, format: str, *_: Any) -> None:
        """Nothing is logged: an address that is asked for holds the token."""

    def _answer(self, headers: bytes) -> None:
        if self.command not in METHODS:
            self._send(HTTPStatus.METHOD_NOT_ALLOWED, NOTHING_POLICY, {"Allow": ", ".join(METHODS)})
            return
        path, _, query = self.path.partition("?")
        # http.server reads the request line as latin-1, which this turns back into the bytes that came.
        if not hmac.compare_digest(query.encode("latin-1"), f"token={self.server.token}".encode()):
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        try:
            named = parse_headers(io.BytesIO(headers)).get_all("Host", [])
        except HTTPException:
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        if len(named) != 1 or named[0] not in self.server.hosts:
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return
        if path != "/":
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        page = self.server.page()
        about_it = {"Content-Type": "text/html; charset=utf-8", "ETag": page.tag}
        self._send(HTTPStatus.OK, page.policy, about_it, page.content)

    def _send(
        self, status: HTTPStatus, policy: str, headers: dict[str, str] | None = None, content: bytes = b""
    ) -> None:
        own = {"Content-Security-Policy": policy, "Content-Length": str(len(content)), "Connection": "close"}
        lines = (f"{name}: {value}" for name, value in {**HEADERS, **own, **(headers or {})}.items())
        head = "\r\n".join((f"HTTP/1.0 {status.value} {status.phrase}", *lines, "", "")).encode("ascii")
        self.answer = head if self.command == "HEAD" else head + content
