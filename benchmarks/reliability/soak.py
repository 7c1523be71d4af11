"""sizer is killed with SIGKILL at random moments of its studies and started again at once: nothing is lost or left.

Each moment is drawn: a phase of sizer's work, weighted so that the short ones are hit, too, and a time within it. Some
are suspended there first, for longer than anything is measured over, and killed some time after they go on.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

import soak_checks
from soak_sizer import PIPE

HERE = Path(__file__).parent

STUDIES = {
    "job": f"""
name: job
measure: {{repeats: 1, seconds: 0.5, precision: 0.5, seed: 1}}
disks: {{slow: {{emulate: {{class: standard, read_iops: 500, read_mbps: 40}}}}}}
around: {{vcpus: 1, memory: 512MiB, disk: slow}}
workloads:
  - name: job
    kind: command
    command: [{sys.executable}, {HERE / "soak_job.py"}, DATA]
    axes: {{vcpus: [0.5, 1, 1.5], memory: [256MiB, 512MiB]}}
""",
    "images": """
name: images
embedded_images: 20
measure: {repeats: 1, seconds: 0.5, precision: 0.5, seed: 1}
disks: {slow: {emulate: {class: standard, read_iops: 500, read_mbps: 40}}}
around: {vcpus: 1, disk: slow}
workloads:
  - name: prepare
    kind: imagenet_preprocessing
    axes: {vcpus: [0.5, 1, 1.5]}
""",
}
"""A job with workers, a daemon and a mount of the user's DATA, on every limit that needs cleaning up; and one whose
data is made first."""

START_UP, BETWEEN = "start-up", "between"
OFTEN = ("run", "storing")
PHASES = (START_UP, "clean-up", "volume", "fio", *OFTEN, *OFTEN, "taking down", "answering", BETWEEN)
"""One of them is chosen; `between` is any moment of a whole life."""
OF_IMAGES = ("data", "data", "copying")
"""Phases beside these where data is made."""

USUAL_SECONDS = {START_UP: 1.5, BETWEEN: 15.0}
"""What phases take until some have been seen to end; START_UP has no end to be seen."""

LIFE_SECONDS = 300.0
"""Longer than any start of sizer takes to end by itself."""

SHARE_OF_IMAGES = 0.3

SHARE_SUSPENDED, SUSPENDED_SECONDS = 0.2, 2.3

FILES = 50
"""Of the user's data."""


@dataclass
class SoakedStudy:
    """One study folder with its own cache, and what was last seen in it."""

    kind: str
    path: Path
    file: Path
    cache: Path
    runs: dict[str, bytes] = field(default_factory=dict)
    writing: set[tuple[str, int, int]] = field(default_factory=set)


@dataclass(frozen=True)
class Life:
    """One start of sizer: the phase it was killed in, None if it ended by itself, and what it reported."""

    pid: int
    phase: str | None
    status: int
    cleaned_up: bool
    stored: tuple[str, ...]
    said: str


KINDS = ("lost", "unreadable", "left", "incomplete")


@dataclass
class SoakTable:
    """What the soak has seen: kills by their phase, faults by their kind."""

    kills: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    finished: int = 0
    cleaned: int = 0
    studies: int = 0
    suspended: int = 0

    def add(self, kind: str, phase: str, sentences: Iterable[str]) -> None:
        """Count these as faults, and say them."""
        for sentence in sentences:
            self.faults[kind] += 1
            print(f"         {kind} after a kill in {phase}: {sentence}", file=sys.stderr)

    def print(self, seconds: float) -> None:
        kills = (f"{phase} {self.kills[phase]}" for phase in dict.fromkeys((*PHASES, *self.kills)))
        print(f"killed while: {', '.join(kills)}")
        print(f"{self.kills.total()} kills; {', '.join(f'{kind} {self.faults[kind]}' for kind in KINDS)}")
        print(
            f"{self.studies} studies with {self.finished} runs finished; {self.cleaned} starts came past their "
            f"clean-up, {self.suspended} were suspended; {seconds:.0f} s"
        )


