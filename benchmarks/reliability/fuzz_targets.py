"""Every file that sizer reads, valid, and the commands that read it: a small study folder of runs that were measured
for other benchmarks, a catalogue, and tables.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

from fuzz_mutations import spoiled_file
from fuzz_sandbox import ARGUMENTS, Sandbox
from hypothesis import strategies as st

from sizer.cli.tables import COLUMNS
from sizer.records.run import Run
from sizer.study.parse import read_study
from sizer.study.presets import HostSize

sys.path.append(str(Path(__file__).parents[1] / "grid"))

from fuzz_mutations import WORDS
from fuzz_sandbox import Case
from grid_data import RUNS, load_grid

from sizer.cli import main
from sizer.records.notes import Note, NoteKind
from sizer.records.run import Cause, CauseKind, Failure, Sample, Step
from sizer.records.run_kinds import Outcome
from sizer.records.units import GIB
from sizer.store.study_folder import StudyFolder

Words = tuple[str, ...]
ANSWERS, LOOKS, ASKS = frozenset({0, 2, 5}), frozenset({0, 2}), frozenset({0, 2, 3})

STUDY, OTHER = "study", "other"
PREDICT = ("predict", STUDY, "--workload", "train", "--vcpus", "1.5", "--json")
READING: tuple[Words, ...] = (
    ("status", STUDY),
    ("status", STUDY, "--json"),
    ("fit", STUDY),
    PREDICT,
    ("recommend", STUDY),
    ("recommend", STUDY, "--objective", "balanced", "--json"),
    ("report", STUDY),
    ("export", STUDY),
    ("export", STUDY, "--json"),
    ("family", STUDY),
    ("compare", STUDY, OTHER),
    ("run", "new.yaml", "--dry-run", "--out", STUDY),
)
STORED, VALID = (Path(__file__).parent / name for name in ("runs", "valid"))
PRICE_LISTS = Path(__file__).parents[2] / "tests/stored/price_lists"
"""Excerpts of real ones, each in the form of its source."""
IMPORTED, MEASURED = ("instances.csv", "disks.csv", "rates.csv"), "measurements.csv"
MEASURED_RUNS = {"train": RUNS, "infer": STORED / "infer.jsonl", "own": STORED / "own.jsonl"}
"""Where the runs of each workload of the study are from."""


@dataclass(frozen=True)
class Target:
    """What is spoiled: its name, how many of 10,000 cases it gets, and its cases."""

    name: str
    share: int
    cases: st.SearchStrategy[Case]


def targets(root: Path) -> tuple[Target, ...]:
    """All of them, over the valid files in the sandbox."""
    runs = sorted(str(path.relative_to(root)) for path in (root / STUDY / "runs").glob("*.json"))
    dry = ("run", "new.yaml", "--dry-run", "--out", "new")
    at = [("predict", STUDY, "--at", "places.csv"), (*PREDICT, "--at", "places.csv")]
    offers = [("recommend", STUDY, "--catalog", "offers.csv"), ("catalog", "validate", "offers.csv")]
    listed = [("catalog", "list", "offers.csv"), ("catalog", "list", "--json", "offers.csv")]
    family = [("family", STUDY, "--weights", "weights.csv", "--prices", "prices.csv", "--max-penalty", "300%")]
    there = [("predict", STUDY, "--workload", "infer", "--on", "aws/c6i.2xlarge", "--calibrate", "there.csv")]
    lists = [str(path.relative_to(root)) for path in sorted((root / PRICE_LISTS.name).rglob("*.[cgj]*"))]
    concluding = [words for words in READING if words[0] in ("fit", "predict", "recommend", "report")]
    # The page takes ten times as long as what it is made of.
    seldom_the_page = [*READING, *(words for words in READING if words[0] != "report")]

    def spoil(name: str, share: int, paths: Sequence[str], words: Sequence[Words], codes: frozenset[int]) -> Target:
        def of(path: str) -> st.SearchStrategy[Case]:
            content = spoiled_file((root / path).read_bytes(), Path(path).suffix.removeprefix("."))
            typed = st.sampled_from(words).map(lambda words: tuple(word.format(path=path) for word in words))
            return st.builds(Case, st.just(name), st.just(path), content, typed, st.just(codes))

        return Target(name, share, st.sampled_from(list(paths)).flatmap(of))

    return (
        spoil("study.yaml", 1800, ["new.yaml"], [dry, dry, (*dry, "--preset", "quick")], ASKS),
        spoil("study.yaml, resolved", 900, [f"{STUDY}/study.yaml"], READING, ANSWERS | ASKS),
        spoil("runs/<id>.json", 1800, runs, seldom_the_page, ANSWERS),
        spoil("host.json", 700, [f"{STUDY}/host.json"], READING, ANSWERS),
        spoil("model.json", 200, [f"{STUDY}/model.json"], concluding, frozenset({0})),
        spoil("recommendation.json", 100, [f"{STUDY}/recommendation.json"], [("report", STUDY)], frozenset({0})),
        spoil("predict --at", 1200, ["places.csv"], at, ANSWERS),
        spoil("catalogue", 1200, ["offers.csv"], [*offers, *offers, *listed], ANSWERS),
        spoil("catalogue, import", 700, IMPORTED, [("catalog", "import", "{path}")], LOOKS),
        spoil("price lists", 500, lists, [("catalog", "import", "{path}"), ("catalog", "list", "{path}")], LOOKS),
        spoil("family's tables", 500, ["weights.csv", "prices.csv"], family, ANSWERS),
        spoil("predict --calibrate", 300, ["there.csv"], there, ANSWERS),
        spoil("import", 900, ["own.csv", "table.csv"], [("import", "{path}", "--out", "new")], LOOKS),
        Target("arguments", 300, arguments()),
    )


def write_files(root: Path) -> Sandbox:
    """A new sandbox with one valid file of each kind."""
    shutil.copytree(VALID, root)
    shutil.copytree(PRICE_LISTS, root / PRICE_LISTS.name)
    for folder in ("temporary", "cache"):
        (root / folder).mkdir()
    write_study(root / STUDY)
    shutil.copytree(root / STUDY, root / OTHER)
    table = (root / STUDY / MEASURED).read_text()
    (root / "own.csv").write_text(table)
    with (root / "places.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS, "throughput"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(list(csv.DictReader(io.StringIO(table)))[:6])
    (root / ARGUMENTS).write_text("")
    return Sandbox(root)


def write_study(folder: Path) -> None:
    """A finished study in `folder`: three workloads, with model, recommendation, table and page."""
    study = read_study(VALID / "new.yaml", None, HostSize(2, 24 * GIB), None)
    host = json.loads((STORED / "host.json").read_text())
    workloads = {plan.workload.name: plan.workload for plan in study.workloads}
    with StudyFolder.create(folder, study, host, [Note(NoteKind.NO_MEMORY_AXIS, fix="sudo sizer demo")]) as made:
        for run in _runs():
            spec = replace(run.spec, workload=workloads[run.spec.workload.name], measure=study.measure)
            disk = run.disk and replace(run.disk, tier=study.disk(run.disk.tier.name))
            made.add(replace(run, spec=spec, disk=disk, wall_seconds=9.5))
            made.log_path(run.id).write_text("one line\n")
    for words in ("recommend", "report", "fit", "export"):
        with redirect_stdout(io.StringIO()) as out:
            code = main([words, str(folder)])
        if code:
            raise RuntimeError(f"sizer {words} ends with {code} on the study that nothing has spoiled")
    (folder / MEASURED).write_text(out.getvalue())


def _runs() -> Iterator[Run]:
    """One repeat of each; of training those around the centre, and in less memory it is as if it had run out."""
    for name, path in MEASURED_RUNS.items():
        for run in load_grid(path):
            limits, own = run.spec.limits, run.spec.workload.name
            beside = (limits.vcpus != 2) + (limits.memory_bytes != 320 << 20) + (limits.disk != "fast")
            elsewhere = limits.vcpus == 1.5 or limits.disk == "middle"
            if run.spec.repeat or elsewhere or (name == "train" and (own != "train-v100" or beside > 1)):
                continue
            run = replace(run, spec=replace(run.spec, workload=replace(run.spec.workload, name=name)))
            yield _failed(run) if limits.memory_bytes == 220 << 20 else _with_series(run)


def _failed(run: Run) -> Run:
    failure = Failure(Cause(CauseKind.MEMORY_CAP), last_lines="Killed")
    return replace(run, outcome=Outcome.OUT_OF_MEMORY, error=failure, throughput=None)


def _with_series(run: Run) -> Run:
    steps = tuple(Step(100.0 + 0.1 * number, 32, 0.01, 0, 0.09) for number in range(6))
    return replace(run, steps=steps, samples=tuple(Sample(100.0 + 0.5 * at, 0.4 * at, 2**29) for at in range(4)))


def arguments() -> st.SearchStrategy[Case]:
    """Words behind every option that takes one, and in the environment."""
    word = (st.sampled_from(WORDS) | st.text(max_size=12)).filter(lambda text: "\0" not in text)
    word = word.map(lambda text: text.encode("utf-8", "replace").decode())
    options = [
        *(("predict", STUDY, "--workload", "train", option) for option in ("--vcpus", "--memory", "--disk")),
        *(("predict", STUDY, "--workload", "train", option) for option in ("--batch-size", "--gpu-speedup", "--at")),
        *(("predict", STUDY, "--workload", "train", option) for option in ("--gpu", "--gpu-count", "--disk-iops")),
        *(("predict", STUDY, "--workload", "train", option) for option in ("--data-size", "--decode-factor")),
        ("predict", STUDY, "--workload"),
        *(("recommend", STUDY, option) for option in ("--target", "--objective", "--catalog")),
        *((command,) for command in ("status", "fit", "export", "run", "report", "frobnicate", "catalog")),
        ("catalog", "validate"),
        ("catalog", "import"),
        ("run", "new.yaml", "--dry-run", "--preset"),
        ("run", "new.yaml", "--dry-run", "--out"),
        ("disks", "check", "--seconds"),
    ]
    environment = st.dictionaries(st.sampled_from(["SIZER_CACHE", "HOME", "COLUMNS"]), word, max_size=1)
    return st.builds(
        lambda words, last, around: Case("arguments", ARGUMENTS, b"", (*words, last), ANSWERS | ASKS, around),
        st.sampled_from(options),
        word,
        environment,
    )
