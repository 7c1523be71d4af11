"""What a stranger hands over does no harm: a study file, a study folder, a folder to type in, a disk, a data path."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.cli import main
from sizer.records.prediction import Configuration
from sizer.records.run import Cause, CauseKind, Failure, Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import Study, Workload, WorkloadPlan
from sizer.store.study_folder import StudyFolder
from tests import ROOT
from tests.end_to_end.conftest import Typed
from tests.shared import TELLS

INSTALLED = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from sizer.cli import main; raise SystemExit(main())"
"""As the installed `sizer` starts: `python -m` would look into the folder it is typed in, whatever sizer does."""

TRAP = "import pathlib\npathlib.Path({marker!r}).write_text(__file__)\n"
SHELL_TRAP = "#!/bin/sh\necho $0 > {marker}\n"

Escape = "\x1b]0;owned\x07\x1b[2J\x9b31m"


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What every trap writes."""
    return tmp_path / "marker"


@pytest.fixture
def strangers(tmp_path: Path, marker: Path) -> Path:
    """A folder full of modules and programs of names that sizer and Python look for."""
    folder = tmp_path / "strangers"
    folder.mkdir()
    for module in ("json", "platform", "numpy", "mxnet", "importlib", "sitecustomize", "workloads", "sizer", "fcntl"):
        (folder / f"{module}.py").write_text(TRAP.format(marker=str(marker)))
    for program in ("lscpu", "fio", "taskset", "python", "python3", "mkfs.ext4", "losetup", "nvidia-smi", "mytool"):
        (folder / program).write_text(SHELL_TRAP.format(marker=shlex.quote(str(marker))))
        (folder / program).chmod(0o755)
    return folder


@pytest.fixture
def typed(strangers: Path, tmp_path: Path) -> Typed:
    """Type `sizer ...` in that folder, with a PATH and a library path that name the folder one is in, as careless ones
    do."""

    def call(*words: str, **changes: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PATH": f":.:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": f"{os.environ.get('LD_LIBRARY_PATH', '')}:",
            "SIZER_CACHE": str(tmp_path / "cache"),
            "HOME": str(tmp_path / "home"),
            **changes,
        }
        argv = [sys.executable, "-I", "-c", INSTALLED, *words]
        return subprocess.run(argv, cwd=strangers, env=environment, capture_output=True, text=True, timeout=600)

    return call


