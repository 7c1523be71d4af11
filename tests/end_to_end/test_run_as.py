"""As whom the programs of a study run, what of theirs others can reach, and what happens to data that they mount."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import tempfile
from collections.abc import Callable, Iterator
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


@pytest.fixture
def measured(open_folder: Path) -> Callable[..., tuple[subprocess.CompletedProcess[str], dict[str, Any], str]]:
    """Measure a study of one short run of a shell script: what sizer said, the record of the run, and its log."""

    def measure(script: str, keys: str = "", more: str = "", command: str = "", **variables: str) -> Any:
        program = open_folder / "job.sh"
        command = command or f"/bin/sh, {program}"
        program.write_text(script + STEPS)
        (open_folder / "study.yaml").write_text(
            "measure: {repeats: 1, seconds: 0.5, precision: 0.5}\n"
            f"{keys}\nworkloads:\n  - {{name: job, kind: command, command: [{command}], {more}"
            " pattern: 'step (?P<step>\\d+)', axes: {vcpus: [1]}}\n"
        )
        environment = {
            **{name: value for name, value in os.environ.items() if name != "SUDO_UID"},
            "SIZER_CACHE": str(open_folder / "cache"),
            "TMPDIR": str(open_folder / "tmp"),
            **variables,
        }
        done = ready_sizer.typed(("run", "study.yaml", "--out", "study"), open_folder, environment, quick_disks=True)
        run = json.loads(next((open_folder / "study/runs").glob("*.json")).read_text())
        log = next((open_folder / "study/logs").glob("*.log"), None)
        return done, run, log.read_text() if log else ""

    return measure


@pytest.mark.parametrize(
    ("keys", "sudo", "user"),
    [
        ("", "", "root"),
        ("", str(NOBODY.pw_uid), "nobody"),
        ("run_as: nobody", "", "nobody"),
    ],
)
def test_programs_run_as_who_was_asked_for(measured: Callable[..., Any], keys: str, sudo: str, user: str) -> None:
    """Under sudo by default as who typed it; with the groups, the home and the folders of that user."""
    done, run, log = measured(SAYS_WHO, keys, **({"SUDO_UID": sudo} if sudo else {}))
    assert done.returncode == 0, done.stderr
    owner = pwd.getpwnam(user)
    expected = [user, "root" if user == "root" else "nogroup", owner.pw_dir, f"{user} 700"]
    assert log.splitlines()[:5] == [*expected, "shadow" if user == "root" else "step 1"]
    assert (run["outcome"], run["limited_by"]["user"]) == ("completed", user)


def test_a_program_of_another_user_tells_its_steps_by_the_path(measured: Callable[..., Any], open_folder: Path) -> None:
    """The FIFO is that user's."""
    (open_folder / "tell.py").write_text(TELLS)
    done, run, log = measured(f"exec /usr/bin/python3 {open_folder}/tell.py;", "run_as: nobody")
    assert done.returncode == 0, (done.stderr, log)
    assert run["meter"]["kind"] == "events"


@pytest.mark.parametrize(
    ("keys", "more", "said"),
    [
        ("run_as: no-such-user", "", "his host has no user no-such-user; write another one as `run_as`"),
        ("run_as: nobody", "data: private,", "nobody, as whom the runs are made, cannot read {folder}/private/a"),
        ("run_as: nobody", "data: a.rec,", "nobody, as whom the runs are made, cannot read {folder}/a.idx"),
        ("run_as: nobody", "cwd: closed,", "nobody, as whom the runs are made, cannot enter {folder}/closed"),
    ],
)
def test_a_run_that_its_user_cannot_make_is_refused(
    measured: Callable[..., Any], open_folder: Path, keys: str, more: str, said: str
) -> None:
    """With the first file that cannot be read; nothing is started."""
    for name, mode in (("private", 0o755), ("closed", 0o700)):
        (open_folder / name).mkdir(mode=mode)
        (open_folder / name / "a").write_text("x")
        (open_folder / name / "a").chmod(0o600)
    for name, mode in (("a.rec", 0o644), ("a.idx", 0o600)):
        (open_folder / name).write_text("x")
        (open_folder / name).chmod(mode)
    done, run, log = measured("echo started;", keys, more)
    assert (done.returncode, run["outcome"], log) == (4, "refused", "")
    assert said.format(folder=open_folder) in done.stderr


