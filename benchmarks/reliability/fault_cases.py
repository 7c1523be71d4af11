"""Each fault, the outcome that is right for it, and what sizer has to say."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import fault_data
from fault_study import EMBEDDED_IMAGES, FaultCase, FaultFolder, Spoil, small_disk

from sizer.records.run_kinds import Outcome
from sizer.storage.manifest import write_manifest

Entry = Callable[[FaultFolder], dict[str, object]]

COMPLETED, CRASHED, TIMEOUT = Outcome.COMPLETED, Outcome.CRASHED, Outcome.TIMEOUT
REFUSED, OUT_OF_MEMORY = Outcome.REFUSED, Outcome.OUT_OF_MEMORY

DEADLINE, PERMISSION, LONG, MANY_SECONDS, SMALL_SCRATCH, SMALL_OUTPUT, NO_ALLOCATION = (
    "deadline",
    "permission",
    "long",
    "many seconds",
    "small scratch",
    "small output",
    "no allocation",
)
BROKE = "invalid events"
RECORD = f"record {fault_data.BAD + 1} of {fault_data.IMAGES}"
BAD_IMAGE = f"{fault_data.BAD:04d}.JPEG"


def command(function: str, **more: object) -> Entry:
    """The faulty program."""
    return lambda where: {"kind": "command", "command": where.program(function), **more}


def in_folder(function: str) -> Entry:
    """The faulty program in a folder of the user's own."""

    def entry(where: FaultFolder) -> dict[str, object]:
        folder = where.folder / "work"
        folder.mkdir()
        return {"kind": "command", "command": where.program(function), "cwd": str(folder)}

    return entry


def emptied_cache(where: FaultFolder) -> dict[str, object]:
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


def container(_: FaultFolder) -> dict[str, object]:
    """What starts a container, whether there is such a program or not."""
    return {"kind": "command", "command": ["docker", "run", "--rm", "image", "python", "train.py"]}


def not_ready(key: str) -> Entry:
    """A good program, which what is run before it keeps from running."""
    return lambda where: {"kind": "command", "command": where.program("good"), key: ["sh", "-c", "exit 7"]}


def reading(name: str) -> Entry:
    """The faulty program that reads a text again and again."""

    def entry(where: FaultFolder) -> dict[str, object]:
        path = fault_data.text(where.data(name))
        return {"kind": "command", "command": where.program("reads_data", path), "data": str(path)}

    return entry


def made(kind: str, name: str, make: Callable[[Path], Path], **more: object) -> Entry:
    """A workload of ours on data that is made with a fault."""
    return lambda where: {"kind": kind, "data": str(make(where.data(name))), **more}


def gone(name: str) -> Spoil:
    """Take the data away."""
    return lambda where: fault_data.removed(where.data(name))


FAST = {"batch_size": 8, "network": "mobilenet", "device": {"emulate": {"samples_per_second": 400}}}
"""Steps of 20 ms, whatever the machine: the input is what goes wrong."""


def training(name: str, make: Callable[[Path], Path]) -> Entry:
    """Image training on data that is made with a fault."""
    return made("image_training", name, make, **FAST)


def language(name: str, make: Callable[[Path], Path]) -> Entry:
    """LSTM training on such a text."""
    return made("lstm_training", name, make, batch_size=4, device={"emulate": {"samples_per_second": 20000}})


def preprocessing(name: str, make: Callable[[Path], Path], **more: object) -> Entry:
    """Preprocessing of such a folder."""
    return made("imagenet_preprocessing", name, make, batch_size=8, **more)


def spoilt(*kinds: str) -> Callable[[Path], Path]:
    """A folder in which as many images are spoilt."""
    return lambda where: fault_data.folder(where, {fault_data.BAD + number: kind for number, kind in enumerate(kinds)})


def own_program(mode: int) -> Entry:
    """A command that is a file with these permissions, and no program."""

    def entry(where: FaultFolder) -> dict[str, object]:
        path = where.folder / "tool"
        path.write_text("#!/nowhere/interpreter\n")
        path.chmod(mode)
        return {"kind": "command", "command": [str(path)]}

    return entry


def fill_output(where: FaultFolder) -> None:
    """Leave two MB on the output's disk, once fio has measured it."""
    room = os.statvfs(where.disk)
    with (where.disk / "filling").open("wb") as file, suppress(OSError):
        size = 0
        for piece in (32 << 20, 1 << 20):
            while size + piece < room.f_bavail * room.f_frsize - (2 << 20):
                os.posix_fallocate(file.fileno(), size, piece)
                size += piece


