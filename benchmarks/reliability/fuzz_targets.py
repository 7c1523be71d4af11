"""Every file that sizer reads, valid, and the commands that read it: a small study folder of runs that were measured
for other benchmarks, a catalogue, and tables.
"""

from __future__ import annotations

import csv
import io
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

from fuzz_mutations import spoiled_file
from fuzz_sandbox import ARGUMENTS, CaseVerdict, Sandbox, parsed, pieces
from hypothesis import strategies as st

from sizer.analysis.events import EventError, EventReader
from sizer.analysis.log_rates import LogRates
from sizer.cli.tables import COLUMNS
from sizer.exchange.imported import read_measurements
from sizer.files.codec import from_json, to_json
from sizer.records.frameworks import LOG_FORMATS
from sizer.records.messages import InputError
from sizer.records.run import Run
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.study.resolved import to_yaml

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

STUDY = "study"
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
    ("run", "new.yaml", "--dry-run", "--out", STUDY),
)
EVENTS = (
    b'{"event":"start","sample_unit":"image","batch_size":32,"dataset_bytes":9,"dataset_samples":3,"bytes_per_sample":3}',
    *(b'{"event":"step","time":%d.5,"samples":32,"input_wait":0.1,"epoch":0,"latency":0.2}' % at for at in range(5)),
    b'{"event":"end"}',
)
LOG = (
    b"Epoch[0] Batch [20-40]\tSpeed: 1234.56 samples/sec",
    b"Iteration 40 (1.25 iter/s, 16s/20 iters), loss = 6.9",
    b"Epoch: [1][20/5004]\tTime 0.387 (0.412)",
    b"10\timages/sec: 219.1 +/- 0.0 (jitter = 0.1)",
    b"Minibatch[ 1- 10]: time = 1.234s; samplesPerSecond = 219.1",
    b"Epoch 0   [Train |####| 390/390 batches, 2.30 cost, 5.82s]",
)
MEASURED = "measurements.csv"
WRITTEN = """\
# What is to be measured, as a person writes it.
name: fuzzed
workloads:
  - name: train
    kind: image_training
    network: resnet50
    batch_size: [16, 32]
    device: {emulate: {samples_per_second: 328.2, gpu: V100, source: a benchmark}}
  - {name: infer, kind: image_inference, network: squeezenet, cache: natural, memory_floor: true}
  - name: own
    kind: command
    command: [python3, train.py, --epochs, 2, --name, "a b"]
    pattern: 'rate (?P<rate>[\\d.]+)'
    sample_unit: word
    axes: {vcpus: [0.5, 1, 2], memory: [], disk: []}
axes:
  vcpus: [0.5, 1, 2]
  memory: [220MiB, 320MiB]
  disk: [slow, fast]
disks:
  slow: {emulate: {class: standard, read_iops: 500, read_mbps: 20}}
  fast: {emulate: {class: nvme, read_iops: 8000, read_mbps: 160, write_iops: 8000, write_mbps: 160}, size: 500GiB}
around: {vcpus: 2, memory: 320MiB, disk: fast}
embedded_images: 400
measure: {repeats: 2, seconds: 6, precision: 0.02, seed: 1, timeout: 600}
objective: {prefer: cheapest, target: 0.95}
"""
HOST = {
    "cpu_model": "AMD EPYC 9B45",
    "cpus": 2,
    "topology": "2 CPUs, no hyperthreads seen",
    "hyperthreads": False,
    "memory_bytes": 24 * GIB,
    "swap_bytes": 0,
    "kernel": "6.1.0",
    "limits": "cgroup v1",
    "gpus": [],
    "fio": "fio-3.33",
    "packages": {"mxnet": "1.9.1", "numpy": "1.26.4"},
}
STORED = Path(__file__).parent / "runs"
MEASURED_RUNS = {"train": RUNS, "infer": STORED / "infer.jsonl", "own": STORED / "own.jsonl"}
"""Where the runs of each workload of the study are from."""
DISKS_HEADER = (
    "provider,disk_tier,class,read_iops_base,read_iops_per_gib,read_iops_max,read_mbps_base,read_mbps_per_gib,"
    "read_mbps_max,min_gib,max_gib,latency_ms,usd_per_gib_month,confidence,as_of,source"
)
MEASURED_ELSEWHERE = (
    "workload;vcpus;memory_gib;gpu;gpu_count;epoch;throughput;throughput_low;throughput_high;outcome;note\n"
    "res;2;8;V100;1;0;90;;;;first\nres;2;8;V100;1;1;180;175;186;;\nres;8;8;V100;2;1;350.5;;;;\n"
    "res;8;4;V100;2;;;;;out_of_memory;'=1+1\nlm;0.5;;;;;12.5;;;;\nlm;1;;;;;25;;;completed;\n"
)
INSTANCES_HEADER = (
    "provider,region,instance_type,vcpus,memory_gib,gpu,gpu_count,gpu_memory_gib,local_nvme_gib,disk_cap_mbps,"
    "usd_per_hour,confidence,as_of,source"
)
RATES_HEADER = "mode,network,gpu,precision,batch_size,samples_per_second,framework,as_of,source"
IMPORTED = {
    "instances.csv": f"{INSTANCES_HEADER}\naws,us,g4dn.xlarge,4,16,T4,1,16,125,600,0.526,documented,2026-07-20,a page\n"
    "alibaba,,ecs.g6,2,8,,,,,,,,2026-07-20,a page\n",
    "disks.csv": f"{DISKS_HEADER}\nalibaba,cloud_ssd,ssd,1800,30,25000,120,0.5,300,20,32768,1,0.1,,2026-07-20,a page\n"
    "aws,st1,standard,,0,500,,0.04,500,125,16384,,0.045,documented,2026-07-20,a page\n",
    "rates.csv": f"{RATES_HEADER}\ntrain,resnet50,P100,fp32,64,219,TensorFlow,2017-05-01,a page\n"
    "infer,resnet50,T4,fp16,,1200,TensorRT,2020-01-01,a page\n",
}


