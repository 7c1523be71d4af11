"""What a person can type wrong, and the commands that only look."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Typed

COMMANDS = [
    *("doctor", "demo", "init", "run", "resume", "profile", "status", "fit", "predict", "pattern"),
    *("recommend", "family", "compare", "report", "serve", "export", "import", "schema", "catalog", "disks"),
]


def test_help_names_every_command_and_each_says_what_it_does(sizer: Typed) -> None:
    """A person finds each command and what it is for."""
    text = sizer("--help").stdout
    for command in COMMANDS:
        assert f"\n    {command}" in text
        done = sizer(command, "--help")
        assert (done.returncode, len(done.stdout) > 100) == (0, True), command


REFUSED = {
    "a study": [
        ("run nowhere.yaml", "nowhere.yaml"),
        ("run nowhere", "nowhere: there is no such file"),
        ("status .", "not a study folder"),
        ("serve .", "is not a study folder"),
        ("serve . --port 70000", "is not a port; give a whole number from 1 to 65535"),
        ("init nowhere/x.yaml", "the folder nowhere does not exist; make it first"),
        ("frobnicate", "invalid choice"),
    ],
    "a disk": [
        ("disks check alibaba/cloud_sd", "alibaba/cloud_ssd"),
        ("disks check . --seconds x", "`x` is not a number of seconds"),
        ("disks check /nope/x", "/nope/x: there is no such folder"),
    ],
    "a catalogue": [
        ("catalog validate nowhere.json", "nowhere.json"),
        ("catalog validate long.csv", "long.csv line 1: a cell is too long; shorten it."),
        ("catalog import /bin/ls", "/bin/ls line 1 is not UTF-8"),
        ("catalog list --json nowhere.json", "nowhere.json"),
    ],
    "an answer": [
        ("recommend s --target 7", "`7` is not a share"),
        ("recommend s --fail-if speed<3", "there is no figure `speed`; use status"),
        ("recommend s --fail-if job_usd>3", "add --samples 1.2M --within 6h"),
        ("recommend s --within 2h", "--within needs to know of how many samples"),
        ("recommend s --checkpoint-minutes 10", "Use --interruptions-per-hour and --checkpoint-minutes together"),
        ("recommend s --samples 1M --within 2h --target 0.9", "leave out --objective and --target"),
        ("recommend s --within soon --samples 1M", "'soon' is not a time; write a number and its unit, such as 90s"),
        ("recommend s --within 6h --samples -3", "'-3' is not a number of samples"),
        ("recommend s --at-least 0", "'0' is not a rate; write samples a second, above 0"),
        ("recommend s --baseline aws/c6i.larg", "did you mean `aws c6i.large`?"),
    ],
    "a prediction": [
        ("predict s --memory 4G", "has no known unit"),
        ("predict s --batch-size 20.5", "`20.5` is not a batch size"),
        ("predict s --vcpus 1e300", "argument --vcpus: `1e300` is not a number of vCPUs"),
        ("predict s --gpu-speedup 0", "`0` is not a factor"),
        ("predict s --disk slow --disk-iops 5", "use one or the other"),
        ("predict s --disk alibaba/cloud_ssd", "depend on its size; write --disk alibaba/cloud_ssd:500GiB"),
        ("predict s --disk alibaba/cloud_sd:1GiB", "did you mean `alibaba/cloud_ssd`?"),
        ("predict s --disk floppy", "give slow or fast"),
        ("predict s --disk-iops 0", "`0` is not a number of IOs a second"),
        ("predict s --disk-mbps nan", "`nan` is not a number of MB"),
        ("predict s --data-size 4GiB --data-factor 2", "not allowed with"),
        ("predict s --gpu A100", "GPU `A100` was not measured for `train`; give cuda:0"),
        ("predict s --gpu-count 0", "`0` is not a number of GPUs"),
    ],
    "a table of places": [
        ("predict s --at vcpus,memory_gib;1,4;1,1e300", "at.csv line 3: memory_gib: `1e300 GiB`"),
        ("predict s --at batch_size;20.5", "line 2: batch_size: `20.5`"),
        ("predict s --at vcpus;1,2", "line 2: 2 cells, but the header has 1"),
        ("predict s --at vcpus;", "has a header but no rows"),
        ("predict s --at a,b;1,2", "has no column that says where to predict"),
        ("predict s --at disk;floppy", "line 2: disk `floppy` is not in this study; give slow or fast"),
        ("predict s --at workload;nobody", "line 2: workload `nobody`"),
    ],
}
"""Of each thing what is typed, and a part of the sentence; what follows `--at` is the table, its lines apart by `;`."""


@pytest.mark.parametrize("thing", REFUSED)
def test_wrong_input_is_one_sentence_and_exit_2(sizer: Typed, folder: Path, imported: Path, thing: str) -> None:
    """What is wrong, where, and what to type in its place; nothing on stdout, and never a traceback."""
    shutil.copytree(imported, folder / "s")
    (folder / "long.csv").write_text("x" * 200_000)
    for typed, sentence in REFUSED[thing]:
        line, _, table = typed.partition(" --at ")
        (folder / "at.csv").write_text("\n".join(table.split(";")) + "\n")
        done = sizer(*line.split(), *(["--at", "at.csv"] if table else []))
        assert (done.returncode, done.stdout) == (2, ""), typed
        assert sentence in done.stderr, typed
        assert "Traceback" not in done.stderr


def test_commands_that_only_write_or_show(sizer: Typed, folder: Path) -> None:
    """`init` writes a commented file that is a study by itself, and overwrites none. JSON that other programs read; an
    option may come before a file, several files are a list, and lines may end as they once did on a Mac."""
    assert sizer("init", "mine.yaml").returncode == 0
    done = sizer("run", "mine.yaml", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert sizer("init", "mine.yaml").returncode == 2
    assert json.loads(sizer("schema").stdout)["$schema"]
    assert len(json.loads(sizer("catalog", "list", "--json").stdout)["instance_types"]) > 100
    assert "price unknown" in sizer("catalog", "list").stdout
    (folder / "mine.csv").write_bytes(b"name,vcpus,price\rmine.large,4,0.25\r")
    (listed,) = json.loads(sizer("catalog", "list", "--json", "mine.csv").stdout)["instance_types"]
    assert (listed["instance_type"], listed["price_per_hour"]) == ("mine.large", 0.25)
    valid = json.loads(sizer("catalog", "validate", "--json", "mine.csv").stdout)
    assert valid == {"catalogs": [{"file": "mine.csv", "entries": 1}]}


def test_a_dry_run_tells_what_will_not_run(sizer: Typed, folder: Path) -> None:
    """A GPU and a program that are not there are named before anything is made for them; a limit that cannot be set is
    exit 3 after the list of runs; TensorFlow is left to a program of one's own."""
    (folder / "odd.yaml").write_text(
        "workloads:\n"
        "  - {name: gpu, kind: image_training, device: 'cuda:7', axes: {vcpus: [1]}}\n"
        "  - {name: own, kind: command, command: [no-such-program], axes: {vcpus: [1]}}\n"
    )
    output = sizer("run", "odd.yaml", "--dry-run").stdout
    assert "`gpu`: this host has no GPU 7" in output
    assert "`own`: the program no-such-program was not found" in output
    (folder / "large.yaml").write_text("workloads: [{kind: lstm_training, axes: {vcpus: [1, 4096]}}]\n")
    for words in (["--dry-run"], []):
        done = sizer("run", "large.yaml", *words)
        assert (done.returncode, "4096" in done.stderr, "runs, about" in done.stdout) == (3, True, bool(words))
    assert not (folder / "large").exists()
    (folder / "tensors.yaml").write_text(
        "workloads:\n  - {kind: image_training, framework: [mxnet, tensorflow], axes: {vcpus: [1]}}\n"
    )
    for words in (["--dry-run"], []):
        done = sizer("run", "tensors.yaml", *words)
        assert done.returncode == 2
        assert done.stderr.startswith("sizer: tensors.yaml line 2: `framework: tensorflow` runs no program of sizer's")
        assert "`kind: command`" in done.stderr