@pytest.fixture
def tried(strangers: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Type `sizer ...` there where it is to be refused with one sentence and exit 2; the sentence."""
    monkeypatch.chdir(strangers)

    def call(*words: str) -> str:
        assert main(words) == 2
        err = capsys.readouterr().err
        assert err.startswith("sizer: ")
        assert err.count("\n") == 1
        return err

    return call


@pytest.fixture
def stored(strangers: Path) -> Path:
    """A study folder of one finished run."""
    workload = Workload("job", "command", "other", command=("true",))
    study = Study("s", (WorkloadPlan(workload, (8,), (1.0,)),))
    path = strangers / "study"
    with StudyFolder.create(path, study, {"cpus": 2, "memory_bytes": 2**33}):
        pass
    return path


def everything(*folders: Path) -> dict[str, tuple[int, int, int]]:
    """All that lies in these folders, as it would differ after a change."""
    paths = [path for folder in folders for path in (folder, *sorted(folder.rglob("*")))]
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size, path.lstat().st_ino) for path in paths}


def write_study(folder: Path, command: list[str], rest: str = "") -> Path:
    """A stranger's study of one short run of a command."""
    study = folder / "theirs.yaml"
    study.write_text(
        f"name: elsewhere\nmeasure: {{repeats: 1, seconds: 1, precision: 0.5}}\nworkloads:\n"
        f"  - {{name: job, kind: command, axes: {{vcpus: [1]}}, command: {json.dumps(command)}}}\n{rest}"
    )
    return study


WORDS = [
    "a b",
    "x\nthis host can set every limit that these runs ask for",
    "$(touch owned)",
    "; rm -rf ~",
    "it's",
    "-n",
    "",
    "\\",
]


@pytest.mark.slow
def test_nothing_of_the_folder_one_is_in_is_executed_or_written(
    typed: Typed, strangers: Path, stored: Path, marker: Path, tmp_path: Path
) -> None:
    """`doctor` and `--dry-run` start Python and programs of the system, and none of what lies here; they write neither
    in the study folder nor in the cache, at home or among temporary files. A shell makes of a listed line what would be
    executed; a newline in a word is no line of the list."""
    write_study(strangers, ["mytool", *WORDS])
    for name in ("cache", "home", "temporary"):
        (tmp_path / name).mkdir()
    host = json.loads((stored / "host.json").read_text())
    (stored / "host.json").write_text(json.dumps({**host, "cpus": len(os.sched_getaffinity(0))}))
    done = typed("doctor")
    assert done.returncode == 0, done.stderr
    before = everything(tmp_path)
    for asked in (["run", "theirs.yaml"], ["resume", "study"]):
        done = typed(*asked, "--dry-run", TMPDIR=str(tmp_path / "temporary"))
        assert done.returncode == 0, done.stderr
        # Python itself tries out the folder for temporary files.
        apart = {str(tmp_path / "temporary"): None}
        assert {**everything(tmp_path), **apart} == {**before, **apart}
        assert "writes: " in done.stdout
        assert re.search(r"runs: `job`, the command above \(.*\), in an empty temporary folder", done.stdout)
        if "theirs.yaml" in asked:
            (shown,) = [line for line in done.stdout.splitlines() if "repeat 1: " in line]
            script = f"set -- {shown.partition('repeat 1: ')[2]}; for word; do printf '%s\\0' \"$word\"; done"
            bash = subprocess.run(["bash", "-c", script], capture_output=True, env={"LC_ALL": "C.UTF-8"}, check=True)
            assert bash.stdout.decode().split("\0")[:-1] == ["mytool", *WORDS]
            assert done.stdout.splitlines().count("this host can set every limit that these runs ask for") == 1
            assert "the command above (not found here)" in done.stdout
    assert not marker.exists(), marker.read_text()


@pytest.mark.slow
def test_a_dry_run_starts_no_interpreter_of_the_strangers(typed: Typed, strangers: Path, marker: Path) -> None:
    """It is listed with what it would run, and the run itself is what starts it."""
    trap = strangers / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {marker}\n")
    trap.chmod(0o755)
    (strangers / "theirs.yaml").write_text(
        "frameworks: {pytorch: {python: ./trap}}\n"
        "workloads: [{name: job, kind: lstm_training, framework: pytorch, axes: {vcpus: [1]}}]\n"
    )
    listed = typed("run", "theirs.yaml", "--dry-run")
    assert listed.returncode == 0, listed.stderr
    assert f"runs: `job`, {trap} -m workloads.lstm_training, which comes with sizer" in listed.stdout
    assert f"runs: {trap} -c, to ask for its versions" in listed.stdout
    assert not marker.exists()
    refused = typed("run", "theirs.yaml")
    assert refused.returncode == 2
    assert "theirs.yaml line 1: `python` of `pytorch` in `frameworks`: " in refused.stderr
    assert "does not answer as a Python interpreter does" in refused.stderr
    assert marker.exists()
    assert not (strangers / "theirs").exists()


def test_a_dry_run_names_all_that_would_be_touched(typed: Typed, strangers: Path, tmp_path: Path) -> None:
    """Data, mounts, the study folder, the cache, interpreters, helpers and GPUs."""
    (strangers / "my data").mkdir()
    (strangers / "many.yaml").write_text(
        "workloads:\n"
        "  - {name: own, kind: command, command: [./mytool], data: ./my data, axes: {vcpus: [1]}}\n"
        "  - {name: gpu, kind: image_training, device: 'cuda:3', axes: {vcpus: [1], disk: [mount]}}\n"
        "disks: {mount: .}\n"
    )
    output = typed("run", "many.yaml", "--dry-run").stdout.splitlines()
    tool, data = strangers / "mytool", strangers / "my data"
    assert any(line.endswith(f", repeat 1: {tool}") for line in output)
    assert f"runs: `own`, the command above ({tool}), in an empty temporary folder" in output
    assert f"runs: `gpu`, {sys.executable} -m workloads.image_training, which comes with sizer" in output
    assert f"runs: {sys.executable} -m workloads.embedded_data, which comes with sizer, to make data" in output
    assert f"reads: '{data}', the data of `own`" in output
    assert f"writes: {strangers / 'many'}, the study folder (new)" in output
    assert f"writes: {tmp_path / 'cache'}, the cache of data sets and emulated disks" in output
    assert f"writes: {strangers}, the disk `mount`, in a fresh folder that is removed at the end" in output
    assert "runs: fio, to check disks" in output
    assert "runs: sync --file-system, to have that data on its disk" in output
    assert "runs: lscpu and fio --version, to describe this host" in output
    assert f"runs: {sys.executable} -c, to ask for its versions" in output
    assert f"runs: test -d {strangers}, to see whether the disk `mount` answers" in output
    assert "uses: GPU 3, by `gpu`" in output


@pytest.mark.parametrize("name", ["study", "..yaml", ".yaml", "...yaml"])
def test_a_file_without_a_name_of_its_own_needs_a_folder(tried: Callable[..., str], strangers: Path, name: str) -> None:
    """What would be this folder, the one above it or the file itself; the sentence says what to type."""
    write_study(strangers, ["mytool"]).rename(strangers / name)
    sentence = tried("run", name, "--dry-run")
    assert f"sizer run {name} --out my-study" in sentence


@pytest.mark.parametrize(
    "study",
    [
        "name: ../../x\nworkloads: [{kind: lstm_training}]\n",
        "workloads: [{name: a/b, kind: lstm_training}]\n",
        'workloads: [{name: "a\\nb", kind: lstm_training}]\n',
        "workloads: [{kind: command, command: [-a, ls, rm]}]\n",
        "workloads: [{kind: lstm_training}]\ndisks: {../x: /mnt}\n",
        "workloads: [{kind: lstm_training, device: {emulate: {gpu: '<b>', samples_per_second: 1}}}]\n",
        "workloads: !!python/object/apply:os.system [touch owned]\n",
        "environment: {LD_PRELOAD: ./evil.so}\nworkloads: [{kind: lstm_training}]\n",
        "workloads: [{kind: lstm_training, environment: {PYTHONPATH: .}}]\n",
    ],
)
def test_what_no_study_may_say(tried: Callable[..., str], strangers: Path, study: str) -> None:
    """Names that are more than names, tags that do something, and variables of the environment."""
    (strangers / "bad.yaml").write_text(study)
    before = everything(strangers)
    assert "bad.yaml line" in tried("run", "bad.yaml", "--dry-run")
    assert everything(strangers) == before


@pytest.mark.parametrize(
    "data", ["/", "/proc", "/dev/zero", "/sys", "pipe", "socket", "loop/a", "$HOME", "~nobody-here"]
)
def test_data_without_end_is_one_sentence(tried: Callable[..., str], strangers: Path, data: str) -> None:
    """Nothing is waited for, nothing is read, and no variable is filled in."""
    os.mkfifo(strangers / "pipe")
    os.mknod(strangers / "socket", 0o140600)
    (strangers / "loop").mkdir()
    (strangers / "loop/a").symlink_to("a")
    write_study(strangers, ["true"])
    text = (strangers / "theirs.yaml").read_text().replace("axes:", f"data: {json.dumps(data)}, axes:")
    (strangers / "theirs.yaml").write_text(text)
    tried("run", "theirs.yaml", "--out", "new")
    assert not (strangers / "new").exists()


READING = [
    *(["status"], ["fit"], ["predict"], ["recommend"], ["report"], ["export"]),
    *(
        ["resume"],
        ["resume", "--dry-run"],
        ["run", "theirs.yaml", "--out"],
        ["run", "theirs.yaml", "--dry-run", "--out"],
    ),
    ["demo", "--out"],
]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_every_command_refuses_a_link_and_another_users_folder(
    tried: Callable[..., str], strangers: Path, stored: Path, words: list[str]
) -> None:
    """As the study folder itself, dangling, or in it; and a folder of another user's, prepared in the hope that it is
    taken."""
    write_study(strangers, ["true"])
    (strangers / "link").symlink_to(stored)
    (strangers / "dangling").symlink_to(strangers / "new")
    for name in ("link", "dangling", "link/"):
        assert "is a link; give the study folder that it points to" in tried(*words, name)
    (stored / "runs/0123456789ab.json").symlink_to(strangers / "json.py")
    assert "0123456789ab.json is a link where sizer keeps a file" in tried(*words, "study")
    assert not (strangers / "new").exists()
    if os.geteuid() == 0:
        os.chown(stored, 12345, -1)
        assert "study belongs to user 12345, not to root" in tried(*words, "study")


def test_a_stored_run_cannot_write_on_the_terminal(
    stored: Path, capsys: pytest.CaptureFixture[str], make_run: Callable[..., Run]
) -> None:
    """Neither by its texts, nor by the name of its file, nor by a newline in either."""
    with StudyFolder.open(stored).locked() as folder:
        folder.add(
            Run(
                make_run(100.0, name="job").spec,
                Outcome.CRASHED,
                Configuration(1.0, 2**30, "host", 32),
                "2026-11-21T10:00:00+00:00",
                1.0,
                sample_unit="image",
                error=Failure(Cause(CauseKind.REFUSED, text=f"failed{Escape}"), last_lines=Escape),
                warnings=(RunWarning(WarningKind.OTHER, text=f"short{Escape}\nsizer: all is well: x"),),
            )
        )
    (stored / f"runs/a{Escape}\nsizer: all is well.json").write_text("{")
    for words in (["status", str(stored)], ["export", str(stored)], ["fit", str(stored)], ["report", str(stored)]):
        main(words)
        output = capsys.readouterr()
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", output.out + output.err)
        assert not re.search(r"^sizer: all is well", output.out + output.err, re.MULTILINE)


def test_a_name_of_a_stored_run_is_one_word_or_left_out(
    stored: Path, capsys: pytest.CaptureFixture[str], make_run: Callable[..., Run]
) -> None:
    """An imported workload may have any printable name; another one would be on the terminal."""
    with StudyFolder.open(stored).locked() as folder:
        for name in ("x\x1b[2J", "x; rm -rf ~", "y"):
            folder.add(make_run(100.0, name=name))
    assert main(["status", str(stored)]) == 0
    assert "expected printable text" in capsys.readouterr().out
    assert main(["predict", str(stored)]) == 2
    assert "'x; rm -rf ~'" in capsys.readouterr().err


CHILD = """
with open(os.environ["HOME"] + "/seen", "a") as file:
    file.write(json.dumps([sys.argv, os.getcwd(), os.listdir("."), dict(os.environ)]) + "\\n")
sys.stderr.write(ESCAPE)
start()
for number in range(5): step()
sys.exit(ESCAPE + " no more")
"""


@pytest.mark.root
@pytest.mark.slow
def test_a_run_executes_what_was_shown_and_touches_nothing_else(
    typed: Typed, strangers: Path, marker: Path, tmp_path: Path
) -> None:
    """The whole of it: words, folder, environment, data, log and terminal."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "child.py").write_text(f"{TELLS}\nESCAPE = {Escape!r}\n{CHILD}")
    data, precious = tmp_path / "data", tmp_path / "precious"
    for path in (data, tmp_path / "home"):
        path.mkdir()
    (data / "x.bin").write_bytes(os.urandom(100_000))
    precious.write_text("precious")
    python = sys.executable
    study = write_study(strangers, [python, str(own / "child.py"), *WORDS])
    study.write_text(study.read_text().replace("axes:", f"data: {data}, axes:"))
    before = everything(data, own)

    done = typed("run", "theirs.yaml", PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 4, done.stderr
    (seen,) = [json.loads(line) for line in (tmp_path / "home/seen").read_text().splitlines()]
    words, folder, listed, environment = seen
    assert words[1:] == WORDS
    assert not Path(folder).exists()
    assert listed == []
    assert not {name for name in environment if name.startswith(("LD_P", "LD_A", "PYTHONS", "PYTHONI"))}
    assert everything(data, own) == before
    assert not marker.exists()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.stdout + done.stderr)

    (log,) = (strangers / "theirs/logs").iterdir()
    for path in (log, *(strangers / "theirs/runs").iterdir()):
        path.unlink()
    os.link(precious, log)
    done = typed("resume", "theirs")
    assert done.returncode == 4, done.stderr
    assert precious.read_text() == "precious"
    assert b"no more" in log.read_bytes()
    assert not marker.exists()


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio")
def test_checking_a_disk_writes_into_a_fresh_folder_alone(typed: Typed, strangers: Path, tmp_path: Path) -> None:
    """fio takes what is before a colon for another file, which would be a link to anything."""
    precious, elsewhere = tmp_path / "precious", tmp_path / "elsewhere"
    precious.write_text("precious")
    elsewhere.mkdir()
    (strangers / "x").symlink_to(precious)
    disk = strangers / f"x:{elsewhere}"
    disk.mkdir(parents=True)
    before = everything(strangers, elsewhere).keys()
    done = typed("disks", "check", str(disk), "--seconds", "0.2", PATH=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    assert precious.read_text() == "precious"
    assert (strangers / "x").is_symlink()
    assert everything(strangers, elsewhere).keys() == before


@pytest.mark.root
def test_a_cache_that_a_stranger_may_write_to_is_not_used(typed: Typed, strangers: Path, tmp_path: Path) -> None:
    """A run that lies there would be taken for one of this study: what measures refuses it, and writes nothing."""
    write_study(strangers, ["true"])
    (tmp_path / "cache/unsaved").mkdir(parents=True)
    os.chown(tmp_path / "cache", 12345, -1)
    before = everything(tmp_path / "cache")
    for words in (["run", "theirs.yaml"], ["disks", "check", "."]):
        done = typed(*words)
        assert done.returncode == 2, done.stderr
        sentence = done.stderr.splitlines()[-1]
        assert sentence.startswith(f"sizer: {tmp_path / 'cache'} belongs to user 12345, not to root")
        assert "set SIZER_CACHE to a folder that is yours alone" in sentence
        assert "Traceback" not in done.stderr
    assert everything(tmp_path / "cache") == before
    assert not (strangers / "theirs").exists()
