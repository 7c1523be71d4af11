"""The recommendation is what a careful person would say who sees the same measurements."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.configuration import Bottleneck
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import ReasonCode
from sizer.records.run import Demand, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Objective
from sizer.records.units import GIB

MakeRun = Callable[..., Run]
Curve = Callable[..., list[Run]]
P100 = Device("emulated", gpu="P100", samples_per_second=219, source="published")
DEMAND = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)
KNEE = ((1, 100), (2, 197), (4, 300), (8, 303), (16, 304))
TIERS = {"slow": DiskRates(500, 1e7), "middle": DiskRates(2000, 1e8), "fast": DiskRates(9000, 4e8)}


def said(answer: Answer) -> str:
    return "\n".join(answer.reasons)


def test_a_knee_is_recommended_with_each_cheaper_size_rejected(curve: Curve, ask: Callable[..., Answer]) -> None:
    """The smallest size at the plateau, its neighbours rejected with a share of the target and what binds them."""
    answer = ask(curve(*KNEE, cache="warm"))
    assert answer.status == "recommended"
    assert answer.spec.vcpus == 4
    assert answer.probability >= 0.9
    assert [rejection.spec.vcpus for rejection in answer.rejected] == [2, 1]
    two, one = (rejection.why for rejection in answer.rejected)
    assert re.fullmatch(r"Reaches 6[789] % of the target, bound by the CPU\.", two)
    assert re.fullmatch(r"Reaches 3[45] % of the target, bound by the CPU\.", one)
    assert answer.runner_up.vcpus == 8
    assert answer.bottleneck is Bottleneck.SERIAL
    assert answer.next_bottleneck is Bottleneck.CPU


@pytest.mark.parametrize(
    ("points", "status", "vcpus", "words", "run"),
    [
        pytest.param(KNEE, "recommended", (4,), "The bottleneck there", "", id="a plateau"),
        pytest.param(((1, 100), (2, 102), (4, 99), (8, 98), (16, 101)), "recommended", (1,), "", "", id="flat"),
        pytest.param(
            ((2, 101), (4, 100), (8, 99)), "recommended", (2,), "Fewer than 2 vCPUs were not measured", "at 1 vCPU",
            id="the fewest are enough",
        ),
        pytest.param(
            ((1, 100), (2, 190), (4, 340), (8, 540), (16, 640), (32, 560), (64, 380)), "recommended", (12, 16), "", "",
            id="retrograde",
        ),
        pytest.param(
            ((0.25, 25), (0.5, 50), (0.75, 74)), "at_least", (1,),
            "1 vCPU is the smallest size sold with at least 0.75 vCPU", "", id="fractions of a vCPU are not sold",
        ),
        pytest.param(
            ((1, 100), (2, 190)), "refused", (None,), "Not enough data", "Measure `train` at 4 vCPUs.", id="too few",
        ),
    ],
)  # fmt: skip
def test_a_curve_of_vcpus(
    curve: Curve,
    ask: Callable[..., Answer],
    points: tuple[tuple[float, float], ...],
    status: str,
    vcpus: tuple[float | None, ...],
    words: str,
    run: str,
) -> None:
    """vCPUs that change nothing are not bought; what is not known of fewer or more is said with the run to make."""
    answer = ask(curve(*points))
    assert answer.status == status
    assert (answer.spec.vcpus if answer.spec is not None else None) in vcpus
    assert words in said(answer)
    assert run in (answer.next_run or "")


@pytest.mark.parametrize("points", [((1, 100), (2, 200), (4, 400)), ((0.5, 50), (1, 100), (2, 170))])
def test_a_rising_rate_is_at_least(
    curve: Curve, ask: Callable[..., Answer], points: tuple[tuple[float, float], ...]
) -> None:
    """CPU-bound at the most vCPUs measured: the edge, an extrapolated estimate beyond it, and the run to make."""
    answer = ask(curve(*points))
    assert answer.status == "at_least"
    assert answer.spec.vcpus == points[-1][0]
    assert answer.beyond.extrapolated
    assert answer.beyond.throughput.value > points[-1][1]
    assert "still rises" in said(answer)
    assert "extrapolated, by the curve alone" in said(answer)
    assert f"at {2 * points[-1][0]:g} and {4 * points[-1][0]:g} vCPUs" in answer.next_run


def test_a_known_accelerator_ceiling_makes_a_strong_estimate(curve: Curve, ask: Callable[..., Answer]) -> None:
    """CPU-bound below a known GPU rate: vCPUs = rate x core-seconds, here 219 x 0.02 = 4.4, hence 8."""
    demand = replace(DEMAND, core_seconds=0.02)
    answer = ask(curve((0.5, 25), (1, 50), (2, 100), device=P100, demand=demand))
    assert answer.status == "at_least"
    assert "8 vCPUs would give about" in said(answer)
    assert re.search(r"[Aa]bout 4\.[345] vCPUs", said(answer))
    assert answer.beyond.configuration.vcpus == 8
    assert answer.beyond.throughput.value == pytest.approx(219, rel=0.05)


def test_an_accelerator_that_is_fed_is_recommended(curve: Curve, ask: Callable[..., Answer]) -> None:
    """At the ceiling more vCPUs buy nothing; machines with that GPU are listed, unknown prices as unknown."""
    answer = ask(curve((1, 100), (2, 190), (4, 215), (8, 217), device=replace(P100, gpu="V100"), demand=DEMAND))
    assert (answer.status, answer.spec and answer.spec.vcpus) == ("recommended", 4)
    assert answer.bottleneck is Bottleneck.ACCELERATOR
    assert {offer.gpu for offer in answer.instances} == {"V100"}
    known = [offer for offer in answer.instances if offer.usd_per_hour is not None]
    unknown = [offer for offer in answer.instances if offer.usd_per_hour is None]
    assert known[0].instance_type == "n1-highmem-8+1xV100"
    assert known[0].usd_per_million_samples == pytest.approx(2.95 / 3600 / answer.throughput.value * 1e6)
    assert unknown
    assert all(
        offer.usd_per_million_samples is None and ReasonCode.PRICES in [note.code for note in offer.notes]
        for offer in unknown
    )
    assert all(offer.as_of and offer.source for offer in answer.instances)


def test_memory_below_the_floor_is_never_recommended(make_run: MakeRun, ask: Callable[..., Answer]) -> None:
    """A cap that was killed is rejected by name; the answer is a size that is sold and known to hold the job."""
    runs = [make_run(min(100 * c, 150), c, memory=8 * GIB, capped=True, anonymous=3 * GIB) for c in (0.5, 1, 2, 4)]
    runs += [make_run(150, 2, memory=5 * GIB, capped=True, anonymous=3 * GIB)]
    runs += [make_run(None, 2, memory=2 * GIB, capped=True, outcome=Outcome.OUT_OF_MEMORY)]
    answer = ask(runs)
    assert answer.status == "recommended"
    assert (answer.spec.vcpus, answer.spec.memory_bytes) == (2, 8 * GIB)
    assert (2 * GIB, "Runs out of memory.") in [(each.spec.memory_bytes, each.why) for each in answer.rejected]
    assert (
        "The memory floor is between 2 GiB and 5 GiB: with 2 GiB it ran out of memory, "
        "with 5 GiB and 8 GiB it completed." in answer.reasons
    )
    assert "8 GiB rather than 4 GiB, because no cap below 5 GiB is known to be enough" in said(answer)


def test_one_vcpu_value_still_tells_of_disks(make_run: MakeRun, ask: Callable[..., Answer]) -> None:
    """A study of disks alone answers for disks, and says that vCPUs were not varied."""
    answer = ask([make_run(rate, 2, disk=name) for name, rate in (("slow", 50), ("middle", 100), ("fast", 101))])
    assert answer.spec.disk != "slow"
    assert "is what was measured, not what is needed" in said(answer)


def test_two_vcpu_values_with_disks_that_rise(make_run: MakeRun, ask: Callable[..., Answer]) -> None:
    """With two vCPU values the disks have an answer, the vCPUs only a lower bound."""
    runs = [make_run(100 * c, c, disk=name) for c in (1, 2) for name in ("slow", "fast")]
    answer = ask(runs)
    assert answer.status == "at_least"
    assert answer.spec.vcpus == 2
    assert answer.beyond is None


def test_objectives(curve: Curve, ask: Callable[..., Answer]) -> None:
    """`fastest` takes the top of the curve, `balanced` what lies between it and `cheapest`, none just the largest."""
    points = ((1, 100), (2, 180), (4, 260), (8, 300), (16, 304), (32, 304))
    sizes = {prefer: ask(curve(*points), prefer).spec for prefer in ("balanced", "cheapest", "fastest")}
    vcpus = {prefer: spec.vcpus for prefer, spec in sizes.items() if spec is not None}
    assert vcpus["cheapest"] <= vcpus["balanced"] <= vcpus["fastest"] < 32


def test_balanced_keeps_the_target(curve: Curve, catalog: Catalog) -> None:
    """88 % of the rate at half of the price is no balance where 95 % were asked for; where 60 % were, it is."""
    runs = curve((1, 100), (2, 190), (4, 215), (8, 216), (16, 217))
    sizes = {
        target: recommend(fit(runs), runs, Objective("balanced", target), catalog).workloads[0].spec
        for target in (0.6, 0.95)
    }
    assert (sizes[0.6].vcpus, sizes[0.95].vcpus) == (2, 4)


def test_failed_runs_are_counted(make_run: MakeRun, curve: Curve, ask: Callable[..., Answer]) -> None:
    """An answer says how many runs gave no rate."""
    runs = curve((1, 100), (2, 101), (4, 100))
    answer = ask([*runs, make_run(None, 8, outcome=Outcome.CRASHED)])
    assert "1 of 4 runs gave no rate (1 crashed)" in said(answer)


def trained(make_run: MakeRun) -> list[Run]:
    """At 2 vCPUs the CPU binds, at 4 the accelerator."""
    rates = {c: ((80 * c) ** -8 + 219**-8) ** (-1 / 8) for c in (1, 2, 4, 8)}
    return [make_run(rate, c, device=P100, demand=Demand(core_seconds=1 / 80)) for c, rate in rates.items()]


def test_the_smallest_upgrade_is_named_with_its_gain(make_run: MakeRun, ask: Callable[..., Answer]) -> None:
    """Where the target is lax, the answer says which next size something else would bind, and what it gains."""
    answer = ask(trained(make_run), target=0.6)
    assert (answer.spec.vcpus, answer.bottleneck) == (2, Bottleneck.CPU)
    assert (answer.upgrade.spec.vcpus, answer.upgrade.bottleneck) == (4, Bottleneck.ACCELERATOR)
    assert answer.upgrade.gain == pytest.approx(219 / 160 - 1, abs=0.05)
    assert answer.headroom == pytest.approx(219 / 160 - 1, abs=0.06)
    assert any(reason.startswith("Without that limit it would be 3") for reason in answer.reasons)
    (said,) = [reason for reason in answer.reasons if "smallest upgrade" in reason]
    assert "The smallest upgrade that moves the bottleneck is 4 vCPUs: 3" in said
    assert said.endswith("then bound by the emulated P100.")


def test_where_nothing_measured_moves_it_none_is_named(
    make_run: Callable[..., Run], ask: Callable[..., Answer]
) -> None:
    """The one accelerator measured binds, and no size relieves it."""
    answer = ask(trained(make_run))
    assert (answer.spec.vcpus, answer.bottleneck) == (4, Bottleneck.ACCELERATOR)
    assert answer.upgrade is None
    assert "smallest upgrade" not in " ".join(answer.reasons)
