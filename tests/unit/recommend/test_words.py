"""What an answer says reads as a person would say it: words agree, numbers are plain, what is emulated is called so."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from sizer.model.fitting import fit
from sizer.records.answer import Answer
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Reason, ReasonCode
from sizer.records.run import Demand, Run
from sizer.words.model import model_summary, parameter_name
from sizer.words.names import Terms, terms_of
from sizer.words.reasons import reason_sentence, reason_sentences

Ask = Callable[..., Answer]
Curve = Callable[..., list[Run]]
MakeRun = Callable[..., Run]
P100 = Device("emulated", gpu="P100", samples_per_second=219, source="published")
RATE_ONLY = Device("emulated", samples_per_second=219)
DEMAND = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)
TIERS = {"host": DiskRates(9000, 4e8), "slow": DiskRates(500, 1e7)}


def words_of(answer: Answer) -> list[str]:
    return [*answer.reasons, *(each.why for each in answer.rejected), answer.next_run or ""]


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


def test_one_vcpu_reaches_and_two_reach(curve: Curve, ask: Ask) -> None:
    """The verb agrees with the number."""
    assert "With 1 vCPU it reaches 100 %" in " ".join(ask(curve((1, 100), (2, 100), (4, 100))).reasons)
    assert "With 4 vCPUs it reaches" in " ".join(ask(curve((1, 100), (2, 197), (4, 300), (8, 303), (16, 304))).reasons)


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


def test_the_host_disk_is_called_that(make_run: MakeRun, ask: Ask) -> None:
    """A disk that was not limited is the host's own, not a tier called host."""
    runs = [
        make_run(min(100 * c, top), c, disk=name, rates=TIERS[name], demand=DEMAND)
        for c in (1, 2, 4)
        for name, top in (("host", 200), ("slow", 95))
    ]
    answer = ask(runs)
    assert answer.spec.disk == "host"
    text = " ".join(answer.reasons)
    assert "No measured disk is faster than the host's own disk for this job; disk slow loses" in text


@pytest.mark.parametrize(
    ("points", "why"),
    [
        (
            ((0.25, 219), (0.5, 219), (1, 219), (2, 219)),
            "Reaches 105 % of the target. Fractions of a vCPU are not sold.",
        ),
        (((0.25, 54), (0.5, 108), (1, 219), (2, 219)), "Reaches 52 % of the target, bound by the CPU."),
    ],
)
def test_a_fraction_of_a_vcpu_is_rejected_with_its_reason(
    curve: Curve, ask: Ask, points: tuple[tuple[float, float], ...], why: str
) -> None:
    """Below the smallest size sold, the nearest that was measured says why it is not the answer."""
    answer = ask(curve(*points))
    assert answer.spec.vcpus == 1
    assert [(each.spec.vcpus, each.why) for each in answer.rejected] == [(0.5, why)]


def test_an_interval_that_rounds_to_nothing_is_left_out() -> None:
    """`219 images/s`, not `219 images/s (219 to 219)`."""
    known = {"vcpus": 4.0, "larger": 8.0, "rate": 219.1, "low": 219.0, "high": 219.2}
    said = reason_sentence(Reason(ReasonCode.BEYOND, known), Terms("train", "image"))
    assert said == "8 vCPUs would give about 219 images/s (extrapolated, by the curve alone)."
