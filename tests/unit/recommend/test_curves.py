"""Curves of vCPUs, each with the answer that a careful person would give who saw it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from sizer.records.answer import Answer
from sizer.records.device import Device
from sizer.records.run import Demand, Run
from sizer.records.study import Deadline

Points = tuple[tuple[float, float], ...]
KNEE = ((1, 100), (2, 197), (4, 300), (8, 303), (16, 304))
RISING = ((1, 100), (2, 195), (4, 380))
FALLING = ((0.5, 60), (1, 118), (2, 105))
ON_P100 = {"device": Device("emulated", gpu="P100", samples_per_second=219)}
FED = {**ON_P100, "demand": Demand(core_seconds=0.0139)}
STARVED = {**ON_P100, "demand": Demand(core_seconds=0.02, read_bytes=1e5, read_ios=1.0)}
ON_V100 = {"device": Device("emulated", gpu="V100", samples_per_second=219)}
ON_UNPRICED = {"device": Device("emulated", gpu="Z9000", samples_per_second=219)}
SAVES = (
    r"^\$0\.17 an hour \(aws c6i\.xlarge\) instead of \$0\.68 \(aws c6i\.4xlarge\) for 16 vCPUs, the largest measured: "
    r"75 % less, at 99 % of its rate\.$"
)


def within(samples: float, hours: float = 6) -> dict[str, object]:
    return {"within": Deadline(samples, hours * 3600)}


# fmt: off
CASES: list[tuple[str, Points, dict[str, object], dict[str, object], str, tuple[str, ...]]] = [
    # id, points, of the runs, what is asked, traits of the answer (!: that it does not have), and sentences
    ("a plateau", KNEE, {}, {}, "^4 .*recommended", ("The bottleneck there", SAVES)),
    ("flat", ((1, 100), (2, 102), (4, 99), (8, 98), (16, 101)), {}, {}, "^1 .*recommended", ()),
    ("the fewest are enough", ((2, 101), (4, 100), (8, 99)), {}, {}, "^2 .*recommended",
     ("Fewer than 2 vCPUs were not measured", "at 1 vCPU")),
    ("retrograde", ((1, 100), (2, 190), (4, 340), (8, 540), (16, 640), (32, 560), (64, 380)), {}, {},
     "^1[26] .*recommended", ()),
    ("too few", ((1, 100), (2, 190)), {}, {}, "refused", ("Not enough data", "^Measure `train` at 4 vCPUs")),
    ("fractions are not sold", ((0.25, 25), (0.5, 50), (0.75, 74)), {}, {}, "^1 .*at_least",
     ("1 vCPU is the smallest size sold with at least 0.75 vCPU",)),
    ("nor where they are enough", ((0.25, 219), (0.5, 219), (1, 219), (2, 219)), {}, {}, "^1 ",
     (r"^Reaches 105 % of the target\. Fractions of a vCPU are not sold\.$",)),
    ("nor where they are not", ((0.25, 54), (0.5, 108), (1, 219), (2, 219)), {}, {}, "^1 ",
     (r"^Reaches 52 % of the target, bound by the CPU\.$",)),
    ("one machine for both", ((0.5, 99), (1, 100), (2, 100)), {}, {}, "^1 ",
     (r"no saving, \$0\.085 an hour for either \(aws c6i\.large\)",)),
    ("noise leaves the last doubling open", ((0.5, 60), (1, 118), (2, 117)), {"spread": 0.2}, {},
     "^1 at_least; no beyond", ("^It is not clear whether more than 2 vCPUs", "not known whether it is the right",
     "!still rises", "^Repeat `train` at ")),
    ("a fall that noise explains", FALLING, {"spread": 0.2}, {}, "^1 ",
     (r"the probability of more than 5 % is 0\.[1-5]",)),
    ("a gain below what counts", ((0.5, 50), (1, 100), (2, 103)), {}, {}, "^1 ; !rising",
     ("!still rises", r"the probability of more than 5 % is 0\.[1-6]")),
    ("half a GPU's rate is gained on its ceiling", ((1, 72), (2, 142), (4, 212)), FED, {},
     "^4 recommended.*ACCELERATOR", ()),
    ("more on its ceiling", ((1, 72), (2, 142), (4, 216)), FED, {}, "^4 recommended.*ACCELERATOR", ()),
    ("below a GPU's ceiling: rate x core-seconds", ((0.5, 25), (1, 50), (2, 100)), STARVED, {},
     r"at_least; beyond 8: 2(0[89]|1\d|2\d)$", ("8 vCPUs would give about", r"[Aa]bout 4\.[345] vCPUs")),
    ("in time, so that more is nobody's question", RISING, {}, within(3e6), "^2 recommended settled; no beyond",
     ("!still rises", "!^(Measure|Repeat)")),
    ("too late while the rate rises", RISING, {}, within(1.3e7) | {"host_vcpus": 4},
     r"^4 at_least rising; P 0\.0.*\b9\.\d h", (
     "^Nothing that was measured finishes 13,000,000 images within 6 h 00 min", r"8 vCPUs would take.*\(extrapolated\)",
     "on a larger host than the one that measured, which has 4 vCPUs")),
    ("too late on a plateau", KNEE, {}, within(2e7), r"refused; 18\.\d h",
     ("takes 18 h ", "would be enough there", "More vCPUs do not help there")),
    ("too late where nobody knows whether more pay", FALLING, {"spread": 0.2}, within(1e7), "refused",
     ("!do not help", "It is not clear whether more than ", "^(Measure|Repeat)")),
    ("of one machine the smaller size", ((0.5, 150), (1, 218.4), (2, 218.6)), ON_P100, within(1e6), "^1 ",
     ("!; the job costs",)),
    ("the cost of the job, not of an hour", ((1, 30), (2, 60), (4, 118), (8, 216), (16, 218)), ON_V100,
     within(1e6, 48), "^8 recommended", ("; the job costs .*(% more|times as much)",)),
    ("an unknown price is never nothing", ((1, 100), (2, 190), (4, 215), (8, 217)), ON_UNPRICED, within(1e6), r"\$None",
     ("^The cost of the job is not known", "The saving is not known")),
]
# fmt: on


def traits(answer: Answer) -> str:
    """`4 recommended settled Bottleneck.ACCELERATOR, P 0.97, 5.5 h $0.92, no beyond`."""
    vcpus = "" if answer.spec is None else f"{answer.spec.vcpus:g}"
    job = "" if answer.job is None else f"{answer.job.seconds.value / 3600:.1f} h ${answer.job.usd}"
    far = answer.beyond
    beyond = "no beyond" if far is None else f"beyond {far.configuration.vcpus:g}: {far.throughput.value:.0f}"
    return (
        f"{vcpus} {answer.status} {answer.edge} {answer.bottleneck}, P {answer.probability or 0:.2f}, {job}, {beyond}"
    )


@pytest.mark.parametrize(
    ("points", "settings", "asked", "expected", "sentences"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_a_curve_of_vcpus(
    curve: Callable[..., list[Run]],
    ask: Callable[..., Answer],
    points: Points,
    settings: dict[str, object],
    asked: dict[str, object],
    expected: str,
    sentences: tuple[str, ...],
) -> None:
    """vCPUs that change nothing are not bought; what is not known of fewer or more is said with the run to make."""
    answer = ask(curve(*points, **settings), **asked)
    for trait in expected.split("; "):
        assert (re.search(trait.removeprefix("!"), traits(answer)) is None) is trait.startswith("!"), traits(answer)
    texts = [*answer.reasons, *(rejection.why for rejection in answer.rejected), answer.next_run or ""]
    for sentence in sentences:
        matches = any(re.search(sentence.removeprefix("!"), text) for text in texts)
        assert matches is not sentence.startswith("!"), (sentence, texts)
