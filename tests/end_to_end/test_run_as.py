"""As whom the programs of a study run, what of theirs others can reach, and what happens to data that they mount."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end import ready_sizer

pytestmark = [pytest.mark.root, pytest.mark.slow]

NOBODY = pwd.getpwnam("nobody")

SAYS_WHO = """
id -un; id -gn; echo "$HOME"
echo x >"$TMPDIR/scratch"; stat -c '%U %a' "$TMPDIR"
[ -r /etc/shadow ] && echo shadow
"""
STEPS = 'i=0; while :; do i=$((i+1)); echo "step $i"; sleep 0.05; done'

TELLS = """
import json, os, time
with open(os.environ["SIZER_EVENTS_PATH"], "w") as file:
    def tell(**fields):
        print(json.dumps({"pid": os.getpid(), **fields}), file=file, flush=True)
    tell(event="start", sample_unit="image", batch_size=8, dataset_bytes=0, dataset_samples=0)
    while True:
        time.sleep(0.02)
        tell(event="step", time=time.monotonic(), samples=8, input_wait=0, epoch=0)
"""

STEALS = """
while [ ! -e "$2" ]; do
  find "$1" -mindepth 1 2>/dev/null; find "$1" -type p 2>/dev/null
  for f in "$1"/*/events "$1"/*/*/events; do [ -e "$f" ] && echo found "$f"; done
  sleep 0.03
done
"""
"""What another user sees of the folders of a run: their names, and nothing that lies in them."""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may pass through and read, with one for temporary files."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        (Path(folder) / "tmp").mkdir()
        (Path(folder) / "tmp").chmod(0o1777)
        yield Path(folder)


def measure(folder: Path, keys: str, jobs: dict[str, str], **variables: str) -> tuple[Any, dict[str, Any]]:
    """Measure a study of one short run of each of these jobs, a shell script and, behind `||`, more of its workload's
    entry: how sizer ended, and of each the record of its run with its `log`."""
    entries = []
    for name, job in jobs.items():
        program = folder / f"{name}.sh"
        script, _, more = job.rpartition("||")
        program.write_text(script + STEPS)
        entries.append(
            f"  - {{name: {name}, kind: command, command: [/bin/sh, {program}], {more}"
            " pattern: 'step (?P<step>\\d+)', axes: {vcpus: [1]}}\n"
        )
    short = "measure: {repeats: 1, seconds: 0.5, precision: 0.5}\n"
    (folder / "study.yaml").write_text(f"{short}{keys}\nworkloads:\n{''.join(entries)}")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "SUDO_UID"},
        "SIZER_CACHE": str(folder / "cache"),
        "TMPDIR": str(folder / "tmp"),
        **variables,
    }
    done = ready_sizer.typed(("run", "study.yaml", "--out", "study"), folder, environment, quick_disks=True)
    runs = {}
    for path in (folder / "study/runs").glob("*.json"):
        run, log = json.loads(path.read_text()), folder / "study/logs" / f"{path.stem}.log"
        runs[run["spec"]["workload"]["name"]] = {**run, "log": log.read_text() if log.exists() else ""}
    return done, runs


@pytest.mark.parametrize(
    ("keys", "sudo", "user"),
    [("", "", "root"), ("", str(NOBODY.pw_uid), "nobody"), ("", "54321", None)],
)
def test_programs_run_as_who_was_asked_for(open_folder: Path, keys: str, sudo: str, user: str | None) -> None:
    """Under sudo by default as who typed it, who may be in no file; with the groups, home and folders of that user."""
    variables = {"SUDO_UID": sudo} if sudo else {}
    script = f"echo $(id -u) $(id -g) $(id -G); {SAYS_WHO if user else ''}||"
    done, runs = measure(open_folder, keys, {"job": script}, **variables)
    assert done.returncode == 0, done.stderr
    first, *lines = runs["job"]["log"].splitlines()
    if user is None:
        assert first == "54321 65534 65534"
        return
    owner = pwd.getpwnam(user)
    expected = [user, "root" if user == "root" else "nogroup", owner.pw_dir, f"{user} 700"]
    assert lines[:5] == [*expected, "shadow" if user == "root" else "step 1"]
    assert (runs["job"]["outcome"], runs["job"]["limited_by"]["user"]) == ("completed", user)


def test_a_run_that_its_user_cannot_make_is_refused(open_folder: Path) -> None:
    """With the first file that cannot be read; nothing is started."""
    for name, mode in (("private", 0o755), ("closed", 0o700)):
        (open_folder / name).mkdir(mode=mode)
        (open_folder / name / "a").write_text("x")
        (open_folder / name / "a").chmod(0o600)
    for name, mode in (("a.rec", 0o644), ("a.idx", 0o600)):
        (open_folder / name).write_text("x")
        (open_folder / name).chmod(mode)
    jobs = {"folder": "data: private,", "index": "data: a.rec,", "cwd": "cwd: closed,"}
    refused = {"folder": "read {}/private/a", "index": "read {}/a.idx", "cwd": "enter {}/closed"}
    done, runs = measure(open_folder, "run_as: nobody", {name: f"echo started;||{job}" for name, job in jobs.items()})
    assert done.returncode == 4
    assert {run["outcome"] for run in runs.values()} == {"refused"}
    assert {run["log"] for run in runs.values()} == {""}
    for action in refused.values():
        assert f"nobody, as whom the runs are made, cannot {action.format(open_folder)}" in done.stderr
    shutil.rmtree(open_folder / "study")
    done, runs = measure(open_folder, "run_as: no-such-user", {"job": "echo started;||"})
    assert (done.returncode, runs["job"]["log"]) == (4, "")
    assert "his host has no user no-such-user; write another one as `run_as`" in done.stderr


TELLS_WHO_LOADS = """
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void tell(void) {
    FILE *file = fopen("FILE_NAME", "a");
    if (file) { fprintf(file, "%d\\n", (int)geteuid()); fclose(file); }
}
"""


def test_programs_of_another_user(open_folder: Path) -> None:
    """One tells its steps through a FIFO that is that user's. What makes a run has root's rights, and executes or loads
    nothing that the study's variables name."""
    (open_folder / "tell.py").write_text(TELLS)
    for name in ("unshare", "setpriv", "taskset", "sh"):
        (open_folder / name).write_text(f"#!/bin/sh\n/usr/bin/id -un >>{open_folder}/tmp/had; exit 1\n")
        (open_folder / name).chmod(0o755)
    odd, loaded, library = "it's\\n$(id)", open_folder / "loaded", open_folder / "loaded.so"
    loaded.touch()
    loaded.chmod(0o666)
    compiling = ["gcc", "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"]
    subprocess.run(compiling, input=TELLS_WHO_LOADS.replace("FILE_NAME", str(loaded)), text=True, check=True)
    variables = f'env: {{PATH: {open_folder}, LD_PRELOAD: {library}, SAID: "{odd}"}},'
    jobs = {
        "tells": f"exec /usr/bin/python3 {open_folder}/tell.py;||",
        "loads": f'echo "$SAID"; sleep() {{ /bin/sleep "$@"; }};||{variables}',
    }
    done, runs = measure(open_folder, "run_as: nobody", jobs)
    assert done.returncode == 0, (done.stderr, runs)
    assert runs["tells"]["meter"]["kind"] == "events"
    assert "it's\n$(id)\n" in runs["loads"]["log"]
    assert not (open_folder / "tmp/had").exists()
    assert set(loaded.read_text().split()) == {str(NOBODY.pw_uid)}


