"""What sizer makes of runs that go wrong: `python benchmarks/reliability/faults.py [WORDS]`.

Each fault (all whose name holds WORDS) is made between good runs in a study of its own, on the real command line with
real limits; what the launcher's tests make is not made here again. The table shows its outcome, the first and the last
line of its error, whether a good run was measured after it, and what of it was left on the host. Exits 1 where one of
these is not as it should be. Needs root.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import fault_data
from fault_study import Entry, FaultCase, FaultFolder, FaultResult, error_of, measured

from sizer.records.run_kinds import Outcome

COMPLETED, CRASHED, TIMEOUT, REFUSED = Outcome.COMPLETED, Outcome.CRASHED, Outcome.TIMEOUT, Outcome.REFUSED
DEADLINE, LONG = "deadline", "long"

SPEEDOMETER = "mxnet_speedometer"
Make = Callable[..., Path]


def bad(function: str, outcome: Outcome, words: str = "", needs: str = "", **more: object) -> FaultCase:
    """The function of `fault_program.py`; `words`, apart by ` | `, are in the error. `more` is of the case or, if that
    has no such field, of the workload."""
    fields = {name: more.pop(name) for name in ("spoil", "warning") if name in more}

    def entry(where: FaultFolder, _data: Path) -> dict[str, object]:
        return {"kind": "command", "command": where.program(function), **more}

    return FaultCase(function.replace("_", " "), outcome, words, entry, needs, **fields)  # type: ignore[arg-type]


def own_program(mode: int) -> Entry:
    """A command that is a file with these permissions, and no program."""

    def entry(where: FaultFolder, _data: Path) -> dict[str, object]:
        path = where.folder / f"tool-{mode:o}"
        path.write_text("#!/nowhere/interpreter\n")
        path.chmod(mode)
        return {"kind": "command", "command": [str(path)]}

    return entry


def reading(where: FaultFolder, data: Path) -> dict[str, object]:
    """A program that reads a text again and again."""
    path = fault_data.text(data)
    return {"kind": "command", "command": where.program("reads_data", path), "data": str(path)}


def preprocessing(make: Make, **more: object) -> Entry:
    """Of the folder that is made."""
    return lambda _, data: {"kind": "imagenet_preprocessing", "batch_size": 8, "data": str(make(data)), **more}


def training(make: Make) -> Entry:
    """On the images that are made, in steps of 20 ms, whatever the machine: the input is what goes wrong."""
    device = {"emulate": {"samples_per_second": 400}}
    fast = {"kind": "image_training", "batch_size": 8, "network": "mobilenet", "device": device}
    return lambda _, data: {**fast, "data": str(make(data))}


def spoilt(*kinds: str) -> Make:
    """A folder in which as many images are spoilt."""
    return lambda place: fault_data.folder(place, {fault_data.BAD + at: kind for at, kind in enumerate(kinds)})


def gone(_where: FaultFolder, data: Path) -> None:
    """Take the data away."""
    shutil.rmtree(data)


def fill_output(where: FaultFolder, _data: Path) -> None:
    """Leave two MB on the output's disk, once fio has measured it."""
    room = os.statvfs(where.disk)
    with (where.disk / "filling").open("wb") as file, suppress(OSError):
        size = 0
        for piece in (32 << 20, 1 << 20):
            while size + piece < room.f_bavail * room.f_frsize - (2 << 20):
                os.posix_fallocate(file.fileno(), size, piece)
                size += piece