@dataclass(frozen=True)
class Target:
    """What is spoiled: its name, how many of 10,000 cases it gets, its cases, and what judges one of them."""

    name: str
    share: int
    cases: st.SearchStrategy[Case]
    judge: Callable[[Case], CaseVerdict]


def targets(sandbox: Sandbox) -> tuple[Target, ...]:
    """All of them, over the valid files in the sandbox."""
    root, judge = sandbox.root, sandbox.judge
    runs = sorted(str(path.relative_to(root)) for path in (root / STUDY / "runs").glob("*.json"))
    dry = ("run", "new.yaml", "--dry-run", "--out", "new")
    at = [("predict", STUDY, "--at", "places.csv"), (*PREDICT, "--at", "places.csv")]
    offers = [("recommend", STUDY, "--catalog", "offers.csv"), ("catalog", "validate", "offers.csv")]
    listed = [("catalog", "list", "offers.csv"), ("catalog", "list", "--json", "offers.csv")]
    concluding = [words for words in READING if words[0] in ("fit", "predict", "recommend", "report")]

    # The page takes ten times as long as what it is made of.
    seldom_the_page = [*READING, *(words for words in READING if words[0] != "report")]

    def spoil(name: str, share: int, paths: Sequence[str], words: Sequence[Words], codes: frozenset[int]) -> Target:
        contents = {path: (root / path).read_bytes() for path in paths}
        return Target(name, share, _cases(name, contents, words, codes), judge)

    imports = {name: text.encode() for name, text in IMPORTED.items()}
    importing = st.sampled_from(sorted(imports)).flatmap(
        lambda name: _cases("catalogue, import", {name: imports[name]}, [("catalog", "import", name)], LOOKS)
    )
    return (
        spoil("study.yaml", 1800, ["new.yaml"], [dry, dry, (*dry, "--preset", "quick")], ASKS),
        spoil("study.yaml, resolved", 900, [f"{STUDY}/study.yaml"], READING, ANSWERS | ASKS),
        spoil("runs/<id>.json", 1800, runs, seldom_the_page, ANSWERS),
        spoil("host.json", 700, [f"{STUDY}/host.json"], READING, ANSWERS),
        spoil("model.json", 200, [f"{STUDY}/model.json"], concluding, frozenset({0})),
        spoil("recommendation.json", 100, [f"{STUDY}/recommendation.json"], [("report", STUDY)], frozenset({0})),
        spoil("predict --at", 1200, ["places.csv"], at, ANSWERS),
        spoil("catalogue", 1200, ["offers.csv"], [*offers, *offers, *listed], ANSWERS),
        Target("catalogue, import", 700, importing, judge),
        Target("import", 900, _measured_tables(root), lambda case: parsed(case, _import)),
        Target("arguments", 300, arguments(), judge),
        Target("event pipe", 100, _lines("event pipe", EVENTS), lambda case: parsed(case, _read_events)),
        Target("log lines", 100, _lines("log lines", LOG), lambda case: parsed(case, _read_log)),
    )


