"""The recommendation is what a careful person would say who sees the same measurements."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.model.fitting import fit
from sizer.records.answer import Answer
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Bottleneck, ReasonCode
from sizer.records.run import Demand, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Deadline
from sizer.words.model import model_summary, parameter_name
from sizer.words.names import terms_of
from sizer.words.reasons.phrasing import reason_sentences

# The recommendation is what a careful person would say who sees the same measurements.


MakeRun = Callable[..., Run]
Curve = Callable[..., list[Run]]
P100 = Device("emulated", gpu="P100", samples_per_second=219, source="published")
DEMAND = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)
KNEE = ((1, 100), (2, 197), (4, 300), (8, 303), (16, 304))


def sentences_of(answer: Answer) -> str:
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


def test_an_accelerator_that_is_fed_is_recommended(curve: Curve, ask: Callable[..., Answer]) -> None:
    """At the ceiling more vCPUs buy nothing; machines with that GPU are listed, unknown prices as unknown."""
    answer = ask(curve((1, 100), (2, 190), (4, 215), (8, 217), device=replace(P100, gpu="V100"), demand=DEMAND))
    assert (answer.status, answer.spec and answer.spec.vcpus) == ("recommended", 4)
    assert answer.bottleneck is Bottleneck.ACCELERATOR
    assert {offer.gpu for offer in answer.instances} == {"V100"}
    priced = [offer for offer in answer.instances if offer.usd_per_hour is not None]
    unknown = [offer for offer in answer.instances if offer.usd_per_hour is None]
    assert priced[0].instance_type == "n1-highmem-8+1xV100"
    assert priced[0].usd_per_million_samples == pytest.approx(2.95 / 3600 / answer.throughput.value * 1e6)
    assert unknown
    assert all(
        offer.usd_per_million_samples is None and ReasonCode.PRICES in [note.code for note in offer.notes]
        for offer in unknown
    )
    assert all(offer.as_of and offer.source for offer in answer.instances)


def test_objectives(curve: Curve, ask: Callable[..., Answer]) -> None:
    """`fastest` takes the top of the curve, `balanced` what lies between it and `cheapest`, none just the largest."""
    points = ((1, 100), (2, 180), (4, 260), (8, 300), (16, 304), (32, 304))
    sizes = {prefer: ask(curve(*points), prefer).spec for prefer in ("balanced", "cheapest", "fastest")}
    vcpus = {prefer: spec.vcpus for prefer, spec in sizes.items() if spec is not None}
    assert vcpus["cheapest"] <= vcpus["balanced"] <= vcpus["fastest"] < 32


def test_failed_runs_are_counted(make_run: MakeRun, curve: Curve, ask: Callable[..., Answer]) -> None:
    """An answer says how many runs gave no rate."""
    runs = curve((1, 100), (2, 101), (4, 100))
    answer = ask([*runs, make_run(None, 8, outcome=Outcome.CRASHED)])
    assert "1 of 4 runs gave no rate (1 crashed)" in sentences_of(answer)


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
    (sentence,) = [reason for reason in answer.reasons if "smallest upgrade" in reason]
    assert "The smallest upgrade that moves the bottleneck is 4 vCPUs: 3" in sentence
    assert sentence.endswith("then bound by the emulated P100.")


# What an answer saves is a number, against a baseline that is named.


Ask = Callable[..., Answer]
EMULATED_P100 = Device("emulated", gpu="P100", samples_per_second=219)


def test_a_disk_that_differs_is_said_to_be_left_out(make_run: MakeRun, ask: Ask) -> None:
    """The price of a machine has no disk in it."""
    rates = {"slow": DiskRates(5000, 1e8), "fast": DiskRates(9000, 4e8)}
    runs = [make_run(min(100 * c, 200), c, disk=name, rates=rates[name]) for c in (1, 2, 4, 8) for name in rates]
    answer = ask(runs)
    assert answer.spec.disk == "slow"
    (sentence,) = [reason for reason in answer.reasons if "the largest measured" in reason]
    assert "8 vCPUs, disk fast (emulated), the largest measured" in sentence
    assert sentence.endswith("disk prices not counted.")


def test_a_machine_that_is_named(curve: Curve, ask: Ask) -> None:
    """Beyond what was measured its rate is extrapolated, and that is said."""
    answer = ask(curve(*KNEE), baseline="aws/c6i.8xlarge")
    assert (answer.baseline.named, answer.baseline.extrapolated) == (True, True)
    (sentence,) = [reason for reason in answer.reasons if "aws c6i.8xlarge" in reason]
    assert sentence.startswith(
        "$0.17 an hour (aws c6i.xlarge) instead of $1.36 for aws c6i.8xlarge with 32 vCPUs: 88 % less"
    )
    assert sentence.endswith("(extrapolated).")


def test_a_machine_without_the_accelerator_is_no_baseline(curve: Curve, ask: Ask) -> None:
    """The rate of a V100 job on a machine without one is not known, and nothing is said of it."""
    runs = curve((1, 100), (2, 190), (4, 215), (8, 217), device=replace(EMULATED_P100, gpu="V100"))
    answer = ask(runs, baseline="c6i.8xlarge")
    assert answer.baseline is None
    assert "aws c6i.8xlarge cannot be compared for this job: its rate there is not known." in answer.reasons
    assert ask(runs, baseline="gcp/n1-highmem-32").baseline is not None


# What the cheapest, the balanced and the fastest choice would be, and what a cheaper spec would give and save.


CURVE = ((1.0, 100.0), (2.0, 196.0), (4.0, 340.0), (8.0, 400.0), (16.0, 410.0), (32.0, 411.0))
MACHINES = """workload,gpu,gpu_count,throughput
job,P100,1,1800
job,P100,2,3500
job,P100,4,6900
job,V100,1,3000
job,V100,4,11500
"""


@pytest.fixture(scope="module")
def chosen(ask: Callable[..., Answer], curve: Callable[..., list[Run]]) -> Answer:
    demand = Demand(core_seconds=0.01)
    runs = [*curve(*CURVE, demand=demand), *curve(*CURVE, demand=demand, repeat=1)]
    return ask(runs, target=0.7)


def test_each_preference_has_its_own_spec(chosen: Answer) -> None:
    """Once for each spec, with all that take it; the answer is the one that was asked for."""
    named = [name for option in chosen.options for name in option.preferences]
    assert sorted(named) == ["balanced", "cheapest", "fastest"]
    assert len({option.spec for option in chosen.options}) == len(chosen.options) > 1
    cheapest, fastest = chosen.options[0], chosen.options[-1]
    assert cheapest.spec == chosen.spec
    assert cheapest.throughput == chosen.throughput
    assert fastest.throughput.value > cheapest.throughput.value
    assert fastest.usd_per_hour > cheapest.usd_per_hour


def test_a_rate_that_is_asked_for_leaves_nothing_to_prefer(
    ask: Callable[..., Answer], curve: Callable[..., list[Run]], ask_table: Callable[..., Answer]
) -> None:
    """With a deadline what is bought is the least cost of the job."""
    assert ask(curve(*CURVE), at_least=300.0).options == ()
    assert ask(curve(*CURVE), within=Deadline(1_000_000, 3600.0)).options == ()
    assert ask_table(MACHINES, at_least=2000.0).options == ()


def test_a_cheaper_spec_says_what_it_would_give_and_save(chosen: Answer) -> None:
    """As a rate, as a share of the answer's, and as money."""
    for rejection in chosen.rejected:
        assert rejection.share == pytest.approx(rejection.throughput.value / chosen.throughput.value)
        assert rejection.share < 1
    nearest = chosen.rejected[0]
    assert nearest.usd_saved_per_hour is not None
    assert 0 < nearest.saving < 1
    answer_price = chosen.options[0].usd_per_hour
    assert answer_price is not None
    assert nearest.saving == pytest.approx(nearest.usd_saved_per_hour / answer_price)


