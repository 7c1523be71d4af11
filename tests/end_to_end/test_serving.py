"""A study that somebody watches while it is measured, from the command line to the page."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from datetime import datetime
from http.client import HTTPConnection
from pathlib import Path

import pytest

from sizer.analysis.accounting import CONTENDED_CORES
from tests.end_to_end.conftest import Begin, Begun, Gate

pytestmark = [pytest.mark.root, pytest.mark.slow]


def address_of(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The port and the path that a server prints, the only line on its stdout."""
    address = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/\?token=\S+)\n", process.stdout.readline())
    return int(address[1]), address[2]


def answered(method: str, port: int, path: str) -> tuple[str | None, str]:
    """The tag that a page asks for every other second, and the page."""
    connection = HTTPConnection("127.0.0.1", port, timeout=100)
    connection.request(method, path)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    assert answer.status == 200
    return answer.headers["ETag"], text


def tag_of(port: int, path: str) -> str | None:
    return answered("HEAD", port, path)[0]


def page_of(port: int, path: str) -> str:
    return answered("GET", port, path)[1]


def core_seconds(process: subprocess.Popen[str]) -> float:
    """CPU time that a process has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(path: Path) -> None:
    until = time.monotonic() + 300
    while not path.exists():
        assert time.monotonic() < until, path
        time.sleep(0.05)


def ended(process: subprocess.Popen[str]) -> int:
    """The exit code after Ctrl-C."""
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=200)
    return process.returncode


def spans(study: Path) -> list[tuple[float, float]]:
    """When each run began and ended."""
    intervals = []
    for path in (study / "runs").glob("*.json"):
        run = json.loads(path.read_text())
        began = datetime.fromisoformat(run["started_at"]).timestamp()
        intervals.append((began, began + run["wall_seconds"]))
    return intervals


def test_who_measures_writes_the_page_between_runs_for_whoever_looks(folder: Path, begin: Begin, begun: Begun) -> None:
    """One before the last run and one after it, none while a run goes on, and the server costs next to nothing."""
    study = begun(1, 2)
    gate, measuring = Gate(folder / "child.py"), begin()
    gate.wait()
    server = begin("serve", "study")
    port, path = address_of(server)
    assert "The page of this study is not drawn yet" in page_of(port, path)
    began, used = time.monotonic(), core_seconds(server)
    tags, written = [tag_of(port, path)], []
    wait_for(study / ".watched")
    gate.open()
    while measuring.poll() is None:
        tags.append(tag_of(port, path))
        if tags[-1] != tags[-2]:
            written.append((study / "report.html").stat().st_mtime)
        time.sleep(0.5)
    share = (core_seconds(server) - used) / (time.monotonic() - began)
    assert measuring.returncode == 0
    assert share < CONTENDED_CORES / 5
    runs = spans(study)
    assert len(runs) == 3
    written.append((study / "report.html").stat().st_mtime)
    assert written[0] < max(start for start, _ in runs)
    assert written[-1] > max(end for _, end in runs)
    assert [page for page in written if any(start < page < end for start, end in runs)] == []
    assert (study / ".watched").exists()
    assert "</html>" in page_of(port, path)
    assert ended(server) == 130
    assert not (study / ".watched").exists()


def test_nothing_is_written_where_nobody_looks(folder: Path, begin: Begin, begun: Begun) -> None:
    """A server alone looks at nothing: until the study ends there is no page and no mark."""
    study = begun(1)
    gate, measuring = Gate(folder / "child.py"), begin()
    gate.wait()
    server = begin("serve", "study")
    address_of(server)
    assert not (study / "report.html").exists()
    gate.open()
    measuring.communicate(timeout=300)
    assert measuring.returncode == 0
    before = {path: path.stat().st_mtime_ns for path in study.rglob("*")}
    assert study / ".watched" not in before
    time.sleep(2)
    assert {path: path.stat().st_mtime_ns for path in study.rglob("*")} == before
    assert ended(server) == 130


def test_where_nobody_measures_the_server_writes_the_page(first_version: Path, begin: Begin) -> None:
    """Once somebody looks: a study that was copied here without its page, say; and it ends by SIGTERM, too."""
    (first_version / "report.html").unlink(missing_ok=True)
    server = begin("serve", str(first_version), "--port", "18765")
    port, path = address_of(server)
    assert port == 18765
    time.sleep(3)
    assert not (first_version / "report.html").exists()
    before = tag_of(port, path)
    until = time.monotonic() + 300
    while tag_of(port, path) == before:
        assert time.monotonic() < until
        time.sleep(0.5)
    assert (first_version / "report.html").read_text() != page_of(port, path)
    assert "live-note" not in (first_version / "report.html").read_text()
    server.terminate()
    _, err = server.communicate(timeout=200)
    assert server.returncode == 130
    assert "ssh -L 18765:127.0.0.1:18765" in err
