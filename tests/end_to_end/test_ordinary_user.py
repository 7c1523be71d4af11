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
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.shared import TELLS

pytestmark = [pytest.mark.root, pytest.mark.slow]

USER = 61_234 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
"""A user that no file of this host knows, as those of containers and services are; another for each worker."""

WRITABLE_BY_ALL = [
    place for place in ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/dev/mqueue") if Path(place).is_dir()
]
"""Where alone such a user can leave something outside of his home."""

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

CHILD = f"""{TELLS}
print(json.dumps([os.getuid(), sorted(os.sched_getaffinity(0))]), flush=True)
start()
while True: step()
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
            "PYTHONPATH": str(ROOT),
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

    def study(self, name: str, **axes: Any) -> str:
        """A study of this user's own program over these axes; the file's name."""
        command = [sys.executable, "-S", str(self.home / "child.py")]
        job = {"name": "job", "kind": "command", "command": command, "axes": axes}
        slow = {"slow": {"emulate": {"class": "standard", "read_iops": 500, "read_mbps": 40}}}
        measure = {"repeats": 1, "seconds": 1, "precision": 0.2}
        study = {"name": name, "measure": measure, "workloads": [job], "disks": slow if "disk" in axes else {}}
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
    processes = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            status = (entry / "status").read_text()
            if entry.stat().st_uid == USER and "State:\tZ" not in status:
                processes.append(int(entry.name))
    return processes


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
        pattern = rf"^NO  {control}: \S.*\n +to fix it, type: (sudo |systemd-run |XDG_RUNTIME_DIR=)"
        assert re.search(pattern, output.stdout, re.MULTILINE), output.stdout
    assert list(person.home.iterdir()) == [person.home / "child.py"]


def test_a_study_by_affinity(person: Person) -> None:
    """The program is on its CPUs, the record says how, reading commands answer, and all is written at home."""
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
    written = subprocess.run(
        ["find", *WRITABLE_BY_ALL, "-uid", str(USER), "-not", "-path", f"{person.home}*"],
        capture_output=True,
        text=True,
    )
    assert written.stdout == ""
    assert (person.home / "quick/report.html").exists()
    assert processes_of_the_user() == []


def test_what_needs_root_is_refused_before_anything_runs(person: Person) -> None:
    """Exit 3, what is missing, the command to type, and no study folder."""
    axes = {"vcpus": [0.5, 1], "memory": ["512MiB"], "disk": ["slow"]}
    output = one_sentence(person.sizer("run", person.study("refused", **axes)), 3)
    for words in ("fractions of a vCPU", "memory", "disk"):
        assert words in output
    assert "type: sudo " in output or "type: systemd-run " in output
    assert not (person.home / "refused").exists()


def test_a_user_without_a_home_is_told_what_to_set(person: Person) -> None:
    """A service's account: data sets have nowhere to lie, which is one sentence and exit 3."""
    study = {"measure": {"seconds": 1}, "workloads": [{"kind": "lstm_training", "axes": {"vcpus": [1]}}]}
    (person.home / "words.yaml").write_text(json.dumps(study))
    output = one_sentence(person.sizer("run", "words.yaml", HOME="/nonexistent", SIZER_CACHE=None), 3)
    assert "set SIZER_CACHE to a folder that you may write to" in output
    assert not (person.home / "words").exists()
