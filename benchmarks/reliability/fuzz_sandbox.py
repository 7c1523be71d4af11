"""One case of the fuzzer: a spoiled file in a folder of valid ones, the command that reads it there, and whether sizer
kept what it promises.
"""

from __future__ import annotations

import io
import os
import re
import resource
import shutil
import signal
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from unicodedata import category
from unittest.mock import patch

from sizer.cli import main
from sizer.host.machine import facts
from sizer.limits.detection import detect
from sizer.records.messages import UNSEEN, SizerError
from sizer.records.units import GIB
from sizer.store.stored_runs import read_run

SLOW_SECONDS = 10.0
"""Of CPU time."""
GOES_ON = ("left out: ", "warning: ", "usage:", " ")
"""How lines begin of a command that goes on all the same, or says how it is used."""
MADE_BY_READING = {"model.json", "recommendation.json", "report.html"}
"""What a reading command makes anew in a study folder where it is missing or older than the runs."""
ARGUMENTS = "arguments"
"""The file of a case whose words are what is spoiled; it is empty."""


@dataclass(frozen=True)
class Case:
    """`content` replaces the file at `path` in the sandbox while the command `words` runs there."""

    target: str
    path: str
    content: bytes
    words: tuple[str, ...]
    codes: frozenset[int]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, None for an exception that escaped, and all that it said."""

    code: int | None
    out: str
    err: str
    seconds: float
    trace: str = ""
    timed_out: bool = False
    warned: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseVerdict:
    """What a case came to; `faults` are empty where sizer did what it promises, `kind` says its column."""

    case: Case
    ended: Ended
    faults: tuple[str, ...] = ()
    kind: str = ""


def faults(case: Case, ended: Ended, written: Sequence[str]) -> tuple[str, list[str]]:
    """The column to count the case in, and every promise that was not kept."""
    if ended.timed_out or ended.seconds > SLOW_SECONDS:
        return "slow", [f"took {ended.seconds:.1f} s", ended.trace]
    if ended.code in (None, 1) or ended.trace:
        return "tracebacks", [ended.trace or _kept_trace(ended.err)]
    unexpected = [name for name in written if not _may_be_written(case, ended, name)]
    if unexpected:
        return "written", [f"exit code {ended.code}, and written: {', '.join(unexpected)}"]
    wrong = list(_wrong(case, ended))
    return "wrong" if wrong else "", wrong


def is_hushed_up(path: Path, ended: Ended) -> bool:
    """Whether a spoiled run is left out although neither stderr nor stdout names its file."""
    if path.parent.name != "runs" or ended.code == 2:
        return False
    try:
        read_run(path)
    except SizerError:
        return path.name not in ended.err + ended.out
    return False


def _may_be_written(case: Case, ended: Ended, name: str) -> bool:
    """A command that answers, or says that there is no answer, makes the model and what follows from it; an import of a
    table makes a study folder."""
    path, command = Path(name), case.words[0]
    if command == "import":
        return ended.code == 0 and path.parts[0] == "new"
    reads_folder = command in ("fit", "predict", "recommend", "report", "family", "compare")
    return reads_folder and ended.code in (0, 5) and path.parts[0] == "study" and path.name in MADE_BY_READING


def _kept_trace(error: str) -> str:
    """The traceback of a fault, from the file that the sentence names."""
    trace = re.search(r"\S*sizer-fault-\S*\.txt", error)
    return Path(trace[0]).read_text() if trace and Path(trace[0]).is_file() else f"exit code 1: {error}"


def _wrong(case: Case, ended: Ended) -> Iterator[str]:
    lines = ended.err.splitlines()
    sentences = [line for line in lines if not line.startswith(GOES_ON)]
    if ended.code not in case.codes:
        yield f"exit code {ended.code}, which is none of {sorted(case.codes)}: {ended.err}"
    if ended.warned:
        yield f"warned: {ended.warned}"
    if ended.code == 2 and len(sentences) != 1:
        yield f"{len(sentences)} sentences instead of one: {ended.err}"
    if ended.code and ended.code != 5 and not sentences:
        yield f"exit code {ended.code} and nothing said"
    if ended.code == 0 and sentences and case.words[0] != "import":  # Its notes are there.
        yield f"exit code 0, and on stderr: {ended.err}"
    if ended.code == 2 and sentences and not _names_the_file(case, sentences[0]):
        yield f"the sentence does not say in which file: {sentences[0]}"
    if any(len(line) > 2_000 for line in sentences):
        yield f"a sentence of {max(map(len, sentences))} characters"
    for stream, text in (("stderr", ended.err), ("stdout", ended.out)):
        strange = {character for character in text if category(character) in UNSEEN and character not in "\n\t"}
        if strange:
            yield f"{stream} holds characters that a terminal may obey: {sorted(strange)!r}"


def _names_the_file(case: Case, sentence: str) -> bool:
    """By its name; what this host does not have by the workload or the disk that asks for it; a study folder that has
    runs of another study by the folder.
    """
    if case.path == ARGUMENTS:
        return True
    others = ("workload `", "disk `", "choose another folder with --out")
    return Path(case.path).name in sentence or any(words in sentence for words in others)


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

    def judge(self, case: Case) -> CaseVerdict:
        """Run the case and put back what it changed."""
        path = self.root / case.path
        path.write_bytes(case.content)
        try:
            before = listing(self.root)
            ended = _typed(case, self.root)
            after = listing(self.root)
            written = sorted(name for name in {*before, *after} if before.get(name, b"-") != after.get(name, b"-"))
            kind, wrong = faults(case, ended, written)
            if not kind and is_hushed_up(path, ended):
                kind, wrong = "wrong", ["a run that cannot be read is left out and not named"]
            return CaseVerdict(case, ended, tuple(wrong), kind)
        finally:
            self._restore()

    def _restore(self) -> None:
        there = listing(self.root)
        for name in sorted(there.keys() - self._files.keys()):
            path = self.root / name
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        for name, content in self._files.items():
            if content is not None and there.get(name) != content:
                (self.root / name).write_bytes(content)


def listing(root: Path) -> dict[str, bytes | None]:
    """Every file with its bytes, every folder with None."""
    return {
        str(path.relative_to(root)): None if path.is_dir() else path.read_bytes() for path in sorted(root.rglob("*"))
    }


_detected, _facts = cache(detect), cache(facts)
"""What this host is comes from six other programs and does not depend on any file that is spoiled."""


def _typed(case: Case, root: Path) -> Ended:
    """The command in this process, which is a hundred times faster than a new one.

    Caches and temporary files belong into the sandbox, where they are seen.
    """
    own = {"SIZER_CACHE": str(root / "cache"), "TMPDIR": str(root / "temporary"), "HOME": str(root), "COLUMNS": "200"}
    out, err, start, folder = io.StringIO(), io.StringIO(), _cpu_seconds(), os.getcwd()
    code, trace, timed_out = None, "", False
    os.chdir(root)
    with (
        patch.dict(os.environ, {**own, **case.environment}),
        patch.object(tempfile, "tempdir", str(root / "temporary")),  # Python looks for it once.
        patch("sizer.api.studies.detect", _detected),
        patch("sizer.api.studies.facts", _facts),
        warnings.catch_warnings(record=True) as warned,
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        warnings.simplefilter("always")
        try:
            with _time_limit():
                code = main(case.words)
        except SystemExit as exit_:
            code = exit_.code if isinstance(exit_.code, int) else 1
        except BaseException as escaped:  # whatever escapes is what is looked for
            trace, timed_out = traceback.format_exc(), isinstance(escaped, _TimeIsUp)
        finally:
            os.chdir(folder)
    seconds = _cpu_seconds() - start
    messages = tuple(str(warning.message) for warning in warned if not issubclass(warning.category, ORDINARY_WARNINGS))
    return Ended(code, out.getvalue(), err.getvalue(), seconds, trace, timed_out, messages)


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
