"""A folder of valid files in which the fuzzer spoils one at a time, and how a command is run there."""

from __future__ import annotations

import io
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from unittest.mock import patch

from fuzz_cases import SLOW_SECONDS, Case, CaseVerdict, Ended, faults, is_hushed_up

from sizer.analysis.log_lines.recognising import LINE_LIMIT
from sizer.cli import main
from sizer.host.machine import facts
from sizer.limits.detection import detect
from sizer.records.units import GIB

ORDINARY_WARNINGS = (DeprecationWarning, PendingDeprecationWarning, ResourceWarning, ImportWarning)


HANGS_SECONDS = 300.0
"""On a machine that does other things, too, a case may take many times its CPU time."""


class _TimeIsUp(BaseException):
    """Nothing catches it by accident."""


class Sandbox:
    """A folder with valid files; every case finds it as it was."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files = listing(root)

    def judge(self, case: Case, in_process: bool = True) -> CaseVerdict:
        """Run the case and put back what it changed."""
        path = self.root / case.path
        known = self._files.get(case.path)
        path.write_bytes(case.content)
        try:
            before = listing(self.root)
            ended = (_typed if in_process else _typed_in_a_process)(case, self.root)
            written = _changes(before, listing(self.root))
            kind, found = faults(case, ended, written)
            if not kind and is_hushed_up(path, ended):
                kind, found = "wrong", ["a run that cannot be read is left out and not named"]
            return CaseVerdict(case, ended, tuple(found), kind)
        finally:
            if known is None:
                path.unlink(missing_ok=True)
            self._restore()

    def _restore(self) -> None:
        found = listing(self.root)
        for name in found.keys() - self._files.keys():
            path = self.root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for name, content in self._files.items():
            if content is not None and found.get(name) != content:
                (self.root / name).write_bytes(content)


def listing(root: Path) -> dict[str, bytes | None]:
    """Every file with its bytes, every folder with None."""
    return {
        str(path.relative_to(root)): None if path.is_dir() else path.read_bytes() for path in sorted(root.rglob("*"))
    }


def _changes(before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name, b"-") != after.get(name, b"-"))


def _typed(case: Case, root: Path) -> Ended:
    """The command in this process, which is a hundred times faster than a new one."""
    out, err, start = io.StringIO(), io.StringIO(), _cpu_seconds()
    code, trace, timed_out = None, "", False
    with _surroundings(root, case.environment), _host_asked_once(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with redirect_stdout(out), redirect_stderr(err):
            try:
                with _time_limit():
                    code = main(case.words)
            except SystemExit as exit_:
                code = exit_.code if isinstance(exit_.code, int) else 1
            except _TimeIsUp:
                trace, timed_out = traceback.format_exc(), True
            except BaseException:  # whatever escapes is what is looked for
                trace = traceback.format_exc()
    seconds = _cpu_seconds() - start
    said = tuple(str(each.message) for each in warned if not issubclass(each.category, ORDINARY_WARNINGS))
    return Ended(code, out.getvalue(), err.getvalue(), seconds, trace, timed_out, said)


def _typed_in_a_process(case: Case, root: Path) -> Ended:
    argv, start = [sys.executable, "-m", "sizer", *case.words], _cpu_seconds()
    environment = {**os.environ, **_own(root), **case.environment, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(argv, cwd=root, env=environment, capture_output=True, timeout=HANGS_SECONDS)
    out, err = (stream.decode("utf-8", "backslashreplace") for stream in (done.stdout, done.stderr))
    seconds = _cpu_seconds() - start
    return Ended(done.returncode, out, err, seconds, err if "Traceback" in err else "")


def _own(root: Path) -> dict[str, str]:
    """Caches and temporary files belong into the sandbox, where they are seen."""
    return {"SIZER_CACHE": str(root / "cache"), "TMPDIR": str(root / "temporary"), "HOME": str(root), "COLUMNS": "200"}


@contextmanager
def _surroundings(root: Path, environment: Mapping[str, str]) -> Iterator[None]:
    before, folder = dict(os.environ), os.getcwd()
    os.environ.update({**_own(root), **environment})
    os.chdir(root)
    try:
        # Python looks for the temporary folder once.
        with patch.object(tempfile, "tempdir", str(root / "temporary")):
            yield
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(before)


_detected = cache(detect)
_facts = cache(facts)


@contextmanager
def _host_asked_once() -> Iterator[None]:
    """What this host is comes from six other programs and does not depend on any file that is spoiled."""
    with patch("sizer.api.studies.detect", _detected), patch("sizer.api.studies.facts", _facts):
        yield


def _cpu_seconds() -> float:
    """Of this process and of those that it waited for: how busy the machine is says nothing about sizer."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


@contextmanager
def _time_limit() -> Iterator[None]:
    """End what uses twice as much CPU time as a case may, and what waits for something that does not come."""

    def stop(*_: object) -> None:
        raise _TimeIsUp

    before = signal.signal(signal.SIGPROF, stop), signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_PROF, 2 * SLOW_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, HANGS_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])


def limit_memory(more_bytes: int = 3 * GIB) -> None:
    """So that a number which makes sizer allocate without end ends as a fault and not with the machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more_bytes, resource.RLIM_INFINITY))


def parsed(case: Case, parse: Callable[[bytes], int]) -> CaseVerdict:
    """A case of a parser that no command reads by itself: 0 is read, 4 ends the run as crashed."""
    start, code, trace = _cpu_seconds(), None, ""
    try:
        with _time_limit():
            code = parse(case.content)
    except BaseException:  # whatever escapes is what is looked for
        trace = traceback.format_exc()
    ended = Ended(code, "", "read" if code == 0 else "refused", _cpu_seconds() - start, trace)
    return CaseVerdict(case, ended, (trace,), "tracebacks") if trace else CaseVerdict(case, ended)


def pieces(content: bytes, size: int = LINE_LIMIT // 3) -> Iterator[bytes]:
    """As a pipe hands them on."""
    for start in range(0, len(content), size):
        yield content[start : start + size]