INTERPRETER = """#!/bin/sh
/usr/bin/id -un >>FOLDER/tmp/had
[ "$1" = -c ] && echo '{"python": "3.11.0", "packages": {}, "modules": ["cv2", "numpy"]}' && exit
while [ $# -gt 0 ] && [ "$1" != --out ]; do shift; done
mkdir -p "$2/class" && echo x >"$2/class/a.jpg"
"""


def test_an_interpreter_that_a_study_names_has_the_rights_of_its_runs(open_folder: Path) -> None:
    """It is asked for its versions, makes data and runs as that user; what it has made in the cache is root's."""
    (open_folder / "python").write_text(INTERPRETER.replace("FOLDER", str(open_folder)))
    (open_folder / "python").chmod(0o755)
    (open_folder / "study.yaml").write_text(
        "{run_as: nobody, embedded_images: 20, frameworks: {opencv: {python: ./python}},"
        " workloads: [{name: job, kind: imagenet_preprocessing, axes: {vcpus: [1]}}]}"
    )
    places = {"SIZER_CACHE": str(open_folder / "cache"), "TMPDIR": str(open_folder / "tmp")}
    done = ready_sizer.typed(("run", "study.yaml", "--out", "study"), open_folder, {**os.environ, **places})
    assert done.returncode == 4, done.stderr
    assert set((open_folder / "tmp/had").read_text().split()) == {"nobody"}
    made = [path for path in (open_folder / "cache").rglob("*") if path.name != ".lock"]
    assert "a.jpg" in [path.name for path in made]
    assert {path.owner() for path in made} == {"root"}


def test_nobody_else_finds_the_folders_of_a_run_and_data_that_are_mounted_in_them_stay(open_folder: Path) -> None:
    """What is written into its FIFO becomes the rate: another user sees names in the temporary folder and no more. What
    a `before` mounts there is unmounted, and the folder is removed."""
    data = open_folder / "data"
    data.mkdir()
    (data / "a").write_text("precious")
    (open_folder / "before.sh").write_text(f'mkdir "$TMPDIR/d"; mount --bind {data} "$TMPDIR/d"')
    (open_folder / "steal.sh").write_text(STEALS)
    looking = ["/bin/sh", open_folder / "steal.sh", open_folder / "tmp", open_folder / "over"]
    thief = subprocess.Popen(looking, user=NOBODY.pw_uid, stdout=subprocess.PIPE, text=True)
    before = f"before: [/bin/sh, {open_folder}/before.sh],"
    done, runs = measure(open_folder, "", {"job": f"ls $TMPDIR/d; sleep 1;||{before}"})
    (open_folder / "over").touch()
    seen = set(thief.communicate(timeout=60)[0].splitlines())
    assert done.returncode == 0, (done.stderr, runs)
    assert 5 < runs["job"]["throughput"]["value"] < 25
    assert seen
    assert {Path(line).parent for line in seen} == {open_folder / "tmp"}
    assert "a\n" in runs["job"]["log"]
    assert (data / "a").read_text() == "precious"
    assert str(open_folder) not in Path("/proc/self/mountinfo").read_text()
    assert list((open_folder / "tmp").iterdir()) == []