# One machine for all workloads of a study, and what each of them loses by it.


# What an answer says reads as a person would say it: words agree, numbers are plain, what is emulated is called so.


RATE_ONLY = Device("emulated", samples_per_second=219)


def words_of(answer: Answer) -> list[str]:
    return [*answer.reasons, *(rejection.why for rejection in answer.rejected), answer.next_run or ""]


@pytest.mark.parametrize(
    "points",
    [
        ((0.5, 2400), (1, 5400), (2, 9970)),
        ((1, 1e4), (2, 1.97e4), (4, 3e4), (8, 3.03e4), (16, 3.04e4)),
        ((2, 2710), (4, 2700), (8, 2690)),
        ((0.25, 25), (0.5, 50), (0.75, 74)),
        ((1, 100), (2, 190)),
        ((4, 100),),
    ],
)
def test_numbers_and_vcpus(curve: Curve, ask: Ask, points: tuple[tuple[float, float], ...]) -> None:
    """No exponents, and a number of vCPUs has its plural, in whatever state the answer is."""
    for text in words_of(ask(curve(*points))):
        assert not re.search(r"\de[+-]\d", text), text
        assert not re.search(r"(?<![\d.])(?:[2-9]|\d\d+)(?:\.\d+)? vCPU(?! value)\b", text), text
        assert not re.search(r"(?<![\d.])(?:1|0\.\d+) vCPUs", text), text


@pytest.mark.parametrize("device", [P100, RATE_ONLY])
@pytest.mark.parametrize("points", [((1, 100), (2, 190), (4, 215), (8, 217)), ((0.5, 25), (1, 50), (2, 100))])
def test_what_is_emulated_says_so(
    curve: Curve, ask: Ask, device: Device, points: tuple[tuple[float, float], ...]
) -> None:
    """No accelerator is named without `emulated` directly before it, in the answer nor in the model."""
    runs = curve(*points, device=device, demand=DEMAND)
    answer, model = ask(runs), fit(runs).workloads[0]
    text = "\n".join(
        [*words_of(answer), model_summary(model), *(parameter_name(parameter, model) for parameter in model.parameters)]
    )
    notes = "\n".join(" ".join(reason_sentences(offer.notes, terms_of(model))) for offer in answer.instances)
    named = re.findall(r"(\w*) ?(?:accelerator|P100)", f"{text}\n{notes}")
    assert len(named) > 2
    assert set(named) == {"emulated"}
