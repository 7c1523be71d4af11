"""What the server answers, and to whom: every method, host, token, path and head, and what nobody should send."""

from __future__ import annotations

import os
import re
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http.client import HTTPConnection, HTTPMessage

import pytest

from sizer.bundled.reports.server import page_server
from sizer.bundled.reports.server.live_page import Served
from sizer.bundled.reports.server.page_server import PageServer
from sizer.records.messages import HostError

PAGE = Served(b"<!doctype html><p>the page", "default-src 'none'; frame-ancestors 'none'", '"one"')


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer(lambda: PAGE) as started:
        yield started


def asked(
    server: PageServer, target: str | None = None, method: str = "GET", **headers: str
) -> tuple[int, HTTPMessage, bytes]:
    """Status, head and body of the answer; by default the page is asked for as a browser does."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=100)
    connection.request(method, f"/?token={server.token}" if target is None else target, headers=headers)
    answer = connection.getresponse()
    parts = answer.status, answer.headers, answer.read()
    connection.close()
    return parts


def sent(server: PageServer, request: bytes) -> bytes:
    """All that comes back for these bytes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=100) as connection:
        connection.sendall(request)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer


def status(answer: bytes) -> int:
    """As the first line of an answer says."""
    return int(answer.split(b" ", 2)[1])


def test_it_listens_on_loopback_alone(server: PageServer) -> None:
    """On a port of its own, at an address with a token that nobody guesses."""
    assert server.host == "127.0.0.1"
    assert re.fullmatch(rf"http://127\.0\.0\.1:{server.port}/\?token=[\w-]{{43}}", server.address)
    with PageServer(lambda: PAGE) as other:
        assert other.token != server.token


def test_a_port_that_is_taken_is_said(server: PageServer) -> None:
    """With what to type instead."""
    with pytest.raises(HostError, match=rf"Port {server.port} .*Address already in use.*choose another one"):
        PageServer(lambda: PAGE, server.port)


def test_the_page_has_the_head_that_keeps_it_to_itself(server: PageServer) -> None:
    """Its policy, and what forbids browsers to guess, keep, embed and tell."""
    code, head, body = asked(server)
    assert (code, body) == (200, PAGE.content)
    assert dict(head.items()) == {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Length": str(len(PAGE.content)),
        "Content-Security-Policy": PAGE.policy,
        "ETag": '"one"',
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Connection": "close",
    }


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "get", "X"])
def test_no_other_method(server: PageServer, method: str) -> None:
    """Not even for somebody with the token."""
    code, head, body = asked(server, method=method)
    assert (code, head["Allow"], body) == (405, "GET, HEAD", b"")


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:{port}", "127.0.0.1", "localhost", "localhost:1", "[::1]:{port}", ""),
        *("127.0.0.1:{port}.evil.example", "127.0.0.1:{port},evil.example", "user@127.0.0.1:{port}", "127.1:{port}"),
    ],
)
def test_another_host_is_refused(server: PageServer, host: str) -> None:
    """A name that an attacker's DNS points here would let the attacker's page read this one."""
    code, _, body = asked(server, Host=host.format(port=server.port))
    assert (code, body) == (421, b"")


@pytest.mark.parametrize(
    "target",
    [
        *("/", "/?", "/?token=", "/?token=wrong", "/?token={token}x", "/?token={short}", "/?TOKEN={token}"),
        *("/?token={token}&token={token}", "/?a=1&token={token}", "/{token}", "/?token=%00", "/?token=\u00e9", "*"),
        *("/favicon.ico", "/report.html", "/../../etc/passwd", "/?token={token}#x", "/;token={token}", "token={token}"),
        *("//evil.example/", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "\\..\\..\\etc\\passwd"),
    ],
)
def test_without_the_token_nothing_is_said(server: PageServer, target: str) -> None:
    """The same for every path, whether there is something or not."""
    written = target.format(token=server.token, short=server.token[:-1])
    answer = sent(server, f"GET {written} HTTP/1.1\r\nHost: {server.hosts[0]}\r\n\r\n".encode("latin-1"))
    assert status(answer) == 403
    assert answer.endswith(b"\r\n\r\n")
    for header in (b"Content-Security-Policy: default-src 'none'", b"Cache-Control: no-store", b"Content-Length: 0"):
        assert header in answer
    assert b"ETag" not in answer
    assert not any(word in answer for word in (b"etc", b"evil", b"report", server.token.encode()))


