"""Which runs of a table count, machines of which few were measured, and a host that drifts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sizer.model.fitting import fit
from sizer.model.host import drift_of, exposures, own_deviation
from sizer.model.model import WorkloadModel
from sizer.model.observations import observe
from sizer.model.prediction import filled, predict
from sizer.model.runs import as_asked, end_to_end, without_gaps
from sizer.recommend.recommendation import recommend
from sizer.records.device import Device
from sizer.records.prediction import Bottleneck, Configuration, Prediction
from sizer.records.run import Demand, Evidence, EvidenceKind, Run, RunWarning, WarningKind
from sizer.records.run_kinds import Purpose
from sizer.records.study import Objective
from sizer.records.units import GIB
from tests.tables import WHOLE_MACHINES, runs_of, stored_catalog

# Predictions from small tables of whole machines: what is left out, did not fit, lies between and lies beyond.


Fitted = Callable[[str], WorkloadModel]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    """The model of a table, written as its rows; several tests ask of one table, which is fitted once."""

    @cache
    def fitted(table: str) -> WorkloadModel:
        return fit(runs_of(tmp_path_factory.mktemp("table"), table)).workloads[0]

    return fitted


def _asked(model: WorkloadModel, **given: object) -> Prediction:
    return predict(model, filled(model, given))


def test_what_is_left_out_is_that_of_the_machine_that_was_measured(fitted: Fitted) -> None:
    """One A100 came with 12 vCPUs and 85 GiB: nothing is said of one in the largest machine."""
    model = fitted(WHOLE_MACHINES)
    one = filled(model, {"gpu": "A100", "gpu_count": 1})
    assert (one.vcpus, one.memory_bytes, one.batch_size) == (12, 85 * GIB, 128)
    prediction = predict(model, one)
    assert not prediction.extrapolated
    assert 950 < prediction.throughput.low < 1100 < prediction.throughput.high < 1250
    by_size = filled(model, {"vcpus": 4.0})
    assert (by_size.gpu, by_size.gpu_count, by_size.memory_bytes) == ("T4", 1, 16 * GIB)


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ({"gpu_count": 1, "batch_size": 256}, False),
        ({"gpu_count": 1, "batch_size": 256, "vcpus": 8.0, "memory_bytes": 680 * GIB}, False),
        ({"gpu_count": 1, "batch_size": 128}, True),
        ({"gpu_count": 2, "batch_size": 256}, True),
    ],
)
def test_a_batch_that_ran_out_of_memory_is_remembered(fitted: Fitted, given: dict[str, object], fits: bool) -> None:
    """Whatever else is left out or differs: the memory that ran out is the accelerator's."""
    assert _asked(fitted(WHOLE_MACHINES), gpu="A100", **given).out_of_memory is not fits


def test_the_memory_of_one_accelerator_is_not_that_of_another(fitted: Fitted) -> None:
    """A K80 ran out at a batch of 128 in 61 GiB; a V100 held it in as much."""
    model = fitted("""
        workload,gpu,gpu_count,vcpus,memory_gib,batch_size,throughput,outcome
        vgg,K80,1,4,61,64,38,
        vgg,K80,1,4,61,128,,out_of_memory
        vgg,V100,1,8,61,64,220,
        vgg,V100,1,8,61,128,235,
        vgg,V100,4,32,244,512,830,
        vgg,V100,8,64,488,1024,1480,
    """)
    assert not _asked(model, gpu="V100", gpu_count=1, batch_size=128).out_of_memory
    assert _asked(model, gpu="K80", gpu_count=1, batch_size=128).out_of_memory


def test_memory_that_more_of_the_host_cures_is_the_hosts(fitted: Fitted) -> None:
    """The same batch on the same accelerator held with 32 GiB."""
    model = fitted("""
        workload,gpu,gpu_count,vcpus,memory_gib,batch_size,throughput,outcome
        job,T4,1,4,16,128,,out_of_memory
        job,T4,1,4,32,128,100,
        job,T4,1,8,32,128,110,
        job,T4,1,16,32,128,115,
    """)
    assert _asked(model, vcpus=4.0, memory_bytes=16 * GIB).out_of_memory
    assert not _asked(model, vcpus=4.0, memory_bytes=32 * GIB).out_of_memory


