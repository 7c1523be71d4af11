"""The findings of 2018: how they are judged, and the machine that they are looked for on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from alibaba_findings import PublishedRatio, findings
from alibaba_machine import FACTOR, TIERS, TRAIN
from alibaba_study import VCPUS, study_text

from sizer.catalog.catalog import Catalog
from sizer.records.run import Bottleneck, Demand, Evidence, EvidenceKind, Run
from sizer.records.units import GIB
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize

MakeRun = Callable[..., Run]
SIZES = {"ssd": ("cloud_ssd", 500), "standard": ("cloud_efficiency", 500), "nvme": ("local-nvme-i1", 440)}
DEMAND = Demand(core_seconds=0.002, read_bytes=100e3, written_bytes=0.0)


def test_the_study_is_one_that_sizer_reads() -> None:
    """Every tier, every network, and vCPUs enough for an answer."""
    study = parse_study(study_text(2, 4.0), "study", None, HostSize(2, 24 * GIB), None)
    assert {plan.workload.name for plan in study.workloads} == {
        *(f"{mode}-{network}" for mode in ("train", "infer") for network in TRAIN),
        "preprocess",
        "lstm",
    }
    assert {plan.workload.format for plan in study.workloads if plan.workload.kind == "image_training"} == {"lmdb"}


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name)
def test_tiers_of_then_are_the_catalogue_s(tier: object) -> None:
    """The figures are the documented ones at the size of then, not chosen."""
    name, gib = SIZES[tier.name]  # type: ignore[attr-defined]
    rates = Catalog.load().disk(f"alibaba/{name}").rates(gib * GIB)
    assert (rates.read_iops, rates.read_bytes_per_second) == pytest.approx((tier.iops, tier.mbps * 1e6))  # type: ignore[attr-defined]


def test_one_factor_scales_disks_and_accelerators_alike() -> None:
    """Else the ratio of disk to accelerator would not be that of then."""
    study = parse_study(study_text(2, 4.0), "study", None, HostSize(2, 24 * GIB), None)
    train = next(plan.workload.device for plan in study.workloads if plan.workload.name == "train-resnet50")
    emulated = study.disk("standard").emulated
    assert emulated is not None
    assert emulated.read_bytes_per_second == pytest.approx(140e6 * FACTOR)
    assert train.samples_per_second == pytest.approx(219 * FACTOR, abs=0.05)


@pytest.mark.parametrize(
    ("ratios", "comes_out"), [((0.85, 0.85), True), ((0.79, 0.91), True), ((0.5, 0.6), False), ((1.0, 1.0), False)]
)
def test_a_finding_comes_out_when_the_mean_of_its_repeats_lies_in_its_band(
    ratios: tuple[float, ...], comes_out: bool
) -> None:
    """A faster disk than then is no more the finding than a slower one."""
    assert PublishedRatio("inference", "about 0.85", (0.80, 0.90), ratios, "").comes_out is comes_out


def every_run(make_run: MakeRun, slow: float) -> Iterator[Run]:
    """Two repeats of every point, 100 images/s, `slow` times that on the standard disk."""
    for plan in parse_study(study_text(2, 4.0), "study", None, HostSize(2, 24 * GIB), None).workloads:
        for repeat in (1, 0):
            for vcpus in plan.vcpus:
                for disk in plan.disk:
                    for memory in plan.memory_bytes:
                        rate = 100.0 * (slow if disk == "standard" else 1.0) * (1 + repeat)
                        yield make_run(
                            rate,
                            vcpus,
                            name=plan.workload.name,
                            disk=disk,
                            memory=memory,
                            repeat=repeat,
                            demand=DEMAND,
                            evidence=Evidence(Bottleneck.CPU, {}, EvidenceKind.BUSIEST),
                        )


def test_each_repeat_is_held_against_the_same_repeat(make_run: MakeRun) -> None:
    """A host that was twice as fast in the second repeat makes no finding; a slow disk does."""
    found = {each.name: each for each in findings(every_run(make_run, 0.85))}
    assert found["inference resnet50: ssd / nvme"].ratios == (1.0, 1.0)
    assert found["inference resnet50: standard / ssd"].ratios == pytest.approx((0.85, 0.85))
    assert found["inference resnet50: standard / ssd"].comes_out
    assert not found["training resnet50: standard / nvme"].comes_out
    assert found["LSTM on 2 vCPU, 1 GiB / best"].comes_out


def test_a_finding_says_what_bound_the_slower_run(make_run: MakeRun) -> None:
    """The accounting's name in how many of the repeats, and the bytes a second that it moved."""
    found = {each.name: each for each in findings(every_run(make_run, 1.0))}
    assert found["training vgg16: standard / nvme"].why == "cpu in 2 of 2; reads 15 MB/s"


def test_waiting_for_each_file_is_worked_out_by_hand(make_run: MakeRun) -> None:
    """At half a vCPU: 4 ms of CPU, 0.1, 1 or 2 ms of latency, and 100 kB at 616, 300 or 140 MB/s."""
    found = {each.name: each.why for each in findings(every_run(make_run, 1.0))}
    nvme, ssd, standard = (4 + 0.1 + 0.1623), (4 + 1 + 0.3333), (4 + 2 + 0.7143)
    assert found["preprocessing, one thread: nvme / ssd"].endswith(f"had it waited for each file: {ssd / nvme:.2f}")
    assert found["preprocessing, one thread: ssd / standard"].endswith(f"{standard / ssd:.2f}")


def test_a_point_that_was_not_measured_is_named(make_run: MakeRun) -> None:
    """A study that was broken off cannot be judged."""
    half = [run for run in every_run(make_run, 1.0) if run.configuration.disk != "standard"]
    with pytest.raises(KeyError, match="train-resnet50 at 2 vCPUs on standard"):
        list(findings(half))


def test_a_reference_s_further_repeats_are_left_out(make_run: MakeRun) -> None:
    """They have no partner of the same repeat."""
    runs = list(every_run(make_run, 1.0))
    further = [replace(run, spec=replace(run.spec, repeat=2)) for run in runs if run.spec.limits.disk == "nvme"]
    found = {each.name: each for each in findings([*further, *runs])}
    assert len(found["training resnet50: standard / nvme"].ratios) == 2
    assert VCPUS[-1] == 2
