"""Every run as one line that opens to its evidence, and how it was measured."""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from sizer.bundled.reports import measurement
from sizer.bundled.reports.measurement import downloads
from sizer.bundled.reports.page import render
from sizer.bundled.reports.runs import all_runs, evidence_card, timelines
from sizer.bundled.reports.subject import Material, Subject, subjects
from sizer.cli import main
from sizer.exchange.measurements import write_tables
from sizer.records import run as records
from sizer.records.device import GpuUse
from sizer.records.prediction import Bottleneck, Estimate
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import DiskTier

# Every run as one line that opens to its evidence.


CONTENDED = records.RunWarning(records.WarningKind.CONTENDED, {"cores": 0.3})
SHORT = records.RunWarning(records.WarningKind.SHORT, {"seconds": 4.0})


def line(material: Material, run: records.Run) -> dict[str, Any]:
    """The line of that run in a study of its own."""
    alone = replace(material, runs=(run,))
    (group,) = all_runs.contents(alone, subjects(alone))["runs"]
    (own_line,) = group["runs"]
    return dict(own_line)


def test_a_line_tells_the_essentials(material: Material) -> None:
    """Its configuration, the rate with its interval, the bottleneck with its reason, and the kinds of its warnings."""
    run = replace(
        material.runs[0], warnings=(CONTENDED, records.RunWarning(records.WarningKind.CONTENDED, {"cores": 0.7}), SHORT)
    )
    shown_line = line(material, run)
    place = [shown_line[name] for name in ("vcpus", "memory", "disk", "batch", "repeat")]
    assert place == ["0.5 vCPU", "4 GiB", "fast (emulated)", "batch 32", "repeat 1"]
    assert "images/s (" in shown_line["rate"]
    assert (shown_line["bound"], shown_line["why"]) == ("CPU", "the vCPUs 100 % busy")
    assert shown_line["warned"] == "contended, short"
    assert shown_line["state"] == ""


def test_a_run_that_failed_shows_the_end_of_its_error(material: Material) -> None:
    """Its line gives the reason with the last line of the log, its card the last five, all that an error holds."""
    last_words = "\n".join(f"line {number}" for number in range(20))
    run = replace(
        material.runs[0],
        outcome=Outcome.CRASHED,
        error=records.Failure(records.Cause(records.CauseKind.EXIT_STATUS, {"status": 1}), last_lines=last_words),
        throughput=None,
    )
    shown_line = line(material, run)
    assert (shown_line["outcome"], shown_line["rate"], shown_line["bound"], shown_line["why"]) == (
        "crashed",
        "",
        "",
        "the workload ended with exit status 1; its last words: line 19",
    )
    assert shown_line["last_words"] == "line 15\nline 16\nline 17\nline 18\nline 19"


def facts(run: records.Run) -> dict[str, dict[str, tuple[str, str]]]:
    """Value and remark by group and label."""
    return {
        group["title"]: {label: (value, remark) for label, value, remark in group["facts"]}
        for group in evidence_card.groups(run)
    }


@pytest.fixture(scope="module")
def run(runs: tuple[records.Run, ...]) -> records.Run:
    """220 images/s on 2 vCPUs, with all that a host may account for."""
    return replace(runs[8], throughput=Estimate(200.0, 197.0, 203.0))


USED = records.Demand(
    core_seconds=0.009,
    **{"read_bytes": 113_000.0, "read_ios": 0.5, "written_bytes": 0.0, "write_ios": 0.0, "asked_bytes": 226_000.0},
    **{"input_wait": 0.0006, "cpu_stall": 0.001, "memory_stall": 0.0, "io_stall": 0.00155},
)
HOOK = records.Meter(records.MeterKind.HOOK, "torch")
STATED = records.Declared(stated={"compile": False})