def test_a_dry_run_says_how_sure_an_emulated_rate_is(sizer: Typed, folder: Path) -> None:
    """Of each batch size: the rate, what holds 90 % of it, and what it follows from."""
    (folder / "gpu.yaml").write_text(
        "workloads:\n  - {name: a, kind: image_training, batch_size: [32, 1024], device: {emulate: {gpu: V100}}}\n"
        "  - {name: b, kind: image_training, device: {emulate: {samples_per_second: 100, low: 80, high: 125}}}\n"
        "  - {name: c, kind: image_training, device: {emulate: {samples_per_second: 100}}}\n"
    )
    lines = [line for line in sizer("run", "gpu.yaml", "--dry-run").stdout.splitlines() if line.startswith("emulates")]
    published, beyond, given, plain = lines
    assert published.startswith("emulates: V100 for `a`, with a batch of 32: 299 samples/s (207 to 430), published (")
    assert "beyond the published batch sizes" in beyond
    assert given.endswith("with a batch of 32: 100 samples/s (80 to 125), given in the study file")
    assert plain.endswith("with a batch of 32: 100 samples/s, given in the study file")


@pytest.mark.slow
def test_no_command_waits_for_ever_for_a_pipe(tmp_path: Path, first_version: Path) -> None:
    """Each that reads a file which a person names: one sentence, exit code 2, a few seconds."""
    os.mkfifo(tmp_path / "fifo")
    asked = [
        ["run", "fifo", "--out", "out", "--dry-run"],
        ["predict", str(first_version), "--at", "fifo"],
        ["catalog", "validate", "fifo"],
        ["recommend", str(first_version), "--catalog", "fifo"],
    ]
    started = [
        subprocess.Popen([sys.executable, "-m", "sizer", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        for words in asked
    ]
    for process in started:
        _, err = process.communicate(timeout=300)
        assert err.splitlines()[-1].startswith("sizer: fifo is a pipe that nobody writes to")
        assert process.returncode == 2


def test_a_pipe_in_a_files_place_is_read(tmp_path: Path) -> None:
    """`sizer catalog validate <(command)`: a descriptor that the shell hands down."""
    reading, writing = os.pipe()
    os.write(writing, b"name,vcpus,")
    os.write(writing, b"price\nmine.large,4,0.25\n")
    os.close(writing)
    argv = [sys.executable, "-m", "sizer", "catalog", "validate", f"/dev/fd/{reading}"]
    done = subprocess.run(argv, cwd=tmp_path, pass_fds=[reading], capture_output=True, text=True, timeout=300)
    os.close(reading)
    assert done.returncode == 0, done.stderr
    assert f"/dev/fd/{reading}: 1 entry, valid" in done.stdout