@pytest.mark.parametrize(
    "path", ["/report.html", "/../../etc/passwd", "/runs/", "/.", "http://127.0.0.1/", "http://evil.example/", "x:/"]
)
def test_there_is_one_path(server: PageServer, path: str) -> None:
    """Also for somebody with the token; a proxy's form of address is another path."""
    code, _, body = asked(server, f"{path}?token={server.token}", Host=server.hosts[0])
    assert (code, body) == (404, b"")


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (b"GET /?{token} HTTP/1.1\r\n\r\n", 421),
        (b"GET /?{token} HTTP/1.0\r\n\r\n", 421),
        (b"GET /?{token} HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n", 421),
        (b"GET /?{token} HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n", 421),
        (b"GET /?{token} HTTP/1.1\r\nhOST:   {host}\r\n\r\n", 200),
        (b"GET /?{token} HTTP/1.0\r\nHost: {host}\r\n\r\n", 200),
        (b"GET /?{token} HTTP/1.1\nHost: {host}\n\n", 200),
        (b"GET /?{token} HTTP/2.0\r\nHost: {host}\r\n\r\n", 505),
        (b"GET /?{token} HTTP/1.1 x\r\nHost: {host}\r\n\r\n", 400),
        (b"GET /?{token} XTTP/1.1\r\nHost: {host}\r\n\r\n", 400),
        (b"GET\r\nHost: {host}\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400),
        (b"GET /?{token} HTTP/1.1\r\nHost: {host}\r\nExpect: 100-continue\r\n\r\n", 200),
        (b"GET /?{token} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 200),
        (b"GET /?{token} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9999999\r\n\r\nhello", 200),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", 431),
        (b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: {host}\r\n\r\n", 431),
        (b"GET /?{token} HTTP/1.1\r\nHost: {host}\r\n" + b"a: b\r\n" * 150 + b"\r\n", 431),
    ],
)
def test_what_nobody_should_send(server: PageServer, request_: bytes, code: int) -> None:
    """One answer, without a word of the request; a body is never read, and a second request never answered."""
    token = f"token={server.token}".encode()
    written = request_.replace(b"{token}", token).replace(b"{host}", server.hosts[0].encode())
    answer = sent(server, written + b"GET / HTTP/1.1\r\n\r\n")
    assert status(answer) == code
    assert answer.count(b"HTTP/1.") == 1
    assert token not in answer
    assert answer.endswith(PAGE.content if code == 200 else b"\r\n\r\n")


def test_slow_clients_hold_up_nobody(server: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets a short time for its whole request, however busily it drips; others are answered meanwhile."""
    monkeypatch.setattr(page_server, "HEAD_SECONDS", 1.0)
    slow = [socket.create_connection(("127.0.0.1", server.port), timeout=100) for _ in range(10)]
    for connection in slow:
        connection.sendall(b"GET / HT")
    assert asked(server)[0] == 200
    began = time.monotonic()
    with suppress(ConnectionError):
        # One byte comes before each wait would be over, for longer than anybody is waited for.
        while time.monotonic() - began < 60:
            time.sleep(0.2)
            slow[0].sendall(b"T")
    assert time.monotonic() - began < 60
    for connection in slow[1:]:
        assert connection.recv(1000) == b""
    for connection in slow:
        connection.close()


@pytest.fixture
def _many_files() -> Iterator[None]:
    """So many that this process may have both ends of some thousand connections open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


WITHOUT_TOKEN = {
    "nothing": b"",
    "half a request": b"GET / HT",
    "a wrong token": b"GET /?token=wrong HTTP/1.1\r\n" + b"a: b\r\n" * 80 + b"\r\n",
}


@pytest.mark.usefixtures("_many_files")
@pytest.mark.parametrize("sent", WITHOUT_TOKEN.values(), ids=WITHOUT_TOKEN)
@pytest.mark.parametrize("many", [33, 600, 2000])
def test_whoever_knows_the_token_waits_for_nobody(
    server: PageServer, monkeypatch: pytest.MonkeyPatch, sent: bytes, many: int
) -> None:
    """However many connect, say this and read nothing: the oldest of them goes where there is no place."""
    monkeypatch.setattr(page_server, "HEAD_SECONDS", 1000.0)
    others = []
    for number in range(many):
        connection = socket.socket()
        connection.setblocking(False)
        others.append(connection)
        connection.connect_ex(("127.0.0.1", server.port))
        with suppress(OSError):
            connection.send(sent)
        if number % 100 == 0:
            assert asked(server)[0] == 200
    assert asked(server)[0] == 200
    for connection in others:
        connection.close()
    assert asked(server)[0] == 200


def test_no_file_left_for_a_connection_is_not_the_end(server: PageServer) -> None:
    """Those who wait without a request make room."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    others = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
    assert asked(server)[0] == 200
    client = socket.socket()
    first_free = os.dup(client.fileno())
    os.close(first_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (first_free, hard))
    try:
        client.settimeout(100)
        client.connect(("127.0.0.1", server.port))
        client.sendall(f"GET /?token={server.token} HTTP/1.1\r\nHost: {server.hosts[0]}\r\n\r\n".encode())
        assert status(client.recv(1000)) == 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    for connection in (*others, client):
        connection.close()


def test_a_page_is_longer_than_a_reader_takes_at_once() -> None:
    """It comes whole, and who never reads it holds up nobody."""
    long = replace(PAGE, content=b"<p>" + b"x" * 20_000_000)
    with PageServer(lambda: long) as server:
        idle = socket.create_connection(("127.0.0.1", server.port))
        idle.sendall(f"GET /?token={server.token} HTTP/1.1\r\nHost: {server.hosts[0]}\r\n\r\n".encode())
        assert asked(server)[2] == long.content
        idle.close()


def test_a_client_that_goes_away_is_nothing_to_be_told_of(
    server: PageServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """Before its request is whole, or before it has read the answer; nothing is logged of others either."""
    for request in (b"", b"GET / HT", f"GET /?token={server.token} HTTP/1.1\r\nHost: x\r\n\r\n".encode()):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.sendall(request)
    assert asked(server)[0] == 200
    assert capfd.readouterr() == ("", "")