@pytest.mark.parametrize(
    ("group", "changes", "label", "fact"),
    [
        ("Rate", {}, "Throughput", ("200 images/s (197–203)", "±1.5 %")),
        ("Rate", {}, "Measured", ("6 s", "precise enough")),
        ("Rate", {}, "sizer's own use", ("0.3 %", "")),
        ("Rate", {"meter": records.Meter(records.MeterKind.EVENTS)}, "Steps counted", None),
        ("Rate", {"meter": records.Meter(records.MeterKind.LOG, "tqdm")}, "Steps counted", ("by its log (tqdm)", "")),
        (
            "Rate",
            {"meter": records.Meter(records.MeterKind.HOOK, "torch")},
            "Steps counted",
            ("by the hook in PyTorch", ""),
        ),
        ("Waiting", {"demand": USED}, "For input", ("12 % of the time", "600 µs an image")),
        ("Waiting", {"demand": USED}, "Stalled", ("CPU 20 %, memory 0 %, disk 31 %", "")),
        ("Processor", {"demand": USED}, "Cores used", ("1.8 of 2 vCPUs", "9 core-ms an image")),
        ("Processor", {}, "Others on this host", ("0.04 cores", "")),
        ("Processor", {}, "Stolen by the hypervisor", None),
        ("Memory", {}, "Highest", ("630 MiB of 1 GiB", "")),
        ("Memory", {}, "Anonymous", ("570 MiB", "")),
        ("Memory", {}, "Swap", ("none", "")),
        ("Disk", {"demand": USED}, "Read", ("22.6 MB/s of 338 MB/s", "113 kB an image")),
        ("Disk", {"demand": USED}, "Read, IOs", ("100/s of 19,800/s", "0.5 an image")),
        ("Disk", {"demand": USED}, "Written", ("nothing", "")),
        ("Disk", {"demand": USED}, "Asked for", ("226 kB an image", "")),
        ("Options", {"declared": STATED}, "compile", ("false", "")),
        ("Options", {}, "compile", None),
    ],
)
def test_what_a_figure_rests_on(
    run: records.Run, group: str, changes: dict[str, Any], label: str, fact: tuple[str, str] | None
) -> None:
    """Value and remark, each beside its limit or a sample; what was not accounted is left out."""
    shown_fact = facts(replace(run, **changes)).get(group, {}).get(label)
    assert shown_fact == fact or (shown_fact and fact and (shown_fact[0].replace("\u00a0", " "), shown_fact[1]) == fact)


def test_the_first_epoch_stands_beside_the_rate_that_counts(run: records.Run) -> None:
    """With a natural cache that is the rate of the later epochs."""
    first = replace(run, rate=replace(run.rate, first_epoch_throughput=100.0))
    assert facts(first)["Rate"]["First epoch"] == ("100 images/s", "0.5 × the throughput")
    workload = replace(run.spec.workload, cache="natural")
    natural = replace(first, spec=replace(run.spec, workload=workload))
    assert facts(natural)["Rate"]["First epoch"][1] == "0.5 × the later epochs"
    only = replace(natural, warnings=(records.RunWarning(records.WarningKind.FIRST_EPOCH),))
    assert facts(only)["Rate"]["First epoch"][1] == "0.5 × the throughput"


def test_a_gpu_has_what_its_driver_told(run: records.Run) -> None:
    """Medians, the most memory in use, what a sample cost, why its clocks were lowered and who else was there."""
    used = GpuUse(
        0,
        "V100",
        memory_bytes=16 * 2**30,
        busy=0.93,
        peak_memory_bytes=4 * 2**30,
        own_peak_memory_bytes=3 * 2**30,
        watts=250.0,
        joules=0.5,
        sm_hertz=1.38e9,
        memory_hertz=8.77e8,
        received_bytes=150e3,
        pcie_counted=False,
        held_back={"power_cap": 0.8},
        shared=0.1,
        others=("Xorg (pid 7)",),
    )
    gpu = facts(replace(run, conditions=replace(run.conditions, gpus=(used,))))["GPU"]
    assert gpu["Name"] == ("V100", "")
    assert gpu["A kernel running"] == ("93 % of the time", "")
    assert gpu["GPU memory"] == ("4 GiB of 16 GiB", "3 GiB of it its own")
    assert gpu["Clocks"][0].replace("\u00a0", " ") == "cores 1,380 MHz, memory 877 MHz"
    assert gpu["Clocks lowered"] == ("80 % of the time", "it reached its power limit")
    assert gpu["Power"] == ("250 W", "0.5 J an image")
    assert gpu["PCIe, to it"] == ("150 kB an image", "from 20 ms of each half second")
    assert gpu["Others on it"] == ("Xorg (pid 7)", "10 % of the time")
    assert "PCIe, from it" not in gpu


def test_several_gpus_are_told_apart(run: records.Run) -> None:
    """By the driver's index."""
    titles = list(facts(replace(run, conditions=replace(run.conditions, gpus=(GpuUse(0, "V100"), GpuUse(3, "V100"))))))
    assert [title for title in titles if title.startswith("GPU")] == ["GPU 0", "GPU 3"]
    assert not any(title.startswith("GPU") for title in facts(run))