FLEET = [("T4", 100, 12, 48), ("V100", 300, 8, 61), ("A100", 800, 12, 85)]


@pytest.mark.parametrize(("gpu", "count"), [("T4", 2), ("V100", 3), ("A100", 6)])
def test_counts_lie_between_their_neighbours(fitted: Fitted, gpu: str, count: int) -> None:
    """Each machine has vCPUs and memory of its own, and none of them was varied alone."""
    rows = [
        f"job,{kind},{n},{n * vcpus},{n * gib},{rate * n**0.85:.4g}"
        for kind, rate, vcpus, gib in FLEET
        for n in (1, 2, 4, 8)
        if (kind, n) != (gpu, count)
    ]
    model = fitted("\n".join(["workload,gpu,gpu_count,vcpus,memory_gib,throughput", *rows]))
    prediction = _asked(model, gpu=gpu, gpu_count=count)
    rate = {kind: rate for kind, rate, *_ in FLEET}[gpu]
    fewer, more = max(n for n in (1, 2, 4) if n < count), min(n for n in (4, 8) if n > count)
    below, truth, above = (rate * n**0.85 for n in (fewer, count, more))
    assert not prediction.extrapolated
    assert below <= prediction.throughput.value <= above
    assert 0.8 * below < prediction.throughput.low < truth < prediction.throughput.high < 1.25 * above


@pytest.mark.parametrize("exponent", [0.5, 0.75, 1.0])
def test_beyond_the_measured_counts_growth_goes_on(fitted: Fitted, exponent: float) -> None:
    """Extrapolated, between none and linear, in a wide interval that holds what it would be by the same law."""
    rows = [f"job,V100,{n},{500 * n**exponent:.4g}" for n in (1, 2, 4)]
    model = fitted("\n".join(["workload,gpu,gpu_count,throughput", *rows]))
    last = 500 * 4**exponent
    for count in (8, 16):
        prediction = _asked(model, gpu_count=count)
        assert prediction.extrapolated
        assert last < prediction.throughput.value < last * count / 4
        law = 500 * count**exponent
        assert prediction.throughput.low < 0.85 * law < law < prediction.throughput.high


# Which runs predictions are about, and what a curve over rows can use that leave something empty.


CURVE = "workload,vcpus,memory_gib,throughput\na,1,4,100\na,2,4,197\na,4,4,380\na,8,4,700\n"


def test_a_row_without_the_axis_leaves_the_curve_as_it_is(tmp_path: Path) -> None:
    """An unknown vCPU count is not one vCPU."""
    whole, gaps = runs_of(tmp_path, CURVE), runs_of(tmp_path, CURVE + "a,,4,500\na,,4,20\n")
    place = Configuration(3.0, 4 * 2**30, None, None)
    assert predict(fit(gaps).workload("a"), place) == predict(fit(whole).workload("a"), place)


def test_where_each_row_lacks_something_the_least_known_axis_goes(tmp_path: Path) -> None:
    table = "workload,vcpus,batch_size,throughput\na,1,,1\na,2,,2\na,4,,3\na,,8,3\na,,16,4\n"
    kept = without_gaps(runs_of(tmp_path, table))
    assert [run.configuration.vcpus for run in kept] == [1, 2, 4]


def test_a_machine_of_unknown_size_is_compared_with_the_others(tmp_path: Path) -> None:
    """And may be the answer."""
    runs = runs_of(
        tmp_path,
        "workload,gpu,vcpus,usd_per_hour,throughput\na,T4,4,0.5,100\na,T4,8,0.8,110\na,A10G,,1,400\na,V100,8,3,500\n",
    )
    answer = recommend(fit(runs), runs, Objective(), stored_catalog()).workloads[0]
    assert (answer.status, answer.spec.gpu, answer.spec.vcpus) == ("recommended", "A10G", None)
    assert len(answer.alternatives) == 4


def fed(run: Run, input_: str, cache: str = "cold", purpose: Purpose = Purpose.ASKED) -> Run:
    """The run with another input."""
    workload = replace(run.spec.workload, input=input_, cache=cache)
    return replace(run, spec=replace(run.spec, workload=workload, purpose=purpose))


