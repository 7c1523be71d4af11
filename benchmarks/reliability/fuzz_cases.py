"""One case of the fuzzer: a spoiled file, the command that reads it, and whether sizer kept what it promises."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import category

from sizer.records.errors import SizerError
from sizer.records.plain_text import UNSEEN
from sizer.store.stored_runs import read_run

SLOW_SECONDS = 10.0
"""Of CPU time."""
LEFT_OUT = "left out: "
WARNING = "warning: "
"""Of a command that goes on all the same."""
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
    """A command that answers, or says that there is no answer, makes the model and what follows from it."""
    path = Path(name)
    reads_folder = case.words[0] in ("fit", "predict", "recommend", "report")
    return reads_folder and ended.code in (0, 5) and path.parts[0] == "study" and path.name in MADE_BY_READING


def _kept_trace(said: str) -> str:
    """The traceback of a fault, from the file that the sentence names."""
    found = re.search(r"\S*sizer-fault-\S*\.txt", said)
    return Path(found[0]).read_text() if found and Path(found[0]).is_file() else f"exit code 1: {said}"


def _wrong(case: Case, ended: Ended) -> Iterator[str]:
    lines = ended.err.splitlines()
    said = [line for line in lines if not line.startswith((LEFT_OUT, WARNING, "usage:", " "))]
    if ended.code not in case.codes:
        yield f"exit code {ended.code}, which is none of {sorted(case.codes)}: {ended.err}"
    if ended.warned:
        yield f"warned: {ended.warned}"
    if ended.code == 2 and len(said) != 1:
        yield f"{len(said)} sentences instead of one: {ended.err}"
    if ended.code and ended.code != 5 and not said:
        yield f"exit code {ended.code} and nothing said"
    if ended.code == 0 and said:
        yield f"exit code 0, and on stderr: {ended.err}"
    if ended.code == 2 and said and not _names_the_file(case, said[0]):
        yield f"the sentence does not say in which file: {said[0]}"
    if any(len(line) > 2_000 for line in said):
        yield f"a sentence of {max(map(len, said))} characters"
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
