"""sizer for an ordinary user without root: whole vCPUs by affinity, and one sentence with what to type for the rest."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sizer.limits.process_tree import MARK
from tests import ROOT
from tests.end_to_end.conftest import QUICK_DISKS
from tests.end_to_end.gates import Gate

pytestmark = [pytest.mark.root, pytest.mark.slow]

USER = 61_234 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
"""A user that no file of this host knows, as those of containers and services are; another for each worker."""

WRITABLE_BY_ALL = [
    place for place in ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/dev/mqueue") if Path(place).is_dir()
]
"""Where alone such a user can leave something outside of his home."""

PROJECT = ROOT

# The interpreter may lie where another user cannot reach it, in root's home for one: there it is put into a view of
# this machine that is the user's alone. A network of its own goes with it, because one sizer measures a host at a time.
BECOME = f"""
set -e
aside=$1; hidden=$2; shift 2
if [ -n "$hidden" ]; then
  mkdir -p "$aside"
  mount --bind "{sys.base_prefix}" "$aside"
  mount -t tmpfs -o mode=755 none "$hidden"
  mkdir -p "{sys.base_prefix}"
  mount --bind "$aside" "{sys.base_prefix}"
fi
exec setpriv --reuid {USER} --regid {USER} --clear-groups --no-new-privs -- "$@"
"""

CHILD = """
import json, os, sys, time
descriptor = int(os.environ["SIZER_EVENTS_FD"])
def write(**fields):
    os.write(descriptor, (json.dumps(fields) + "\\n").encode())
print(json.dumps([os.getuid(), sorted(os.sched_getaffinity(0))]), flush=True)
if "daemon" in sys.argv and os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    for each in range(10):
        try:
            os.close(each)
        except OSError:
            pass
    open(os.path.join(os.path.dirname(sys.argv[0]), "daemon"), "w").close()
    time.sleep(1000)
    os._exit(0)
write(event="start", sample_unit="image", batch_size=8, dataset_bytes=0, dataset_samples=0, bytes_per_sample=0)
while True:
    time.sleep(0.02)
    write(event="step", time=time.monotonic(), samples=8, input_wait=0.0, epoch=0)
"""


@dataclass(frozen=True)
class Person:
    """An ordinary user with a home, a folder for studies and a cache."""

    home: Path
    aside: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "SIZER_CACHE": str(self.home / "cache"),
            "PYTHONPATH": str(PROJECT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            **{name: os.environ[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS") if name in os.environ},
        }

    def argv(self, *words: str) -> list[str]:
        become = ["unshare", "--mount", "--net", "sh", "-c", BECOME, "sh", str(self.aside), _hidden()]
        return [*become, sys.executable, *words]

    def python(self, *words: str, **changed: str | None) -> subprocess.CompletedProcess[str]:
        """Run Python as this user; `changed` are variables of the environment, None for one that is not set."""
        environment = {name: value for name, value in {**self.environment, **changed}.items() if value is not None}
        return subprocess.run(
            self.argv(*words), cwd=self.home, env=environment, capture_output=True, text=True, timeout=600
        )

    def sizer(self, *words: str, **changed: str | None) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "sizer", *words, **changed)

    def begin(self, *words: str) -> subprocess.Popen[str]:
        argv = self.argv("-m", "sizer", *words)
        return subprocess.Popen(argv, cwd=self.home, env=self.environment, stderr=subprocess.PIPE, text=True)

    def study(self, name: str, *mode: str, seconds: float = 1, **axes: Any) -> str:
        """A study of this user's own program over these axes; the file's name."""
        command = [sys.executable, "-S", str(self.home / "child.py"), *mode]
        job = {"name": "job", "kind": "command", "command": command, "axes": axes}
        disks = {
            "here": str(self.home),
            "roots": "/usr",
            "slow": {"emulate": {"class": "standard", "read_iops": 500, "read_mbps": 40}},
        }
        used = {disk: disks[disk] for disk in axes.get("disk", ())}
        measure = {"repeats": 1, "seconds": seconds, "precision": 0.2}
        study = {"name": name, "measure": measure, "workloads": [job], **({"disks": used} if used else {})}
        (self.home / f"{name}.yaml").write_text(json.dumps(study))
        return f"{name}.yaml"

    def runs(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in sorted((self.home / name / "runs").glob("*.json"))]


def _hidden() -> str:
    """The folder above the interpreter that only its owner may enter; empty where there is none."""
    folders = [*reversed(Path(sys.base_prefix).parents), Path(sys.base_prefix)]
    return next((str(folder) for folder in folders if not folder.stat().st_mode & 0o001), "")


@pytest.fixture
def person() -> Iterator[Person]:
    # Not pytest's own folder, which is root's alone.
    place = Path(tempfile.mkdtemp(prefix="ordinary-user-"))
    place.chmod(0o755)
    home = place / "home"
    home.mkdir(mode=0o700)
    (home / "child.py").write_text(CHILD)
    os.chown(home, USER, USER)
    os.chown(home / "child.py", USER, USER)
    yield Person(home, place / "aside")
    for pid in processes_of_the_user():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for left in scratch_of_the_user():
        shutil.rmtree(left)
    shutil.rmtree(place)


def scratch_of_the_user() -> list[Path]:
    """The folders that this user's sizers have among the temporary files."""
    return [path for path in Path(tempfile.gettempdir()).glob("sizer-*") if path.lstat().st_uid == USER]