def write_files(root: Path) -> Sandbox:
    """A new sandbox with one valid file of each kind."""
    for folder in ("temporary", "cache"):
        (root / folder).mkdir(parents=True)
    write_study(root / STUDY)
    (root / "new.yaml").write_text(WRITTEN)
    (root / "offers.csv").write_text(IMPORTED["instances.csv"])
    rows = list(csv.DictReader(io.StringIO((root / STUDY / MEASURED).read_text())))
    with (root / "places.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS, "throughput"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows[:6])
    for name, text in IMPORTED.items():
        (root / name).write_text(text)
    (root / ARGUMENTS).write_text("")
    return Sandbox(root)


def write_study(folder: Path) -> None:
    """A finished study in `folder`: three workloads, with model, recommendation, table and page."""
    study = parse_study(WRITTEN, str(folder / "study.yaml"), None, HostSize(2, 24 * GIB), None)
    workloads = {plan.workload.name: plan.workload for plan in study.workloads}
    with StudyFolder.create(folder, study, HOST, [Note(NoteKind.NO_MEMORY_AXIS, fix="sudo sizer demo")]) as made:
        for run in _runs():
            spec = replace(run.spec, workload=workloads[run.spec.workload.name], measure=study.measure)
            disk = run.disk and replace(run.disk, tier=study.disk(run.disk.tier.name))
            made.add(replace(run, spec=spec, disk=disk, wall_seconds=9.5))
            made.log_path(run.id).write_text("one line\n")
    table = io.StringIO()
    for words, out in (
        ("recommend", io.StringIO()),
        ("report", io.StringIO()),
        ("fit", io.StringIO()),
        ("export", table),
    ):
        with redirect_stdout(out):
            code = main([words, str(folder)])
        if code:
            raise RuntimeError(f"sizer {words} ends with {code} on the study that nothing has spoiled")
    (folder / MEASURED).write_text(table.getvalue())


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


def _cases(
    target: str, contents: dict[str, bytes], words: Sequence[Words], codes: frozenset[int]
) -> st.SearchStrategy[Case]:
    def of(path: str) -> st.SearchStrategy[Case]:
        form = Path(path).suffix.removeprefix(".")
        spoiled = spoiled_file(contents[path], form)
        return st.builds(Case, st.just(target), st.just(path), spoiled, st.sampled_from(list(words)), st.just(codes))

    return st.sampled_from(sorted(contents)).flatmap(of)


def _measured_tables(root: Path) -> st.SearchStrategy[Case]:
    """measurements.csv, and a table as anybody has one."""
    contents = {"own.csv": (root / STUDY / MEASURED).read_bytes(), "table.csv": MEASURED_ELSEWHERE.encode()}
    return _cases("import", contents, [("import",)], LOOKS)


def _import(content: bytes) -> int:
    """What a table tells is refused in one sentence, or is a study whose every record a folder can hold."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(content)
        try:
            found = read_measurements(path, None)
        except InputError as error:
            if not str(error).startswith(str(path)) or "\n" in str(error):
                raise ValueError(f"does not name its file in one sentence: {error}") from error
            return 2
    for run in found.runs:
        if from_json(Run, to_json(run), "run") != run:
            raise ValueError(f"does not come back: {run}")
    if parse_study(to_yaml(found.study), "study.yaml", None, HostSize(1, 1), None) != found.study:
        raise ValueError(f"does not come back: {found.study}")
    return 0


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


def _lines(target: str, lines: Sequence[bytes]) -> st.SearchStrategy[Case]:
    """Some of the lines, each perhaps spoiled, in any order."""
    line = st.sampled_from(list(lines))
    broken = line.flatmap(lambda each: spoiled_file(each, "json" if each.startswith(b"{") else "csv"))
    ordered = st.just(list(lines)).map(lambda all_: all_[:])
    content = st.lists(line | broken, max_size=12) | st.tuples(ordered, broken, st.integers(0, 6)).map(_put)
    ends = st.sampled_from([b"\n", b"\r", b"\r\n"])
    whole = st.tuples(content, ends).map(lambda both: both[1].join(both[0]) + both[1])
    return st.builds(Case, st.just(target), st.just("pipe"), whole, st.just((target,)), st.just(frozenset({0, 4})))


def _put(parts: tuple[list[bytes], bytes, int]) -> list[bytes]:
    lines, line, at = parts
    return [*lines[:at], line, *lines[at + 1 :]]


def _read_events(content: bytes) -> int:
    reader = EventReader()
    try:
        for piece in pieces(content):
            reader.feed(piece)
        reader.close()
    except EventError:
        return 4
    return 0


EXPRESSIONS = (
    r"(?P<rate>\S+)/s",
    r"step (?P<step>\S+) .*?(?P<milliseconds>\S+) ?ms",
    r"(?P<done>\d+)/(?P<total>\d+).*?(?P<elapsed>\S+)s",
)
"""A user's own, with each kind of group."""


def _read_log(content: bytes) -> int:
    """By every pattern, and without one, on a clock that steps on."""
    for pattern in (None, *LOG_FORMATS, *EXPRESSIONS):
        ticks = iter(range(10**9))
        rates = LogRates(pattern, 32, lambda ticks=ticks: float(next(ticks)))  # type: ignore[misc]
        for piece in pieces(content):
            for step in rates.feed(piece):
                if step.samples < 0:
                    raise ValueError(f"a step of {step.samples} samples")
    return 0