def test_what_was_planned_to_isolate_a_stage_is_no_whole_job(make_run: Callable[..., Run]) -> None:
    """Also where there is one run as asked for and three of a stage."""
    whole = make_run(100.0, 2.0)
    stages = [
        fed(make_run(200.0 * vcpus, vcpus), "cached", "warm", Purpose.ISOLATES_PIPELINE) for vcpus in (0.5, 1.0, 2.0)
    ]
    two_epochs = fed(make_run(120.0, 2.0, memory=2**30), "disk", "natural", Purpose.TWO_EPOCHS)
    runs = [*stages, whole, two_epochs]
    assert end_to_end(runs) == (whole,)
    assert as_asked(runs) == (whole,)


def test_of_what_others_measured_the_input_with_the_most_configurations_counts(make_run: Callable[..., Run]) -> None:
    """Repeats of one configuration are one; of as many, the input that does most."""
    disk = [make_run(100.0 * vcpus, vcpus) for vcpus in (1.0, 2.0)]
    cached = [fed(make_run(150.0, 1.0), "cached", "warm")] * 3
    assert end_to_end([*cached, *disk]) == tuple(disk)
    assert end_to_end([*cached, disk[0]]) == (disk[0],)


# How slow the host was through a study, by what was measured again; and what its rates owe to it.


MakeRun = Callable[..., Run]
BEGAN = datetime(2026, 11, 21, tzinfo=timezone.utc)
P100 = Device("emulated", gpu="P100", samples_per_second=219.0)
SLOW = math.log(0.8)


def in_order(runs: Sequence[Run]) -> list[Run]:
    """One a minute."""
    return [replace(run, started_at=(BEGAN + timedelta(minutes=at)).isoformat()) for at, run in enumerate(runs)]


def stepped(make_run: MakeRun, name: str = "train", slow: float = SLOW, noise: float = 0.003) -> list[Run]:
    """Three repeats of five sizes; from the middle of it on the host is 20 % slower."""
    random = np.random.default_rng(3)
    order = [(repeat, float(c)) for repeat in range(3) for c in random.permutation([1, 2, 4, 8, 16])]
    rates = [
        100 * c**0.8 * math.exp((slow if at >= 8 else 0.0) + noise * random.standard_normal())
        for at, (_, c) in enumerate(order)
    ]
    return [make_run(rate, c, repeat=repeat, name=name) for (repeat, c), rate in zip(order, rates, strict=True)]


def test_a_step_of_the_host_is_found_and_taken_off(make_run: MakeRun) -> None:
    """What repeats at other times gave tells it; the sizes then lie on their curve again, but for a level."""
    runs = in_order(stepped(make_run))
    drift = drift_of(runs)
    before, after = ([drift.at(run) for run in part] for part in (runs[:7], runs[9:]))
    assert all(effect is not None and effect.mean > 0.05 for effect in before)
    assert all(effect is not None and effect.mean < -0.05 for effect in after)
    raw, _ = observe(runs)
    corrected, _ = observe(runs, drift)
    off = [
        np.std([run.log_rate - 0.8 * math.log(run.configuration.vcpus or 1) for run in some])
        for some in (raw, corrected)
    ]
    assert off[1] < 0.25 * off[0]
    assert max(rate.deviation for rate in corrected) < min(rate.deviation for rate in raw)


def test_what_one_workload_alone_feels_is_not_taken_off_another(make_run: MakeRun) -> None:
    """Its own repeats, made between those that moved, did not."""
    moved, steady = stepped(make_run), stepped(make_run, name="steady", slow=0.0)
    runs = in_order([run for pair in zip(moved, steady, strict=True) for run in pair])
    drift = drift_of(runs)
    felt = [abs(shift.mean) for run in runs if (shift := drift.at(run)) and run.spec.workload.name == "train"]
    other = [abs(shift.mean) for run in runs if (shift := drift.at(run)) and run.spec.workload.name == "steady"]
    assert max(other) < 0.2 * np.mean(felt)


def accounted(run: Run, core_seconds: float, named: Bottleneck) -> Run:
    return replace(run, demand=Demand(core_seconds=core_seconds), evidence=Evidence(named, {}, EvidenceKind.BUSIEST))