def full_log_disk(where: FaultFolder) -> None:
    """Put the logs of the study on a disk with room for 16 KiB."""
    logs = where.study / "logs"
    small_disk(logs, 1)
    (logs / "filling").write_bytes(bytes((1 << 20) - (16 << 10)))


COMMANDS = (
    FaultCase(
        "leaves its limits",
        REFUSED,
        ("was not under the limits of the run",),
        command("leaves_its_limits"),
        quick=True,
    ),
    FaultCase(
        "a daemon without parent, session and environment",
        COMPLETED,
        (),
        command("leaves_a_daemon_without_trace"),
        quick=True,
    ),
    FaultCase("daemons that fork twice and close everything", COMPLETED, (), command("leaves_daemons"), quick=True),
    FaultCase(
        "a child that holds the event pipe after its parent",
        CRASHED,
        ("ended without enough steps", "its start and no step"),
        command("leaves_the_pipe_open"),
    ),
    FaultCase("ends, and its daemon goes on", COMPLETED, (), command("goes_on_as_a_daemon"), quick=True),
    FaultCase("ignores SIGTERM", COMPLETED, (), command("ignores_sigterm")),
    FaultCase("traps SIGTERM to save for an hour", COMPLETED, (), command("traps_sigterm"), quick=True),
    FaultCase(
        "stops itself", TIMEOUT, ("stopped (SIGSTOP)", "5 steps"), command("stops_itself"), needs=DEADLINE, quick=True
    ),
    FaultCase(
        "sizer is suspended in each of its runs",
        REFUSED,
        ("sizer itself stood still for", "twice"),
        command("suspends_sizer"),
        quick=True,
    ),
    FaultCase(
        "tells its secret",
        CRASHED,
        ('the key is "[API_KEY]"',),
        command("tells_its_secret", env={"API_KEY": 'pä"ss/word'}),
        quick=True,
    ),
    FaultCase("prints 1 GB in lines", COMPLETED, (), command("prints_lines"), quick=True),
    FaultCase("prints 1 GB in one line", COMPLETED, (), command("prints_one_line")),
    FaultCase(
        "prints 1 GB, measured by a pattern",
        COMPLETED,
        (),
        command("prints_rates", pattern="mxnet_speedometer"),
    ),
    FaultCase(
        "prints 100 MB a second, with rates among them",
        COMPLETED,
        (),
        command("prints_without_end", pattern="mxnet_speedometer"),
        warning="overhead",
        quick=True,
    ),
    FaultCase(
        "prints nothing, measured by a pattern",
        TIMEOUT,
        ("not enough steps before the deadline", "it printed nothing and wrote no event"),
        command("prints_nothing", pattern="mxnet_speedometer"),
        needs=DEADLINE,
        quick=True,
    ),
    FaultCase(
        "prints a rate of NaN",
        TIMEOUT,
        ("what they say is no rate: speed: NaN images/s",),
        command("prints_no_number", pattern="speed: (?P<rate>\\S+) images/s"),
        needs=DEADLINE,
        quick=True,
    ),
    FaultCase(
        "a pattern that backtracks without end",
        CRASHED,
        ("the pattern cannot be matched", "aaaa"),
        command("prints_what_backtracks", pattern="(?P<rate>(a+)+)$"),
        quick=True,
    ),
    FaultCase("floods the event pipe with a million steps", COMPLETED, (), command("floods"), warning="steps joined"),
    FaultCase("writes text for an event", CRASHED, (BROKE, "hello"), command("writes_text"), quick=True),
    FaultCase("writes binary for an event", CRASHED, (BROKE,), command("writes_binary")),
    FaultCase("writes an event of wrong types", CRASHED, (BROKE, "soon"), command("writes_wrong_types"), quick=True),
    FaultCase("writes events out of order", CRASHED, (BROKE, "out of order"), command("writes_out_of_order")),
    FaultCase("writes a huge number", CRASHED, (BROKE, "not a number"), command("writes_huge_numbers")),
    FaultCase(
        "writes an event without end", CRASHED, (BROKE, "longer than"), command("writes_an_endless_line"), quick=True
    ),
    FaultCase("tells a time that runs backwards", CRASHED, (BROKE, "before"), command("goes_back_in_time")),
    FaultCase("tells the time of day", CRASHED, (BROKE, "monotonic clock"), command("tells_the_time_of_day")),
    FaultCase(
        "hangs before its first step",
        TIMEOUT,
        ("its start and no step", "waiting for a licence"),
        command("hangs_at_first"),
        needs=DEADLINE,
        quick=True,
    ),
    FaultCase(
        "hangs after some steps",
        TIMEOUT,
        ("hung: 8 steps, then none", "waiting for the next shard"),
        command("hangs_later"),
        needs=DEADLINE,
        quick=True,
    ),
    FaultCase(
        "exits 0 without a step", CRASHED, ("no step", "nothing to do"), command("ends_without_a_step"), quick=True
    ),
    FaultCase("exits 0 without an event", CRASHED, ("it wrote no event", "hello"), command("ends_without_a_word")),
    FaultCase(
        "closes its pipes and runs on",
        TIMEOUT,
        ("closed its event pipe", "3 steps"),
        command("closes_its_pipes"),
        needs=DEADLINE,
    ),
    FaultCase("closes stdout and runs on", COMPLETED, (), command("closes_stdout"), quick=True),
    FaultCase(
        "closes stdout, measured by a pattern",
        TIMEOUT,
        ("hung: 5 steps", "it had closed its stdout and stderr"),
        command("closes_stdout_and_tells_no_more", pattern="mxnet_speedometer"),
        needs=DEADLINE,
        quick=True,
    ),
    FaultCase("removes its working folder and goes elsewhere", COMPLETED, (), command("goes_elsewhere"), quick=True),
    FaultCase(
        "leaves files in its working folder",
        COMPLETED,
        (),
        in_folder("leaves_files"),
        warning="files changed",
        quick=True,
    ),
    FaultCase(
        "exits 0 after one step",
        CRASHED,
        ("ended without enough steps to measure a rate", "1 step, the last one", "one epoch of one step"),
        command("steps_once"),
        quick=True,
    ),
    FaultCase(
        "asks for input",
        CRASHED,
        ("exit status 1", "it asked for input", "Overwrite the checkpoint? [y/N]"),
        command("asks_for_input"),
        quick=True,
    ),
    FaultCase("is a container", REFUSED, ("it runs in a container (docker)",), container, quick=True),
    FaultCase(
        "a service makes its steps",
        REFUSED,
        ("its steps are made outside of the limits of the run",),
        command("steps_elsewhere"),
        needs=MANY_SECONDS,
    ),
    FaultCase(
        "its `before` fails", REFUSED, ("its `before` ended with exit status 7",), not_ready("before"), quick=True
    ),
    FaultCase("its `setup` fails", REFUSED, ("its `setup` ended with exit status 7",), not_ready("setup")),
    FaultCase("is killed by a signal", CRASHED, ("SIGKILL", "about to die"), command("kills_itself"), quick=True),
    FaultCase(
        "takes more memory than its cap",
        OUT_OF_MEMORY,
        ("memory cap", "loading the model"),
        command("takes_all_memory", axes={"vcpus": [1], "memory": ["64MiB"]}),
        quick=True,
    ),
    FaultCase("raises an exception", CRASHED, ("exit status 1", "ZeroDivisionError"), command("raises"), quick=True),
    FaultCase(
        "may not be executed", CRASHED, ("may not be executed", "ermission denied"), own_program(0o644), quick=True
    ),
    FaultCase("has no interpreter", CRASHED, ("was not found",), own_program(0o755)),
    FaultCase("its log's disk is full", COMPLETED, (), command("chatters"), full_log_disk, "", "log incomplete"),
    FaultCase("its study's disk allocates no room", COMPLETED, (), command("good"), needs=NO_ALLOCATION),
    FaultCase(
        "its scratch disk is full",
        CRASHED,
        ("under its scratch folder", "was full", "No space left on device"),
        command("fills_scratch"),
        needs=SMALL_SCRATCH,
        quick=True,
    ),
    FaultCase(
        "its data is gone before it begins",
        REFUSED,
        ("data set", "is no longer there"),
        reading("gone before"),
        gone("gone before"),
        quick=True,
    ),
    FaultCase(
        "its data goes while it reads",
        CRASHED,
        ("data set", "is no longer there", "FileNotFoundError"),
        reading("gone while"),
        gone("gone while"),
        trigger="reading",
        quick=True,
    ),
)