def processes_of_the_user() -> list[int]:
    """The living processes of this user."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            status = (entry / "status").read_text()
            if entry.stat().st_uid == USER and "State:\tZ" not in status:
                found.append(int(entry.name))
    return found


def said(process: subprocess.Popen[str], words: str) -> None:
    """Wait until these words are said."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if words in line:
            # What comes after must not fill the pipe.
            os.set_blocking(process.stderr.fileno(), False)
            return
    raise AssertionError(f"{words} was never said: {''.join(lines)}")


def killed_in_its_run(process: subprocess.Popen[str], person: Person) -> list[Path]:
    """Kill this sizer when its run has a daemon; the temporary folders that it leaves: of all runs, and of a FIFO."""
    said(process, "[1/1]")
    until = time.monotonic() + 300
    while not (person.home / "daemon").exists() or len(scratch_of_the_user()) < 2:
        assert time.monotonic() < until
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert processes_of_the_user()
    return scratch_of_the_user()


def one_sentence(done: subprocess.CompletedProcess[str], status: int) -> str:
    """What sizer said last; it ended so and nothing was a traceback."""
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert "\nsizer: " in f"\n{done.stderr}", done.stderr
    return done.stderr


def test_doctor_explains(person: Person) -> None:
    """Exit 0, also without a home: whole vCPUs by affinity, and the reason and the command for each of the others."""
    output = person.sizer("doctor", HOME=None, SIZER_CACHE=None)
    assert output.returncode == 0, output.stderr
    assert "ok  vcpus: affinity: CPU affinity" in output.stdout
    for control in ("fractional_vcpus", "memory", "disk"):
        said = rf"^NO  {control}: \S.*\n +to fix it, type: (sudo |systemd-run |XDG_RUNTIME_DIR=)"
        assert re.search(said, output.stdout, re.MULTILINE), output.stdout
    assert list(person.home.iterdir()) == [person.home / "child.py"]


def test_a_study_by_affinity(person: Person) -> None:
    """The program is on its CPUs, the record says how, every reading command answers, and all is written at home."""
    done = person.sizer("run", person.study("quick", vcpus=[1, 2]))
    assert done.returncode == 0, done.stderr
    runs = person.runs("quick")
    assert [run["outcome"] for run in runs] == ["completed", "completed"]
    for path in (person.home / "quick/runs").glob("*.json"):
        run = json.loads(path.read_text())
        user, cpus = json.loads((person.home / "quick/logs" / f"{path.stem}.log").read_text().splitlines()[0])
        assert (user, len(cpus)) == (USER, run["spec"]["limits"]["vcpus"])
        assert run["limited_by"]["backend"] == "affinity"
        assert run["limited_by"]["cpus"].startswith(str(cpus[0]))
        assert run["limited_by"]["memory_bytes"] is None
    assert json.loads(person.sizer("status", "quick", "--json").stdout)["finished"] == 2
    assert person.sizer("report", "quick", "--out", "again.html").returncode == 0
    assert json.loads(person.sizer("fit", "quick", "--json").stdout)["schema_version"] == 2
    written = subprocess.run(
        ["find", *WRITABLE_BY_ALL, "-uid", str(USER), "-not", "-path", f"{person.home}*"],
        capture_output=True,
        text=True,
    )
    assert written.stdout == ""
    assert (person.home / "quick/report.html").exists()
    assert processes_of_the_user() == []


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ({"vcpus": [0.5, 1]}, "fractions of a vCPU"),
        ({"vcpus": [1], "memory": ["512MiB"]}, "memory"),
        ({"vcpus": [1], "disk": ["slow"]}, "disk"),
    ],
)
def test_what_needs_root_is_refused_before_anything_runs(person: Person, axes: dict[str, Any], words: str) -> None:
    """Exit 3, what is missing, the command to type, and no study folder."""
    output = one_sentence(person.sizer("run", person.study("refused", **axes)), 3)
    assert words in output
    assert "type: sudo " in output or "type: systemd-run " in output
    assert not (person.home / "refused").exists()


def test_a_real_mount_is_a_disk_axis(person: Person) -> None:
    """A folder that the user may write to is measured with fio and used; one that is root's is refused by its name."""
    done = person.python(str(QUICK_DISKS), "run", person.study("mount", vcpus=[1], disk=["here"]))
    assert done.returncode == 0, done.stderr
    (run,) = person.runs("mount")
    assert run["outcome"] == "completed"
    assert run["disk"]["measured"]["read_bytes_per_second"] > 0
    output = one_sentence(person.sizer("run", person.study("refused", vcpus=[1], disk=["roots"])), 2)
    assert "you may not write to /usr" in output
    assert not list(person.home.glob("sizer-*"))