class Soak:
    """A row of lives in a folder of its own."""

    def __init__(self, place: Path, seed: int) -> None:
        self.table = SoakTable()
        self._place = place
        self._random = random.Random(seed)
        self._dead: dict[int, str] = {}
        self._seen: defaultdict[str, list[float]] = defaultdict(list)
        self._made = 0
        self._began = time.monotonic()
        self._data = place / "data"
        self._data.mkdir()
        for number in range(FILES):
            (self._data / f"{number}").write_text("precious")

    def go(self, kills: int, kinds: list[str]) -> None:
        study = self._new(kinds)
        while self.table.kills.total() < kills:
            life = self._live(study, self._aim(study))
            self._look(study, life)
            what = f"killed in {life.phase}" if life.phase else f"ended with exit status {life.status}"
            so_far = f"{time.monotonic() - self._began:6.0f} s, {self.table.kills.total()} kills"
            print(f"{so_far}: {study.path.name} {what}, {len(study.runs)} runs", file=sys.stderr)
            if life.phase is None:
                self._conclude(study)
                study = self._new(kinds)
        self._finish(study, kinds)

    def _new(self, kinds: list[str]) -> SoakedStudy:
        self._made += 1
        images = "images" in kinds and (len(kinds) == 1 or self._random.random() < SHARE_OF_IMAGES)
        kind = "images" if images else next(kind for kind in kinds if kind != "images")
        path = self._place / f"{kind}-{self._made}"
        file = path.with_suffix(".yaml")
        file.write_text(STUDIES[kind].replace("DATA", str(self._data)))
        return SoakedStudy(kind, path, file, self._place / f"cache-{self._made}")

    def _aim(self, study: SoakedStudy) -> tuple[str, int]:
        """A phase, and how many of its kind to let pass before."""
        phase = self._random.choice((*PHASES, *(OF_IMAGES if study.kind == "images" else ())))
        return phase, self._random.choice((0, 0, 1)) if phase in OFTEN else 0

    def _live(self, study: SoakedStudy, aim: tuple[str, int] | None) -> Life:
        """Start sizer and kill it where it is aimed at; without an aim it may end."""
        read_end, write_end = os.pipe()
        begun = (study.path / "study.yaml").exists()
        words = ["resume", str(study.path)] if begun else ["run", str(study.file), "--out", str(study.path)]
        with (self._place / "said.log").open("w+") as log:
            process = subprocess.Popen(
                [sys.executable, str(HERE / "soak_sizer.py"), *words],
                env={**self._environment(study), PIPE: str(write_end)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=(write_end,),
                start_new_session=True,
            )
            os.close(write_end)
            watch = _Watch(read_end, self._seen)
            killed = self._kill_in_time(process, watch, aim)
            status = process.wait()
            watch.read_all()
            os.close(read_end)
            log.seek(0)
            text = log.read()
        phase = (watch.phase() if killed and status == -signal.SIGKILL else None) if aim else None
        return Life(process.pid, phase, status, "clean-up" in watch.ended, tuple(watch.stored), text)

    def _kill_in_time(self, process: subprocess.Popen[bytes], watch: _Watch, aim: tuple[str, int] | None) -> bool:
        began, kill_at = time.monotonic(), None
        to_be_suspended = aim is not None and self._random.random() < SHARE_SUSPENDED
        if aim is not None and aim[0] in USUAL_SECONDS:
            kill_at = began + self._within(aim[0])
        while True:
            now = time.monotonic()
            if now - began > LIFE_SECONDS:
                process.kill()
                raise SystemExit(f"sizer has not ended after {LIFE_SECONDS:.0f} s")
            if kill_at is not None and now >= kill_at and aim is not None and to_be_suspended:
                to_be_suspended = False
                self._suspend(process)
                kill_at = time.monotonic() + self._within(aim[0])
            elif kill_at is not None and now >= kill_at:
                process.kill()
                return True
            if not watch.wait(1.0 if kill_at is None else kill_at - now):
                return False
            if kill_at is None and aim is not None and watch.begun[aim[0]] > aim[1]:
                kill_at = time.monotonic() + self._within(aim[0])

    def _suspend(self, process: subprocess.Popen[bytes]) -> None:
        self.table.suspended += 1
        process.send_signal(signal.SIGSTOP)
        time.sleep(SUSPENDED_SECONDS)
        process.send_signal(signal.SIGCONT)

    def _within(self, phase: str) -> float:
        seen = self._seen[phase][-20:]
        return self._random.uniform(0.0, mean(seen) if seen else USUAL_SECONDS.get(phase, 0.5))

    def _look(self, study: SoakedStudy, life: Life) -> None:
        """What the kill has cost, and whether this start had removed what the ones before it left."""
        phase = life.phase or "the end"
        if life.phase is not None:
            self.table.kills[life.phase] += 1
        if life.status not in (-signal.SIGKILL, 0, 4):
            raise SystemExit(f"sizer ended with exit status {life.status}: {life.said.strip()[-2000:]}")
        self.table.add("lost", phase, soak_checks.lost(study.runs, study.path))
        before, study.runs = study.runs, soak_checks.finished(study.path)
        self.table.finished += len(set(study.runs) - set(before))
        unstored = [run for run in life.stored if f"{run}.json" not in study.runs]
        self.table.add("lost", phase, (f"run {run} was reported as stored and is not there" for run in unstored))
        new = {name: content for name, content in study.runs.items() if name not in before}
        self.table.add("lost", phase, soak_checks.slow(new))
        gone = FILES - sum(1 for _ in self._data.iterdir())
        self.table.add("lost", phase, [f"{gone} files of the user's data are gone"] if gone else [])
        self.table.add("unreadable", phase, soak_checks.unreadable(study.path, self._environment(study)))
        if life.cleaned_up:
            self.table.cleaned += 1
            self._look_about(study)
        self._dead[life.pid] = phase

    def _look_about(self, study: SoakedStudy) -> None:
        deadline = time.monotonic() + 2.0  # The kernel frees a loop device a moment after it is let go.
        while (left := soak_checks.lying_about(self._dead, self._place)) and time.monotonic() < deadline:
            time.sleep(0.1)
        writing = {(str(path), path.stat().st_ino, path.stat().st_ctime_ns) for path in study.path.rglob("*.tmp")}
        left += [name for name, _, _ in writing & study.writing]
        study.writing = writing
        for name in left:
            self.table.add(
                "left", next((phase for pid, phase in self._dead.items() if f"-{pid}-" in name), "?"), [name]
            )

    def _conclude(self, study: SoakedStudy) -> None:
        """A study that ended by itself has all that one has that was never killed."""
        self.table.studies += 1
        wanted = {"study.yaml", "host.json", "runs", "logs", "model.json", "recommendation.json", "measurements.csv"}
        missing = (wanted | {"report.html"}) - {path.name for path in study.path.iterdir()}
        self.table.add("incomplete", "the end", (f"{study.path} has no {name}" for name in sorted(missing)))
        shutil.rmtree(study.cache, ignore_errors=True)

    def _finish(self, study: SoakedStudy, kinds: list[str]) -> None:
        """Let the last study end, and measure each kind of study once more without a kill: the same runs are there."""
        life = self._live(study, None)
        self._look(study, life)
        self._conclude(study)
        for kind in sorted(kinds):
            whole = self._new([kind])
            self._look(whole, self._live(whole, None))
            for path in self._place.glob(f"{kind}-*/"):
                runs = set(soak_checks.finished(path))
                if runs != set(whole.runs):
                    self.table.add("incomplete", "the end", [f"{path} has other runs than {whole.path}"])
        self.table.add("left", "the end", soak_checks.lying_about(self._dead, self._place))

    def _environment(self, study: SoakedStudy) -> dict[str, str]:
        scratch = self._place / "tmp"
        scratch.mkdir(exist_ok=True)
        packages = os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        ours = {"SIZER_CACHE": str(study.cache), "TMPDIR": str(scratch), "PYTHONPATH": packages}
        return {**os.environ, **ours}


class _Watch:
    """What sizer tells on its pipe."""

    def __init__(self, descriptor: int, seen: defaultdict[str, list[float]]) -> None:
        self.begun: Counter[str] = Counter()
        self.ended: set[str] = set()
        self.stored: list[str] = []
        self._descriptor = descriptor
        self._seen = seen
        self._stack: list[tuple[str, float]] = []
        self._rest = b""

    def wait(self, seconds: float) -> bool:
        """Take what comes within so many seconds; False when sizer has ended."""
        if not select.select([self._descriptor], [], [], max(0.0, seconds))[0]:
            return True
        data = os.read(self._descriptor, 65536)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(*line.decode().split(" ", 1))
        return bool(data)

    def read_all(self) -> None:
        while self.wait(0.5):
            pass

    def phase(self) -> str:
        """What sizer is doing."""
        if self._stack:
            return self._stack[-1][0]
        return BETWEEN if "clean-up" in self.ended else START_UP

    def _take(self, word: str, what: str) -> None:
        if word == "stored":
            self.stored.append(what)
        elif word == ">":
            self.begun[what] += 1
            self._stack.append((what, time.monotonic()))
        else:
            phase, began = self._stack.pop()
            self.ended.add(phase)
            self._seen[phase].append(time.monotonic() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--studies", nargs="+", choices=list(STUDIES), default=list(STUDIES))
    arguments = parser.parse_args()
    began = time.monotonic()
    place = Path(tempfile.mkdtemp(prefix="soak-"))
    soak = Soak(place, arguments.seed)
    soak.go(arguments.kills, arguments.studies)
    soak.table.print(time.monotonic() - began)
    if soak.table.faults:
        print(f"what there is lies in {place}")
        return 1
    shutil.rmtree(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
