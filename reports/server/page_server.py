"""One page over HTTP, for this host alone and for whoever knows the token.

What reaches a port of loopback is any program of any user of this host, and any web site that this user's browser has
open. So an answer needs the token, which is in the address that is printed, and a Host header that names this server:
a name that an attacker's DNS points here is another one ("DNS rebinding"). There is one page and one path. Nothing of
a request becomes part of a file name or of an answer.

One thread waits for all connections at once, so none waits for another. Where there are too many, the one that has been
here longest without a whole request goes: whoever knows the token sends it at once, and is answered before any goes.
"""

from __future__ import annotations

import asyncio
import hmac
import io
import secrets
import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPException, parse_headers
from http.server import BaseHTTPRequestHandler
from typing import Any, cast

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
"""At once, so that a client has several turns before others take its place."""
BACKLOG = 4096
"""Connections that the kernel keeps until they are accepted: all that it lets a program have (net.core.somaxconn of
Linux 5.4). One that finds no room there tries again after a second."""


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


_Task = asyncio.Task[None]


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
        self.host, self.port = self._listener.getsockname()
        self._loop, self._closing = asyncio.new_event_loop(), asyncio.Event()
        # That a client went away, or that no file is left for one, is nothing to be told of.
        self._loop.set_exception_handler(lambda *_: None)
        self._asking: dict[_Task, None] = {}
        """Whose request is not whole; the first has been here longest. So it is of those who are answered."""
        self._reading: dict[_Task, None] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)

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
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        listener, most = self._listener, MOST_ACCEPTED
        server = await asyncio.start_server(self._answer, sock=listener, backlog=most, limit=LONGEST_HEAD)
        listener.listen(BACKLOG)
        await self._closing.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # in which the transports close their sockets

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one request and answer it. Where there are too many clients, the oldest that has not asked goes."""
        task = cast("_Task", asyncio.current_task())
        self._asking[task] = None
        if len(self._asking) + len(self._reading) > MOST_CLIENTS:
            clients = self._asking if len(self._asking) > 1 else self._reading
            oldest = next(iter(clients))
            del clients[oldest]
            oldest.cancel()
        try:
            head = await asyncio.wait_for(_head(reader), HEAD_SECONDS)
            self._reading[task] = self._asking.pop(task)
            writer.transport.set_write_buffer_limits(0)  # so that it is drained when all has been sent
            writer.write(_Request(self, head).answer)
            writer.write_eof()
            await asyncio.wait_for(writer.drain(), ANSWER_SECONDS)
        except (OSError, asyncio.TimeoutError):
            pass
        finally:
            self._asking.pop(task, None)
            self._reading.pop(task, None)
            writer.transport.abort()


async def _head(reader: asyncio.StreamReader) -> bytes:
    """A request line with its headers, or as much as anybody may send."""
    head = b""
    while b"\r\n\r\n" not in head and b"\n\n" not in head and len(head) <= LONGEST_HEAD:
        part = await reader.read(LONGEST_HEAD)
        if not part:
            raise ConnectionResetError
        head += part
    return head


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