DATA = (
    FaultCase("half of the data in the cache was emptied", COMPLETED, (), emptied_cache, ours=True),
    *(
        FaultCase(
            f"one JPEG of a folder is {kind}", COMPLETED, (), preprocessing(f"one {kind}", spoilt(kind)), ours=True
        )
        for kind in fault_data.SPOILT
        if kind != "damaged"
    ),
    FaultCase(
        "several JPEGs of a folder are unreadable",
        CRASHED,
        ("2 of 64 images are not readable", ".JPEG"),
        preprocessing("several", spoilt("empty", "no image", "truncated")),
        ours=True,
    ),
    FaultCase(
        "a folder is called like an image",
        COMPLETED,
        (),
        preprocessing("like an image", fault_data.with_folder_for_an_image),
        ours=True,
    ),
    FaultCase(
        "nobody may read an image",
        CRASHED,
        (BAD_IMAGE, "Permission denied", "let this user read"),
        preprocessing("unreadable", fault_data.unreadable),
        needs=PERMISSION,
        ours=True,
    ),
    FaultCase(
        "a folder goes while it is preprocessed",
        CRASHED,
        ("data set", "is no longer there", "put it back"),
        preprocessing("folder goes", fault_data.folder),
        gone("folder goes"),
        trigger="imagenet_preprocessing:",
        needs=LONG,
        ours=True,
    ),
    FaultCase(
        "the output's disk is full",
        CRASHED,
        ("disk `small`", "was full", "No space left on device"),
        preprocessing("output", fault_data.folder, format="lmdb", axes={"vcpus": [1], "disk": ["small"]}),
        fill_output,
        needs=SMALL_OUTPUT,
        ours=True,
    ),
    FaultCase(
        "several JPEGs of a folder to be packed are unreadable",
        REFUSED,
        ("its data cannot be prepared", "2 of 64 images are not readable", ".JPEG"),
        training("to be packed", spoilt("empty", "no image")),
        ours=True,
        quick=True,
    ),
    FaultCase(
        "a record is truncated", COMPLETED, (), training("truncated", partial(fault_data.records, kind="truncated"))
    ),
    *(
        FaultCase(
            f"a record is {kind}",
            CRASHED,
            (RECORD, "train.rec", "pack the file again"),
            training(kind, partial(fault_data.records, kind=kind)),
            ours=True,
            quick=kind == "no image",
        )
        for kind in ("empty", "no image", "damaged")
    ),
    FaultCase(
        "a .rec is cut short, with its index",
        CRASHED,
        ("train.rec ends at byte", "copy it again"),
        training("cut with index", partial(fault_data.cut_short, index=True)),
        ours=True,
    ),
    FaultCase(
        "a .rec is cut short, without an index",
        REFUSED,
        ("its data cannot be prepared", "train.rec is cut off"),
        training("cut", partial(fault_data.cut_short, index=False)),
        ours=True,
        quick=True,
    ),
    FaultCase(
        "an index points past the end",
        CRASHED,
        ("before the record at", "of its index"),
        training("past the end", partial(fault_data.with_index, text="0\t0\n1\tSIZE\n")),
        ours=True,
    ),
    FaultCase(
        "an index points to the middle of a record",
        CRASHED,
        ("is no RecordIO at byte", "index"),
        training("middle", partial(fault_data.with_index, text="0\t0\n1\tMIDDLE\n")),
        ours=True,
    ),
    FaultCase(
        "an index is garbage",
        CRASHED,
        ("train.idx is no RecordIO index", "remove it"),
        training("garbage", partial(fault_data.with_index, text="what is this\n")),
        ours=True,
    ),
    FaultCase(
        "a .rec is gone before its run",
        REFUSED,
        ("is no longer there",),
        training("rec gone", fault_data.records),
        gone("rec gone"),
        ours=True,
    ),
    FaultCase(
        "a .rec goes while it is read",
        CRASHED,
        ("data set", "is no longer there"),
        training("rec goes", fault_data.records),
        gone("rec goes"),
        trigger="image_training:",
        needs=LONG,
        ours=True,
    ),
    *(
        FaultCase(
            f"an image of an LMDB is {kind}",
            CRASHED,
            (f"record b'{fault_data.BAD:08d}'", "make the LMDB again"),
            training(f"lmdb {kind}", partial(fault_data.database, kind=kind)),
            ours=True,
        )
        for kind in ("truncated", "empty", "no image")
    ),
    FaultCase(
        "an LMDB is cut short",
        CRASHED,
        ("data.mdb is cut off", "copy it again"),
        training("lmdb cut", fault_data.cut_database),
        ours=True,
    ),
    FaultCase(
        "a text is empty", CRASHED, ("has no words",), language("empty text", partial(fault_data.text, content=b""))
    ),
    FaultCase(
        "a text is not UTF-8",
        CRASHED,
        ("is no UTF-8 text",),
        language("latin text", partial(fault_data.text, content=b"caf\xe9 " * 9000)),
        ours=True,
    ),
    FaultCase(
        "a text goes while it is read",
        CRASHED,
        ("is no longer there",),
        language("text goes", fault_data.text),
        gone("text goes"),
        trigger="lstm_training:",
        needs=LONG,
        ours=True,
    ),
)

FAULTS = (*COMMANDS, *DATA)