TELLS_WHO_LOADS = """
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void tell(void) {
    FILE *file = fopen("FILE_NAME", "a");
    if (file) { fprintf(file, "%d\\n", (int)geteuid()); fclose(file); }
}
"""


def test_the_environment_of_a_study_is_its_programs_alone(measured: Callable[..., Any], open_folder: Path) -> None:
    """What makes a run has root's rights, and executes or loads nothing that the study's variables name."""
    for name in ("unshare", "setpriv", "taskset", "sh"):
        (open_folder / name).write_text(f"#!/bin/sh\n/usr/bin/id -un >>{open_folder}/tmp/had; exit 1\n")
        (open_folder / name).chmod(0o755)
    said, loaded, library = "it's\\n$(id)", open_folder / "loaded", open_folder / "loaded.so"
    loaded.touch()
    loaded.chmod(0o666)
    compiling = ["gcc", "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"]
    subprocess.run(compiling, input=TELLS_WHO_LOADS.replace("FILE_NAME", str(loaded)), text=True, check=True)
    variables = f'env: {{PATH: {open_folder}, LD_PRELOAD: {library}, SAID: "{said}"}},'
    done, run, log = measured('echo "$SAID"; sleep() { /bin/sleep "$@"; };', "run_as: nobody", variables)
    assert done.returncode == 0, (done.stderr, log)
    assert (run["outcome"], "it's\n$(id)\n" in log) == ("completed", True)
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


def test_who_typed_sudo_may_be_in_no_file(measured: Callable[..., Any]) -> None:
    """A user that was removed, or is a container's, has nothing of root's, its group neither."""
    done, _, log = measured("echo $(id -u) $(id -g) $(id -G);", SUDO_UID="54321")
    assert done.returncode == 0, done.stderr
    assert log.splitlines()[0] == "54321 65534 65534"


def test_nobody_else_finds_the_fifo_or_the_folders_of_a_run(measured: Callable[..., Any], open_folder: Path) -> None:
    """What is written into the FIFO becomes the rate: another user sees names in the temporary folder and no more."""
    script = open_folder / "steal.sh"
    script.write_text(STEALS)
    thief = subprocess.Popen(
        ["/bin/sh", str(script), str(open_folder / "tmp"), str(over := open_folder / "over")],
        user=NOBODY.pw_uid,
        stdout=subprocess.PIPE,
        text=True,
    )
    done, run, _ = measured("sleep 1;")
    over.touch()
    seen = set(thief.communicate(timeout=60)[0].splitlines())
    assert done.returncode == 0, done.stderr
    assert 5 < run["throughput"]["value"] < 25
    assert seen
    assert {Path(line).parent for line in seen} == {open_folder / "tmp"}


def test_data_that_are_mounted_in_the_folder_of_a_run_stay(measured: Callable[..., Any], open_folder: Path) -> None:
    """A `before` mounts them for all to see; they are unmounted, and the folder is removed."""
    data = open_folder / "data"
    data.mkdir()
    (data / "a").write_text("precious")
    before = open_folder / "before.sh"
    before.write_text(f'mkdir "$TMPDIR/d"; mount --bind {data} "$TMPDIR/d"')
    done, _, log = measured("ls $TMPDIR/d;", more=f"before: [/bin/sh, {before}],")
    assert done.returncode == 0, done.stderr
    assert "a\n" in log
    assert (data / "a").read_text() == "precious"
    assert str(open_folder) not in Path("/proc/self/mountinfo").read_text()
    assert list((open_folder / "tmp").iterdir()) == []
