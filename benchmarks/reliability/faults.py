"""What sizer makes of runs that go wrong: `python benchmarks/reliability/faults.py [WORDS]`.

Each fault (all whose name holds WORDS) is made between good runs in a study of its own, on the real command line with
real limits. The table shows its outcome, the first and the last line of its error, whether a good run was measured
after it, and what of it was left on the host. Exits 1 where one of these is not as it should be. Needs root.
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
from fault_study import (
    EMBEDDED_IMAGES,
    Entry,
    FaultCase,
    FaultFolder,
    FaultResult,
    error_of,
    measured,
    small_disk,
)

from sizer.records.run_kinds import Outcome
from sizer.storage.manifest import write_manifest

COMPLETED, CRASHED, TIMEOUT = Outcome.COMPLETED, Outcome.CRASHED, Outcome.TIMEOUT
REFUSED, OUT_OF_MEMORY = Outcome.REFUSED, Outcome.OUT_OF_MEMORY
DEADLINE, LONG = "deadline", "long"

RECORD = f"record {fault_data.BAD + 1} of {fault_data.IMAGES}"
SPEEDOMETER = "mxnet_speedometer"
Make = Callable[..., Path]


def bad(function: str, outcome: Outcome, words: str = "", needs: str = "", **more: object) -> FaultCase:
    """The function of `fault_program.py`; `words`, apart by ` | `, are in the error. `more` is of the case or, if that
    has no such field, of the workload."""
    fields = {"quick": True, **{name: more.pop(name) for name in ("spoil", "warning", "quick") if name in more}}

    def entry(where: FaultFolder, _data: Path) -> dict[str, object]:
        return {"kind": "command", "command": where.program(function), **more}

    return FaultCase(function.replace("_", " "), outcome, words, entry, needs, **fields)  # type: ignore[arg-type]


def in_folder(where: FaultFolder, _data: Path) -> dict[str, object]:
    """A program that leaves files in a folder of the user's own."""
    folder = where.folder / "work"
    folder.mkdir()
    return {"kind": "command", "command": where.program("leaves_files"), "cwd": str(folder)}


def container(_where: FaultFolder, _data: Path) -> dict[str, object]:
    """What starts a container, whether there is such a program or not."""
    return {"kind": "command", "command": ["docker", "run", "--rm", "image", "python", "train.py"]}


def not_ready(key: str) -> Entry:
    """A good program, which what is run before it keeps from running."""
    return lambda where, _: {"kind": "command", "command": where.program("good"), key: ["sh", "-c", "exit 7"]}


def own_program(mode: int) -> Entry:
    """A command that is a file with these permissions, and no program."""

    def entry(where: FaultFolder, _data: Path) -> dict[str, object]:
        path = where.folder / "tool"
        path.write_text("#!/nowhere/interpreter\n")
        path.chmod(mode)
        return {"kind": "command", "command": [str(path)]}

    return entry


def reading(where: FaultFolder, data: Path) -> dict[str, object]:
    """A program that reads a text again and again."""
    path = fault_data.text(data)
    return {"kind": "command", "command": where.program("reads_data", path), "data": str(path)}


