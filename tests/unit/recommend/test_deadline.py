"""A job with a deadline gets the spec on which it costs least; a gate fails where nobody can tell that it is met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.cli.gates import NAMES, check_gate, read_gate
from sizer.records.answer import Answer
from sizer.records.device import Device
from sizer.records.messages import InputError
from sizer.records.prediction import Estimate
from sizer.records.run import Run
from sizer.records.study import Deadline

# A job with a deadline gets the spec on which it costs least of those that surely finish it in time.


HOUR = 3600.0
Ask = Callable[..., Answer]
MakeRun = Callable[..., Run]
Curve = Callable[..., list[Run]]
KNEE = ((1, 100), (2, 197), (4, 300), (8, 303), (16, 304))


def hours(samples: float, time: float) -> Deadline:
    return Deadline(samples, time * HOUR)


@pytest.mark.parametrize(("samples", "vcpus"), [(1.2e6, 2), (4e6, 2), (6e6, 4)])
def test_the_size_in_time_on_whose_machine_the_job_costs_least(
    curve: Curve, ask: Ask, samples: float, vcpus: float
) -> None:
    """Not the share of the best counts, but the samples per second that the job needs; no machine has one vCPU."""
    answer = ask(curve(*KNEE, spread=0.005), within=hours(samples, 6))
    assert answer.status == "recommended"
    assert answer.spec.vcpus == vcpus
    assert answer.probability >= 0.9
    rate = dict(KNEE)[vcpus]
    assert answer.job.seconds.value == pytest.approx(samples / rate, rel=0.03)
    assert answer.job.seconds.low < answer.job.seconds.value < answer.job.seconds.high <= 6 * HOUR * 1.05


def test_the_job_and_its_price_are_said(curve: Curve, ask: Ask) -> None:
    """Time with its interval, the probability, the price by the cheapest instance type that holds the spec."""
    answer = ask(curve(*KNEE), within=hours(6e6, 6))
    first, second, *_ = answer.reasons
    assert first.startswith("6,000,000 images take 5 h ")
    assert "The probability of finishing within 6 h 00 min is " in first
    assert "at the steady rate, plus the time to start." in first
    assert answer.job.instance_type == "aws c6i.xlarge"
    assert answer.job.usd == pytest.approx(0.17 * answer.job.seconds.value / HOUR)
    assert second.startswith("The job costs about $0.9")
    whys = {rejected.spec.vcpus: rejected.why for rejected in answer.rejected}
    assert whys[2].startswith("Takes 8 h ")
    assert "too late, bound by the CPU" in whys[2]
    assert "of the best" not in " ".join(answer.reasons)


# A gate fails where an answer is as its condition says, or where nobody can tell that it is not.


def met(text: str, *answers: Answer) -> bool:
    return check_gate(read_gate(text, [answer.workload for answer in answers], deadline=True), answers).met


@pytest.fixture(scope="module")
def knee(curve: Curve, ask: Ask) -> Answer:
    return ask(curve(*KNEE, cache="warm"), within=Deadline(6e6, 21600.0))


@pytest.mark.parametrize(
    ("fails", "passes"),
    [
        ("throughput<500", "throughput<200"),
        ("throughput_low>100", "throughput_low>299"),
        ("vcpus>=4", "vcpus>4"),
        ("vcpus!=8", "vcpus != 4"),
        ("vcpus==4", "vcpus=8"),
        ("status=recommended", "status!=recommended"),
        ("provisional=false", "provisional=true"),
        ("probability<0.9999", "probability<0.9"),
        ("bottleneck=serial", "bottleneck=disk_bandwidth"),
        ("next_bottleneck=cpu", "next_bottleneck=disk_iops"),
        ("usd_per_hour>0.16", "usd_per_hour>0.18"),
        ("usd_per_million_samples>0.1", "usd_per_million_samples>2"),
        ("saving<80%", "saving<0.7"),
        ("job_seconds>5h", "job_seconds>21600"),
        ("job_usd>0.5", "job_usd>1.5"),
        ("train:vcpus<=4", "train:vcpus>8"),
    ],
)
def test_each_name_and_sign(knee: Answer, fails: str, passes: str) -> None:
    """What CI asks for: rates, sizes, prices, shares, times and words."""
    assert (met(fails, knee), met(passes, knee)) == (False, True)


def test_the_sentence_has_the_number_of_each_workload(knee: Answer, curve: Curve, ask: Ask) -> None:
    """A gate that is not met names those at fault, one that is met names all."""
    slow = replace(ask(curve((1, 10), (2, 10), (4, 10), name="slow")), throughput=Estimate(10.0, 9.0, 11.0))
    gate = read_gate("throughput<100", ["train", "slow"], deadline=False)
    assert check_gate(gate, [knee, slow]).sentence == (
        "gate not met (fail if throughput<100): slow: throughput is 10 images/s"
    )
    well = check_gate(read_gate("vcpus>8", ["train", "slow"], deadline=False), [knee, slow])
    assert well.sentence == "gate met (fail if vcpus>8): train: vcpus is 4; slow: vcpus is 1"
    one = read_gate("train:throughput<100", ["train", "slow"], deadline=False)
    assert check_gate(one, [knee, slow]).met


def test_what_is_not_known_fails(curve: Curve, ask: Ask) -> None:
    """Neither a refused answer nor an unknown price can be shown to be well."""
    refused = ask(curve((1, 100), (2, 190)))
    for name in sorted(set(NAMES) - {"status", "provisional", "bottleneck", "next_bottleneck"}):
        text = f"{name}>1000000000"
        assert not met(text, refused), text
    outcome = check_gate(read_gate("vcpus>8", ["train"], deadline=False), [refused])
    assert outcome.sentence == "gate not met (fail if vcpus>8): train: vcpus is not known (there is no spec)"
    device = Device("emulated", gpu="Z9000", samples_per_second=219)
    unpriced = ask(curve((1, 100), (2, 190), (4, 215), (8, 217), device=device))
    outcome = check_gate(read_gate("usd_per_hour>9", ["train"], deadline=False), [unpriced])
    assert (outcome.met, "no instance type that holds the spec has a price" in outcome.sentence) == (False, True)


def test_a_value_as_shown_never_contradicts_the_verdict(knee: Answer) -> None:
    """A rate of 299.1 that is above 299 is not shown as 299."""
    limit = f"{knee.throughput.value - 0.01:.4f}"
    outcome = check_gate(read_gate(f"throughput>{limit}", ["train"], deadline=False), [knee])
    assert not outcome.met
    assert outcome.sentence.endswith(f"throughput is {knee.throughput.value:.6g}")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("throughput", "is not a condition"),
        ("throughput=>3", "`>3` is not a value of `throughput`"),
        ("speed<3", "there is no figure `speed`; use status, provisional, bottleneck"),
        ("vcpus>many", "`many` is not a value of `vcpus`"),
        ("vcpus>inf", "`inf` is not a value"),
        ("job_seconds>6w", "`6w` is not a value"),
        ("status<3", "compare `status` by = or != with recommended, at_least or refused"),
        ("bottleneck=disk", "disk_bandwidth, disk_iops"),
        ("nobody:vcpus>3", "there is no workload `nobody`; use train"),
    ],
)
def test_a_condition_that_is_none_is_told(text: str, sentence: str) -> None:
    """In one sentence with the names that are known."""
    with pytest.raises(InputError) as stated:
        read_gate(text, ["train"], deadline=True)
    assert sentence in str(stated.value)
    assert "\n" not in str(stated.value)


NAMED = ["ResNet 50 / fp16", "ResNet 50", "图像训练 (bs 32)", "a", "a: b", "status=x", "-x"]


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("written", ["{}:throughput<500", "{}: throughput < 500", " {} : throughput<500 "])
def test_a_gate_names_a_workload_of_any_printable_name(name: str, written: str) -> None:
    """The longest name that fits, so that `a: b` is not `a` with a condition on b."""
    gate = read_gate(written.format(name), NAMED, deadline=False)
    assert (gate.workload, gate.name, gate.sign, gate.wanted) == (name, "throughput", "<", 500)


def test_a_workload_that_nobody_knows_is_named_whole() -> None:
    """With its spaces and colons."""
    with pytest.raises(InputError, match="there is no workload `ResNet 50: fp16`; use ResNet 50"):
        read_gate("ResNet 50: fp16: throughput<500", ["ResNet 50"], deadline=False)


def test_a_job_that_nobody_described_is_no_gate() -> None:
    """Half of the question is missing."""
    with pytest.raises(InputError, match="add --samples"):
        read_gate("job_usd>3", ["train"], deadline=False)


def test_a_rate_that_is_known_to_be_wrong_passes_no_gate(knee: Answer) -> None:
    """Neither way round; how specs compare is known."""
    doubted = replace(knee, rate_in_doubt=True)
    assert not met("throughput<200", doubted)
    assert not met("throughput>200", doubted)
    assert met("vcpus>4", doubted)