DEMO = """
from dataclasses import replace
import sys
from sizer import api
host = api.this_host(api.demonstration.DEMO_FIO)
study, notes = api.demonstration.demo_study(host)
api.plan_study(study, "demo", host).check(host)
words = [each for each in study.workloads if each.workload.kind == "lstm_training"]
study = replace(study, workloads=tuple(replace(each, vcpus=(1.0,)) for each in words[:1]))
study = replace(study, around=replace(study.around, vcpus=1.0))
study = replace(study, measure=replace(study.measure, seconds=1.0, precision=0.5, repeats=1))
with api.measurement(api.plan_study(study, "demo", host), host, notes=notes) as measurement:
    print(*measurement.run())
"""


def test_the_demo_is_within_reach(person: Person) -> None:
    """Its axes are cut to what affinity limits, the report says what was left out, and its MXNet workload runs."""
    done = person.python("-c", DEMO)
    assert done.returncode == 0, done.stderr
    (run,) = person.runs("demo")
    assert run["outcome"] == "completed"
    assert run["limited_by"]["backend"] == "affinity"
    assert "This host does not allow fractions of a vCPU" in (person.home / "demo/report.html").read_text()


def test_ctrl_c_finishes_the_run_in_hand(person: Person) -> None:
    """The run is stored, the exit code is 130, and `resume` goes on."""
    gate = Gate(person.home / "child.py")
    process = person.begin("run", person.study("quick", vcpus=[1, 2]))
    gate.wait()
    process.send_signal(signal.SIGINT)
    said(process, "Ctrl-C again stops it now")
    gate.open()
    assert process.wait(300) == 130
    assert len(person.runs("quick")) == 1
    assert person.sizer("resume", "quick").returncode == 0
    assert len(person.runs("quick")) == 2
    assert processes_of_the_user() == []


@pytest.mark.alone
def test_what_a_killed_sizer_left_goes_with_the_next_start(person: Person) -> None:
    """A daemon that left session and parent, too; what root's killed sizer left is root's, and does not stop it."""
    roots, scratch = left_by_root()
    try:
        process = person.begin("run", person.study("left", "daemon", seconds=100, vcpus=[1]))
        left, fifo = killed_in_its_run(process, person)
        (left / "inner").mkdir()
        (left / "inner/data").write_bytes(b"x")
        for path in (left / "inner/data", left / "inner"):
            path.chmod(0o500)
            os.chown(path, USER, USER)
        done = person.sizer("run", person.study("quick", vcpus=[1]))
        assert done.returncode == 0, done.stderr
        assert removed(done.stderr) == {str(left), str(fifo)}
        assert processes_of_the_user() == []
        assert scratch_of_the_user() == []
        assert scratch.exists()
    finally:
        roots.kill()
        roots.wait()
        shutil.rmtree(scratch, ignore_errors=True)


@pytest.mark.alone
def test_root_removes_what_a_users_killed_sizer_left(person: Person) -> None:
    """The next start of root ends the user's processes, removes his temporary folder, and measures."""
    process = person.begin("run", person.study("left", "daemon", seconds=100, vcpus=[1]))
    left, fifo = killed_in_its_run(process, person)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(person.home / person.study("quick", vcpus=[1]), folder)
        environment = {**os.environ, "SIZER_CACHE": str(Path(folder, "cache")), "PYTHONPATH": str(PROJECT)}
        argv = ["unshare", "--net", sys.executable, "-m", "sizer", "run", "quick.yaml"]
        done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert removed(done.stderr) == {str(left), str(fifo)}
    assert processes_of_the_user() == []
    assert scratch_of_the_user() == []


def removed(said: str) -> set[str]:
    """The temporary folders that sizer says it removed: that of all runs, and that of the run's FIFO."""
    line = next(each for each in said.splitlines() if each.startswith("removed temporary folders"))
    return set(re.findall(r"/[^\s,]+", line))


def left_by_root() -> tuple[subprocess.Popen[bytes], Path]:
    """A process and a temporary folder of root's, by the name of a sizer that is dead."""
    name = subprocess.run(
        [sys.executable, "-c", "from sizer.limits.identity import owned_name; print(owned_name('left'))"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    ).stdout.strip()
    scratch = Path(tempfile.gettempdir(), f"sizer-{name}")
    scratch.mkdir(mode=0o700)
    return subprocess.Popen(["sleep", "1000"], env={**os.environ, MARK: name}), scratch


@pytest.mark.parametrize(
    "changed",
    [
        {"HOME": None, "SIZER_CACHE": None},
        {"HOME": "/nonexistent", "SIZER_CACHE": None},
        {"SIZER_CACHE": "/usr/cache"},
    ],
)
def test_a_user_without_a_home_is_told_what_to_set(person: Person, changed: dict[str, str | None]) -> None:
    """A service's account: data sets have nowhere to lie, which is one sentence and exit 3."""
    study = {"measure": {"seconds": 1}, "workloads": [{"kind": "lstm_training", "axes": {"vcpus": [1]}}]}
    (person.home / "words.yaml").write_text(json.dumps(study))
    output = one_sentence(person.sizer("run", "words.yaml", **changed), 3)
    assert "set SIZER_CACHE to a folder that you may write to" in output
    assert not (person.home / "words").exists()