@pytest.mark.parametrize(
    ("low", "high", "rising", "words"),
    [(900.0, 1500.0, True, "+1.17 KiB a step"), (-300.0, 2700.0, False, "none to be seen")],
)
def test_growth_is_told_with_its_interval(run: records.Run, low: float, high: float, rising: bool, words: str) -> None:
    """Where the interval holds zero no growth is claimed; a peak that still rose at the end is said."""
    growing = replace(
        run,
        memory=replace(
            run.memory, memory_growth=records.MemoryGrowth(Estimate(1200.0, low, high), -2048.0, 1234, rising)
        ),
    )
    memory = facts(growing)["Memory"]
    assert memory["Anonymous growth"][0] == words
    assert memory["Anonymous growth"][1].endswith("over 1,234 steps")
    assert memory["Page cache growth"][0] == "−2 KiB a step"
    assert ("At the end" in memory) == rising


MIB = 2**20


def went_on(run: records.Run, seconds: int = 20, busy: float | None = None) -> records.Run:
    """The run with a step of 32 samples and a sample of its counters each second, from its fourth second on."""
    samples = tuple(
        records.Sample(
            time=1000.0 + second,
            core_seconds=1.5 * second,
            memory_bytes=(100 + 10 * second) * MIB,
            anonymous_bytes=100 * MIB,
            page_cache_bytes=10 * second * MIB,
            read_bytes=max(0, second - 10) * 5_000_000,
            accelerator_busy=busy * second if busy is not None else None,
        )
        for second in range(seconds + 1)
    )
    steps = tuple(records.Step(1000.0 + second, 32, 0.0, epoch=second // 12) for second in range(4, seconds + 1))
    return replace(
        run, samples=samples, steps=steps, rate=replace(run.rate, warm_up_seconds=2.0, measured_seconds=10.0)
    )


def unpacked(packed: Sequence[Any], count: int) -> list[float]:
    """As the script reads it."""
    most, digits = packed
    return [most * int(digits[2 * at : 2 * at + 2], 36) / 1295 if digits else 0.0 for at in range(count)]


def inflated(packed: str) -> dict[str, Any]:
    """The timelines by the id of their run, as a browser inflates them."""
    timeline_data: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(packed)))
    return timeline_data


@pytest.fixture
def subject(material: Material) -> Subject:
    return subjects(material)[0]


def test_a_timeline_tells_what_was_sampled(material: Material) -> None:
    """Rates from counters, levels as they were, the samples of a step over the time that it took."""
    timeline = timelines.timeline(went_on(material.runs[0], busy=0.5), 48)
    assert (timeline["t"], timeline["n"], timeline["u"], timeline["b"]) == (20.0, 20, "images/s", "MiB")
    series = {name: unpacked(packed, timeline["n"]) for name, packed in timeline["s"].items()}
    assert series["x"] == pytest.approx([0.0] * 4 + [32.0] * 16, rel=1e-3)
    assert series["c"] == pytest.approx([1.5] * 20, rel=1e-3)
    assert series["a"] == pytest.approx([100.0] * 20)
    assert series["p"][-1] == pytest.approx(200.0)
    assert series["r"] == pytest.approx([0.0] * 10 + [5.0] * 10, rel=1e-3)
    assert series["w"] == [0.0] * 20
    assert series["g"] == pytest.approx([50.0] * 20, rel=1e-3)


def test_its_stages_are_marked(material: Material) -> None:
    """Where measuring began and ended, and the first epoch; of a run without a rate, nothing was measured."""
    run = went_on(material.runs[0])
    timeline = timelines.timeline(run, 48)
    assert (timeline["f"], timeline["e"], timeline["o"]) == (6.0, 16.0, 11.0)
    assert timeline["l"] == material.runs[0].configuration.vcpus
    assert timeline["k"] == "4 GiB"
    crashed = timelines.timeline(replace(run, outcome=Outcome.CRASHED, throughput=None), 48)
    assert not {"f", "e"} & crashed.keys()


@pytest.mark.parametrize("lacking", ["steps", "samples"])
def test_what_was_not_seen_is_not_drawn(material: Material, subject: Subject, lacking: str) -> None:
    """A run that made no step still has its memory; one that was not sampled has no timeline."""
    run = replace(went_on(material.runs[0]), **{lacking: ()})
    block = timelines.contents(material, [replace(subject, runs=(run,))])
    if lacking == "samples":
        assert block is None
    else:
        assert timelines.timeline(run, 48)["s"]["x"] == [0, ""]