def emptied_cache(where: FaultFolder, _data: Path) -> dict[str, object]:
    """The embedded images, of which a full disk left only names in the cache."""
    images = where.cache / f"images-v1-seed1-{EMBEDDED_IMAGES}"
    (images / "n00000000").mkdir(parents=True)
    paths = [images / "n00000000" / f"n00000000_{number}.JPEG" for number in range(EMBEDDED_IMAGES)]
    for path in paths:
        path.write_bytes(b"image")
    write_manifest(images, images, lambda: False)
    for path in paths[: EMBEDDED_IMAGES // 2]:
        path.write_bytes(b"")
    return {"kind": "imagenet_preprocessing", "batch_size": 8}


def preprocessing(make: Make, **more: object) -> Entry:
    """Of the folder that is made."""
    return lambda _, data: {"kind": "imagenet_preprocessing", "batch_size": 8, "data": str(make(data)), **more}


def training(make: Make, **more: object) -> Entry:
    """On the images that are made, in steps of 20 ms, whatever the machine: the input is what goes wrong."""
    device = {"emulate": {"samples_per_second": 400}}
    fast = {"kind": "image_training", "batch_size": 8, "network": "mobilenet", "device": device}
    return lambda _, data: {**fast, "data": str(make(data, **more))}


def language(make: Make) -> Entry:
    """LSTM training on the text that is made."""
    device = {"emulate": {"samples_per_second": 20000}}
    return lambda _, data: {"kind": "lstm_training", "batch_size": 4, "device": device, "data": str(make(data))}


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


def full_log_disk(where: FaultFolder, _data: Path) -> None:
    """Put the logs of the study on a disk with room for 16 KiB."""
    logs = where.study / "logs"
    small_disk(logs, 1)
    (logs / "filling").write_bytes(bytes((1 << 20) - (16 << 10)))


COMMANDS = (
    bad("leaves_its_limits", REFUSED, "was not under the limits of the run"),
    bad("leaves_a_daemon_without_trace", COMPLETED),
    bad("leaves_daemons", COMPLETED),
    bad("leaves_the_pipe_open", CRASHED, "ended without enough steps | its start and no step", quick=False),
    bad("goes_on_as_a_daemon", COMPLETED),
    bad("ignores_sigterm", COMPLETED, quick=False),
    bad("traps_sigterm", COMPLETED),
    bad("stops_itself", TIMEOUT, "stopped (SIGSTOP) | 5 steps", DEADLINE),
    bad("suspends_sizer", REFUSED, "sizer itself stood still for | twice"),
    bad("tells_its_secret", CRASHED, 'the key is "[API_KEY]"', env={"API_KEY": 'pä"ss/word'}),
    bad("prints_lines", COMPLETED),
    bad("prints_rates", COMPLETED, pattern=SPEEDOMETER, quick=False),
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
    bad("floods", COMPLETED, warning="steps joined", quick=False),
    bad("writes_text", CRASHED, "invalid events | hello"),
    bad("writes_an_endless_line", CRASHED, "invalid events | longer than"),
    bad("tells_the_time_of_day", CRASHED, "invalid events | monotonic clock", quick=False),
    bad("hangs_at_first", TIMEOUT, "its start and no step | waiting for a licence", DEADLINE),
    bad("hangs_later", TIMEOUT, "hung: 8 steps, then none | waiting for the next shard", DEADLINE),
    bad("ends_without_a_step", CRASHED, "no step | nothing to do"),
    bad("ends_without_a_word", CRASHED, "it wrote no event | hello", quick=False),
    bad("closes_its_pipes", TIMEOUT, "closed its event pipe | 3 steps", DEADLINE, quick=False),
    bad("closes_stdout", COMPLETED),
    bad(
        "closes_stdout_and_tells_no_more",
        TIMEOUT,
        "hung: 5 steps | it had closed its stdout and stderr",
        DEADLINE,
        pattern=SPEEDOMETER,
    ),
    bad("goes_elsewhere", COMPLETED),
    FaultCase("leaves files in its working folder", COMPLETED, "", in_folder, warning="files changed", quick=True),
    bad(
        "steps_once", CRASHED, "ended without enough steps to measure a rate | 1 step, the last one | one epoch of one"
    ),
    bad("asks_for_input", CRASHED, "exit status 1 | it asked for input | Overwrite the checkpoint? [y/N]"),
    FaultCase("is a container", REFUSED, "it runs in a container (docker)", container, quick=True),
    bad("steps_elsewhere", REFUSED, "its steps are made outside of the limits of the run", "many seconds", quick=False),
    FaultCase("its before fails", REFUSED, "its `before` ended with exit status 7", not_ready("before"), quick=True),
    FaultCase("its setup fails", REFUSED, "its `setup` ended with exit status 7", not_ready("setup")),
    bad("kills_itself", CRASHED, "SIGKILL | about to die"),
    bad("takes_all_memory", OUT_OF_MEMORY, "memory cap | loading the model", axes={"vcpus": [1], "memory": ["64MiB"]}),
    bad("raises", CRASHED, "exit status 1 | ZeroDivisionError"),
    FaultCase("may not be executed", CRASHED, "may not be executed | ermission denied", own_program(0o644), quick=True),
    FaultCase("has no interpreter", CRASHED, "was not found", own_program(0o755)),
    bad("chatters", COMPLETED, spoil=full_log_disk, warning="log incomplete", quick=False),
    bad("good", COMPLETED, "", "no allocation", quick=False),
    bad("fills_scratch", CRASHED, "under its scratch folder | was full | No space left on device", "small scratch"),
    FaultCase("data gone before", REFUSED, "data set | is no longer there", reading, spoil=gone, quick=True),
    FaultCase(
        "data goes while it reads",
        CRASHED,
        "data set | is no longer there | FileNotFoundError",
        reading,
        spoil=gone,
        trigger="reading",
        quick=True,
    ),
)

ours = partial(FaultCase, ours=True)
"""Of our own workloads, which say what is wrong without a traceback."""

UNREADABLE = "2 of 64 images are not readable | .JPEG"
BAD_IMAGE = f"{fault_data.BAD:04d}.JPEG"
GOES = "data set | is no longer there"
DATA = (
    ours("half of the data in the cache was emptied", COMPLETED, "", emptied_cache),
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
        quick=True,
    ),
    ours(
        "a record is no image",
        CRASHED,
        f"{RECORD} | train.rec | pack the file again",
        training(fault_data.records, kind="no image"),
        quick=True,
    ),
    ours(
        "a .rec is cut short",
        REFUSED,
        "its data cannot be prepared | train.rec is cut off",
        training(fault_data.cut_short),
        quick=True,
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
    ours(
        "a text goes while it is read",
        CRASHED,
        "is no longer there",
        language(fault_data.text),
        LONG,
        spoil=gone,
        trigger="lstm_training:",
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