def test_a_rate_shows_the_host_as_far_as_the_cpu_binds_it(make_run: MakeRun) -> None:
    """All of it where it does, next to nothing beside an accelerator that is full, all where nothing was accounted."""
    runs = [
        accounted(make_run(100.0, 1.0), 0.0098, Bottleneck.CPU),
        accounted(make_run(219.0, 4.0, device=P100), 0.0049, Bottleneck.ACCELERATOR),
        accounted(make_run(90.0, 2.0), 0.011, Bottleneck.SERIAL),
        make_run(90.0, 8.0),
    ]
    shown = exposures(runs)
    assert [shown[id(run)] for run in runs] == [1.0, pytest.approx(0.0010, abs=0.0002), 1.0, 1.0]


def test_an_accelerator_keeps_its_rate_while_the_host_drifts(make_run: MakeRun) -> None:
    """The reference, which the CPU binds, moved by 18 %: what waits for its accelerator is as sure as ever."""
    reference = [make_run(rate, 2.0, name="cpu", repeat=k) for k, rate in enumerate((100.0, 118.0, 101.0, 117.0))]
    fed = [
        accounted(make_run(219.0, c, device=P100, disk=disk, spread=1e-4), 0.0008, Bottleneck.ACCELERATOR)
        for c in (0.5, 1.0, 2.0)
        for disk in ("nvme", "ssd", "standard")
    ]
    runs = in_order([reference[0], *fed[:3], reference[1], *fed[3:6], reference[2], *fed[6:], reference[3]])
    drift = drift_of(runs)
    own = [run for run in runs if run.spec.workload.name == "train"]
    observed, _ = observe(own, drift)
    assert [math.exp(rate.log_rate) for rate in observed] == pytest.approx([219.0] * 9, rel=1e-3)
    assert max(rate.deviation for rate in observed) < 0.015
    by_cpu, _ = observe(
        [replace(run, demand=None, evidence=None) for run in runs if run.spec.workload.name == "train"], drift
    )
    assert min(rate.deviation for rate in by_cpu) > 0.03


@pytest.mark.parametrize(
    ("warning", "exposure", "least", "most"),
    [
        (RunWarning(WarningKind.CONTENDED, {"cores": 0.5}), 0.01, 0.0, 0.002),
        (RunWarning(WarningKind.STOLEN, {"cores": 0.1}), 1.0, 0.01, 0.03),
        (RunWarning(WarningKind.GPU_SHARED, {"share": 0.5}), 0.0, 0.15, 0.25),
        (RunWarning(WarningKind.UNSETTLED), 1.0, 0.004, 0.007),
        (RunWarning(WarningKind.ONE_READING), 0.0, 0.05, 0.05),
        (RunWarning(WarningKind.DRIFTING, {"level": 90.0, "low": 98.0, "high": 102.9}), 1.0, 0.04, 0.07),
        (RunWarning(WarningKind.DRIFTING), 1.0, 0.02, 0.03),
        (RunWarning(WarningKind.OVERHEAD, {"share": 0.02}), 1.0, 0.0, 0.0),
    ],
)
def test_a_warning_says_how_far_its_run_may_be_off(
    make_run: MakeRun, warning: RunWarning, exposure: float, least: float, most: float
) -> None:
    """By its own figures, and as far as the run shows the host."""
    run = replace(make_run(100.0, 2.0), warnings=(warning,))
    assert least <= own_deviation(run, exposure, host_modelled=False) <= most


def test_of_two_repeats_the_undisturbed_one_counts_for_more(make_run: MakeRun) -> None:
    """A run that others took half a core from is not worth as much as one that had the host for itself."""
    clean, disturbed = make_run(100.0, 1.0), make_run(80.0, 1.0, repeat=1)
    disturbed = replace(disturbed, warnings=(RunWarning(WarningKind.CONTENDED, {"cores": 0.6}),))
    (even,), _ = observe([clean, replace(disturbed, warnings=())])
    (observed,), _ = observe([clean, disturbed])
    assert math.exp(even.log_rate) == pytest.approx(90.0)
    assert math.exp(observed.log_rate) > 97