COMMANDS = (
    bad("leaves_daemons", COMPLETED),
    bad("goes_on_as_a_daemon", COMPLETED),
    bad("traps_sigterm", COMPLETED),
    bad("stops_itself", TIMEOUT, "stopped (SIGSTOP) | 5 steps", DEADLINE),
    bad("suspends_sizer", REFUSED, "sizer itself stood still for | twice"),
    bad("prints_without_end", COMPLETED, pattern=SPEEDOMETER, warning="overhead"),
    bad(
        "prints_nothing",
        TIMEOUT,
        "not enough steps before the deadline | it printed nothing and wrote no event",
        DEADLINE,
        pattern=SPEEDOMETER,
    ),
    bad(
        "prints_no_number",
        TIMEOUT,
        "what they say is no rate: speed: NaN images/s",
        DEADLINE,
        pattern="speed: (?P<rate>\\S+) images/s",
    ),
    bad("prints_what_backtracks", CRASHED, "the pattern cannot be matched | aaaa", pattern="(?P<rate>(a+)+)$"),
    bad("floods", COMPLETED, warning="steps joined"),
    bad("writes_text", CRASHED, "invalid events | hello"),
    bad("hangs_later", TIMEOUT, "hung: 8 steps, then none | waiting for the next shard", DEADLINE),
    bad("ends_without_a_word", CRASHED, "it wrote no event | hello"),
    bad("closes_its_pipes", TIMEOUT, "closed its event pipe | 3 steps", DEADLINE),
    bad("closes_stdout", COMPLETED),
    bad(
        "closes_stdout_and_tells_no_more",
        TIMEOUT,
        "hung: 5 steps | it had closed its stdout and stderr",
        DEADLINE,
        pattern=SPEEDOMETER,
    ),
    bad("goes_elsewhere", COMPLETED),
    bad(
        "steps_once", CRASHED, "ended without enough steps to measure a rate | 1 step, the last one | one epoch of one"
    ),
    bad("kills_itself", CRASHED, "SIGKILL | about to die"),
    FaultCase("may not be executed", CRASHED, "may not be executed | ermission denied", own_program(0o644)),
    FaultCase("has no interpreter", CRASHED, "was not found", own_program(0o755)),
    bad("fills_scratch", CRASHED, "under its scratch folder | was full | No space left on device", "small scratch"),
    FaultCase(
        "data goes while it reads",
        CRASHED,
        "data set | is no longer there | FileNotFoundError",
        reading,
        spoil=gone,
        trigger="reading",
    ),
)

ours = partial(FaultCase, ours=True)
"""Of our own workloads, which say what is wrong without a traceback."""

UNREADABLE = "2 of 64 images are not readable | .JPEG"
BAD_IMAGE = f"{fault_data.BAD:04d}.JPEG"
GOES = "data set | is no longer there"
DATA = (
    ours("several JPEGs are unreadable", CRASHED, UNREADABLE, preprocessing(spoilt("empty", "no image", "truncated"))),
    ours(
        "nobody may read an image",
        CRASHED,
        f"{BAD_IMAGE} | Permission denied | let this user read",
        preprocessing(fault_data.unreadable),
        "permission",
    ),
    ours(
        "a folder goes while it is preprocessed",
        CRASHED,
        f"{GOES} | put it back",
        preprocessing(fault_data.folder),
        LONG,
        spoil=gone,
        trigger="imagenet_preprocessing:",
    ),
    ours(
        "the output's disk is full",
        CRASHED,
        "disk `small` | was full | No space left on device",
        preprocessing(fault_data.folder, format="lmdb", axes={"vcpus": [1], "disk": ["small"]}),
        "small output",
        spoil=fill_output,
    ),
    ours(
        "several JPEGs to be packed",
        REFUSED,
        f"its data cannot be prepared | {UNREADABLE}",
        training(spoilt("empty", "no image")),
    ),
    ours(
        "a .rec is cut short",
        REFUSED,
        "its data cannot be prepared | train.rec is cut off",
        training(fault_data.cut_short),
    ),
    ours(
        "a .rec goes while it is read",
        CRASHED,
        GOES,
        training(fault_data.records),
        LONG,
        spoil=gone,
        trigger="image_training:",
    ),
)
"""One for each way through a study; the readers' own tests spoil every part of each form of data."""

FAULTS = (*COMMANDS, *DATA)
SHOWN = 110
"""Characters of a line of an error."""


def main() -> int:
    """Inject every fault that is asked for; the exit code."""
    if os.geteuid() != 0:
        print("faults: sets real limits and mounts small disks: type sudo before it", file=sys.stderr)
        return 3
    wanted = " ".join(sys.argv[1:])
    faults = [fault for fault in FAULTS if wanted in fault.name]
    missed = 0
    print(f"{'fault':44s}  {'outcome':13s}  went on  left  error's first and last line")
    with tempfile.TemporaryDirectory(prefix="faults-", dir="/var/tmp") as folder:
        for number, fault in enumerate(faults):
            result = measured([fault], FaultFolder(Path(folder) / str(number)), fault.needs)[fault.name]
            show(fault, result)
            missed += bool(result.misses)
    print(f"{len(faults)} faults, {missed} not as they should be")
    return 1 if missed else 0


def show(fault: FaultCase, result: FaultResult) -> None:
    """Print what came of a fault, and what it should not have."""
    outcome = result.run.outcome.value if result.run else "no run"
    first, *rest = (error_of(result.run) if result.run else "").splitlines() or ["-"]
    went_on, left = "yes" if result.went_on else "NO", str(len(result.left))
    print(f"{fault.name:44s}  {outcome:13s}  {went_on:7s}  {left:4s}  {first[:SHOWN]}", flush=True)
    if rest:
        print(f"{'':76s}{rest[-1][:SHOWN]}", flush=True)
    for miss in result.misses:
        print(f"    MISSED: {miss}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