def test_where_not_all_fit_those_that_matter_stay(
    material: Material, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Failed runs, those at the answer, references, those with warnings; of the others the page names the file."""
    plain, failed, reference, warned = (
        went_on(replace(run, warnings=(), configuration=replace(run.configuration, batch_size=7)))
        for run in material.runs[:4]
    )
    failed = replace(failed, outcome=Outcome.TIMEOUT, throughput=None)
    reference = replace(reference, spec=replace(reference.spec, purpose=Purpose.REFERENCE))
    warned = replace(warned, warnings=(records.RunWarning(records.WarningKind.SHORT, {"seconds": 1.0}),))
    own = replace(subject, runs=(plain, warned, reference, failed))
    size = len(json.dumps(timelines.timeline(plain, 48), separators=(",", ":"))) + 12
    monkeypatch.setattr(timelines, "MOST_TIMELINE_BYTES", 3 * size + 100)
    contents = timelines.contents(material, [own])
    assert list(inflated(contents["packed"])) == [failed.id, reference.id, warned.id]
    assert contents["left"] == [plain.id]


TABLE = """workload,vcpus,throughput
job,1,100
job,2,190
job,4,350
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("table")
    (folder / "table.csv").write_text(TABLE)
    assert main(["import", str(folder / "table.csv"), "--out", str(folder / "s")]) == 0
    return (folder / "s" / "report.html").read_text("utf-8")


def test_tables_of_an_imported_study_have_no_empty_columns(imported: str) -> None:
    """Neither one of dashes nor one of `not accounted`, nor lines of runs that say so each."""
    for table in re.findall(r"<table>.*?</table>", imported, re.S):
        cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S) for row in re.findall(r"<tr.*?</tr>", table, re.S)]
        for column in zip(*cells[1:], strict=False):
            assert {re.sub("<[^>]*>", "", cell).strip() for cell in column} - {"", "–", "not accounted", "unknown"}
    listed = imported[imported.index('id="runs"') :]
    lines = re.findall(r"<details><summary>(.*?)</summary>", listed, re.S)
    assert len(lines) == 3
    assert not any("not accounted" in line for line in lines)
    assert not any(re.search(r"<span>\s*</span>", line) for line in lines)
    assert "repeat 1" not in listed


def _evidence(share: float, kind: records.EvidenceKind = records.EvidenceKind.BUSIEST) -> records.Evidence:
    return records.Evidence(Bottleneck.CPU, {"cpu": share}, kind, {"cpu": share})


def test_evidence_beside_a_mean_is_the_mean_of_the_same_runs() -> None:
    """And where repeats were bound by different things, in how many of them."""
    assert all_runs.evidence_agreed([_evidence(0.9), _evidence(0.7)]) == "the vCPUs 80 % busy"
    serial = records.Evidence(Bottleneck.SERIAL, {}, records.EvidenceKind.SERIAL, {"cores": 0.8, "vcpus": 2.0})
    assert all_runs.evidence_agreed([serial, replace(serial, figures={"cores": 1.0, "vcpus": 2.0})]) == (
        "0.90 of 2 vCPU busy, and nothing else is full"
    )
    assert all_runs.evidence_agreed([_evidence(0.9), serial, _evidence(0.7)]) == (
        "in 2 of 3 runs the vCPUs 80 % busy; in 1 of 3 runs 0.80 of 2 vCPU busy, and nothing else is full"
    )
    assert all_runs.evidence_agreed([]) == ""


# How it was measured.


def test_declared_and_measured_disk_figures_stand_side_by_side(material: Material) -> None:
    """A tier that misses what it declares is marked."""
    slow, _, fast = measurement.disks(material.study, material.disk_checks, material.runs)
    assert slow["declared"] == "read and write 20 MB/s, 300 IOPS"
    assert slow["measured"] == "read 20.1 MB/s, 301 IOPS; write 19.9 MB/s, 300 IOPS"
    assert (slow["kind"][0], slow["deviates"][0]) == ("emulated", "no")
    assert "by more than 10 %" in fast["deviates"][0]


def test_a_real_mount_is_told_from_an_emulated_one(material: Material) -> None:
    """A real disk declares nothing and says where it is mounted."""
    study = replace(material.study, disks=(DiskTier("nvme", path="/mnt/nvme"),))
    (row,) = measurement.disks(study, (), ())
    assert (row["kind"], row["measured"]) == (("real", "/mnt/nvme"), "not measured")


