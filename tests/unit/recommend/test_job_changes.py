"""What to change instead of buying: from the model and the accounting alone, and only what is above chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel
from sizer.recommend.job_changes import Change, ChangeKind, changes, judged_by
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Spec
from sizer.records.run import DataSet, Demand, Evidence, EvidenceKind, Run

CORE, BYTES = 1 / 100, 100_000.0


def _of(runs: Sequence[Run], vcpus: float) -> dict[ChangeKind, Change]:
    """The changes at this many vCPUs, by kind."""
    model = fit(runs).workload("train")
    return {change.kind: change for change in changes(model, runs, _here(model, vcpus))}


def _here(model: WorkloadModel, vcpus: float) -> Configuration:
    return next(rate.configuration for rate in model.measured.rates if rate.configuration.vcpus == vcpus)


@pytest.fixture(scope="module")
def reading(make_run: Callable[..., Run]) -> Callable[..., list[Run]]:
    """Runs of a job that takes 10 ms of a CPU and 100 kB of a disk a sample."""

    def reading(mbps: float, request: float = 131072.0, iops: float = 1e6, **known: object) -> list[Run]:
        rates = DiskRates(read_iops=iops, read_bytes_per_second=mbps * 1e6)
        demand = Demand(core_seconds=CORE, read_bytes=BYTES, read_ios=BYTES / request)
        data = DataSet("/d", "recordio", 1_000_000_000, 10_000, embedded=False)
        found = []
        for vcpus in (1.0, 2.0, 4.0, 8.0):
            ceilings = (vcpus / CORE, mbps * 1e6 / BYTES, iops / (BYTES / request))
            rate = sum(ceiling**-8 for ceiling in ceilings) ** (-1 / 8)
            alike = {"disk": "d", "rates": rates, "demand": demand, "data": data, "anonymous": 2**30} | known
            found += [make_run(rate, vcpus, repeat=each, **alike) for each in (0, 1)]
        return found

    return reading


def test_a_job_that_waits_for_its_disk_would_gain_by_memory(reading: Callable[..., list[Run]]) -> None:
    """As much as the CPU allows; how much memory all of the data takes is known."""
    found = _of(reading(20.0), 8.0)
    memory = found[ChangeKind.IN_MEMORY]
    assert memory.gain.value == pytest.approx(3.0, rel=0.2)
    assert memory.figures["memory"] == pytest.approx(1e9 + 2**30)
    assert memory.then is Bottleneck.CPU
    assert memory.is_sure


def test_where_the_cpu_binds_nothing_of_the_disk_gains(reading: Callable[..., list[Run]]) -> None:
    """Memory for the data is no help then, or none that is above chance."""
    found = _of(reading(4000.0), 1.0).get(ChangeKind.IN_MEMORY)
    assert found is None or (found.gain.value < 0.02 and not found.is_sure)


def test_small_reads_of_files_that_bind_by_iops_would_gain_by_a_packed_format(
    reading: Callable[..., list[Run]],
) -> None:
    """But not of a file that is packed already."""
    files = reading(4000.0, request=4096.0, iops=5000.0)
    folder = [
        replace(run, spec=replace(run.spec, workload=replace(run.spec.workload, format="folder"))) for run in files
    ]
    found = _of(folder, 8.0)[ChangeKind.LARGE_READS]
    assert found.gain.value == pytest.approx(800 / (5000 / (BYTES / 4096)) - 1, rel=0.25)
    assert found.figures["size"] == pytest.approx(4096)
    assert ChangeKind.LARGE_READS not in _of(files, 8.0)


def test_a_batch_is_worth_what_its_launch_costs(make_run: Callable[..., Run]) -> None:
    """Twice the largest measured is extrapolated, and says so."""
    device = Device("cuda", 0, "V100")
    runs = [
        make_run(1 / (0.002 + 0.08 / batch), vcpus, batch=batch, device=device, demand=Demand(core_seconds=0.0005))
        for batch in (8, 16, 32, 64)
        for vcpus in (4.0, 8.0, 16.0)
    ]
    model = fit(runs).workload("train")
    here = Configuration(16.0, 8 * 2**30, "host", 64)
    (found,) = (change for change in changes(model, runs, here) if change.kind is ChangeKind.BATCH)
    truth = (0.002 + 0.08 / 64) / (0.002 + 0.08 / 128) - 1
    assert found.gain.low <= truth <= found.gain.high
    assert found.extrapolated
    assert (found.figures["batch"], found.figures["before"]) == (128.0, 32.0)


def test_a_loop_that_waits_while_nothing_is_busy_may_need_workers(make_run: Callable[..., Run]) -> None:
    """By accounting alone, so the gain is a bound; where something is busy, nothing is said."""

    def runs(busy: float) -> list[Run]:
        return [
            make_run(
                100.0,
                vcpus,
                demand=Demand(core_seconds=0.004, input_wait=0.005),
                evidence=Evidence(Bottleneck.AMBIGUOUS, {"cpu": busy}, EvidenceKind.NONE_FULL, {"cpu": busy}),
            )
            for vcpus in (1.0, 2.0, 4.0)
        ]

    found = _of(runs(0.4), 1.0)[ChangeKind.WAITING]
    assert found.at_most
    assert found.is_sure
    assert found.gain.value == pytest.approx(1.0)
    assert ChangeKind.WAITING not in _of(runs(0.95), 1.0)


def test_a_cheaper_decoder_is_worth_its_part_of_the_cpu(reading: Callable[..., list[Run]]) -> None:
    """Where an accelerator computes, all of the CPU's time is decoding; else what the step costs must be known."""
    device = Device("emulated", 0, "P100", 400.0)
    found = _of(reading(4000.0, device=device), 1.0)[ChangeKind.DECODER]
    assert found.gain.value == pytest.approx(1.0, abs=0.1)
    assert ChangeKind.DECODER not in _of(reading(4000.0), 1.0)


def test_changes_come_by_their_gain(reading: Callable[..., list[Run]]) -> None:
    """The largest first, where CPU and disk hold it back alike."""
    runs = reading(80.0, device=Device("emulated", 0, "P100", 4000.0))
    model = fit(runs).workload("train")
    gains = [change.gain.value for change in changes(model, runs, _here(model, 8.0))]
    assert gains == sorted(gains, reverse=True)
    assert len(gains) > 1


def test_a_spec_stands_for_a_measured_configuration(reading: Callable[..., list[Run]]) -> None:
    """Never for more than was measured, and with what the spec does not say as it was."""
    model = fit(reading(20.0)).workload("train")
    found = judged_by(model, Spec(16.0, 64 * 2**30))
    assert (found.vcpus, found.disk, found.batch_size, found.memory_bytes) == (8.0, "d", 32, 8 * 2**30)
    assert judged_by(replace(model, measured=replace(model.measured, rates=())), Spec(1.0)) is None