def test_the_embedded_data_set_is_never_taken_for_imagenet(material: Material) -> None:
    """Every data set of this study is embedded and says what it is not."""
    data_sets = measurement.data_sets(material.runs)
    assert len(data_sets) == 3
    assert all("not ImageNet, not PennTreeBank" in data_set["what"] for data_set in data_sets)
    assert {data_set["samples"] for data_set in data_sets} == {"400 images", "929,000 words"}


def test_a_run_that_was_killed_tells_nothing_of_its_data(material: Material) -> None:
    """A data set of which no sample was counted is no data set."""
    data = material.runs[0].data_set
    killed = replace(material.runs[0], data_set=replace(data, samples=0, bytes=0))
    assert measurement.data_sets([material.runs[0], killed]) == measurement.data_sets([material.runs[0]])


def test_a_users_own_data_is_named_by_its_path(material: Material) -> None:
    """Data of the user's own is not called embedded."""
    data = material.runs[0].data_set
    run = replace(material.runs[0], data_set=replace(data, embedded=False, path="/data/imagenet"))
    assert measurement.data_sets([run])[0]["what"] == "/data/imagenet"


def test_host_facts_may_be_sparse() -> None:
    """What host.json does not hold is left out; sizes are read as sizes."""
    assert measurement.host_facts({"schema_version": 1, "memory_bytes": 2**34, "fio": None, "swap_bytes": 0}) == [
        ("Memory", "16 GiB"),
        ("Swap", "none"),
    ]


def test_frameworks_in_two_interpreters_are_told_apart() -> None:
    """In one, the host's Python and packages say it all; a form that nobody knows is left out."""
    own = {"framework": "mxnet", "path": "/own/python", "python": "3.11.7", "packages": {"mxnet": "1.9.1"}}
    other = {
        "framework": "pytorch",
        "path": "/t/python",
        "python": "3.12.1",
        "packages": {"torch": "2.13.0", "numpy": "2.4"},
    }
    host = {"python": "3.11.7", "packages": {"mxnet": "1.9.1", "torch": "2.13.0"}}
    assert measurement.host_facts({**host, "frameworks": [own, other]}) == [
        ("MXNet", "Python 3.11.7 in /own/python: mxnet 1.9.1"),
        ("PyTorch", "Python 3.12.1 in /t/python: torch 2.13.0, numpy 2.4"),
    ]
    together = [("Python", "3.11.7"), ("Packages", "mxnet 1.9.1, torch 2.13.0")]
    for listed in ([own, {**other, "path": "/own/python"}], [own], [{"framework": 1}], "strange", None):
        assert measurement.host_facts({**host, "frameworks": listed}) == together
    bare = {**other, "packages": {}}
    assert measurement.host_facts({"frameworks": [own, bare]})[1] == ("PyTorch", "Python 3.12.1 in /t/python")


def measuring_unpacked(file: dict[str, str]) -> str:
    """What a browser saves."""
    return gzip.decompress(base64.b64decode(file["address"].partition(",")[2])).decode()


def test_both_tables_come_out_as_they_went_in(material: Material) -> None:
    """And the same study has the same page, byte for byte."""
    as_csv, as_json = write_tables(material.runs)
    made = replace(material, measurements_csv=as_csv, measurements_json=as_json)
    table, rows = downloads(made)
    assert (measuring_unpacked(table), measuring_unpacked(rows)) == (as_csv, as_json)
    assert len(json.loads(measuring_unpacked(rows))) == len(material.runs)
    assert downloads(made) == [table, rows]


def test_the_name_of_a_file_is_one_that_any_system_takes(material: Material) -> None:
    """Whatever the study is called."""
    named = replace(material, study=replace(material.study, name="../<b>\u202e a/b"))
    assert [file["plain"] for file in downloads(named)] == ["b-a-b.csv", "b-a-b.json"]
    nameless = replace(material, study=replace(material.study, name="研究"))
    assert downloads(nameless)[0]["plain"] == "study.csv"


def test_no_unit_ends_the_block(material: Material) -> None:
    """A program says itself what it counts."""
    evil = "</script><script>alert(1)</script>"
    runs = tuple(went_on(replace(run, sample_unit=evil)) for run in material.runs[:3])
    page = render(replace(material, runs=runs, model=None, recommendation=None))
    assert "<script>alert" not in page
    assert page.count('<script type="application/json" id="timelines">') == 1
