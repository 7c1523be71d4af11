"""What an answer saves is a number, against a baseline that is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.records.answer import Answer
from sizer.records.device import Device, DiskRates
from sizer.records.run import Run

Ask = Callable[..., Answer]
Curve = Callable[..., list[Run]]
MakeRun = Callable[..., Run]
KNEE = ((1, 100), (2, 197), (4, 300), (8, 303), (16, 304))
P100 = Device("emulated", gpu="P100", samples_per_second=219)


def test_against_the_largest_measured(curve: Curve, ask: Ask) -> None:
    """Both prices with their instance types, the share saved, and the share of the rate that is left."""
    answer = ask(curve(*KNEE))
    assert answer.baseline.spec.vcpus == 16
    assert (answer.baseline.answer_usd_per_hour, answer.baseline.usd_per_hour) == (0.17, 0.68)
    assert answer.baseline.saving == pytest.approx(0.75)
    assert answer.baseline.share == pytest.approx(0.985, abs=0.01)
    assert (
        "$0.17 an hour (aws c6i.xlarge) instead of $0.68 (aws c6i.4xlarge) for 16 vCPUs, the largest measured: 75 % "
        "less, at 99 % of its rate." in answer.reasons
    )


def test_more_vcpus_that_are_slower_are_a_baseline_too(curve: Curve, ask: Ask) -> None:
    """Where the curve falls, the answer is cheaper and faster."""
    answer = ask(curve((1, 100), (2, 190), (4, 340), (8, 540), (16, 640), (32, 560), (64, 380)))
    assert answer.baseline.share > 1.5
    assert any(reason.endswith("% of its rate.") and "75 % less, at 1" in reason for reason in answer.reasons)


def test_an_answer_that_is_the_largest_says_nothing_of_it(curve: Curve, ask: Ask) -> None:
    """Nothing larger was measured."""
    answer = ask(curve((1, 100), (2, 195), (4, 380)))
    assert (answer.baseline.saving, answer.baseline.share) == (0, 1)
    assert "the largest measured:" not in " ".join(answer.reasons[3:])


def test_the_same_machine_saves_nothing(curve: Curve, ask: Ask) -> None:
    """Where one instance type is the cheapest for both, it is said instead of a saving."""
    answer = ask(curve((1, 100), (2, 100)) + curve((0.5, 99)))
    assert answer.spec.vcpus == 1
    assert any("no saving, $0.085 an hour for either (aws c6i.large)" in reason for reason in answer.reasons)


def test_a_price_that_is_unknown_saves_nothing_that_can_be_said(curve: Curve, ask: Ask) -> None:
    """Never 0, never 100 %."""
    device = Device("emulated", gpu="Z9000", samples_per_second=219)
    answer = ask(curve((1, 100), (2, 190), (4, 215), (8, 217), device=device))
    assert answer.baseline.saving is None
    assert any("The saving is not known" in reason for reason in answer.reasons)


def test_a_disk_that_differs_is_said_to_be_left_out(make_run: MakeRun, ask: Ask) -> None:
    """The price of a machine has no disk in it."""
    rates = {"slow": DiskRates(5000, 1e8), "fast": DiskRates(9000, 4e8)}
    runs = [make_run(min(100 * c, 200), c, disk=name, rates=rates[name]) for c in (1, 2, 4, 8) for name in rates]
    answer = ask(runs)
    assert answer.spec.disk == "slow"
    (said,) = [reason for reason in answer.reasons if "the largest measured" in reason]
    assert "8 vCPUs, disk fast (emulated), the largest measured" in said
    assert said.endswith("disk prices not counted.")


def test_a_machine_that_is_named(curve: Curve, ask: Ask) -> None:
    """Beyond what was measured its rate is extrapolated, and that is said."""
    answer = ask(curve(*KNEE), baseline="aws/c6i.8xlarge")
    assert (answer.baseline.named, answer.baseline.extrapolated) == (True, True)
    (said,) = [reason for reason in answer.reasons if "aws c6i.8xlarge" in reason]
    assert said.startswith(
        "$0.17 an hour (aws c6i.xlarge) instead of $1.36 for aws c6i.8xlarge with 32 vCPUs: 88 % less"
    )
    assert said.endswith("(extrapolated).")


def test_a_machine_without_the_accelerator_is_no_baseline(curve: Curve, ask: Ask) -> None:
    """The rate of a V100 job on a machine without one is not known, and nothing is said of it."""
    runs = curve((1, 100), (2, 190), (4, 215), (8, 217), device=replace(P100, gpu="V100"))
    answer = ask(runs, baseline="c6i.8xlarge")
    assert answer.baseline is None
    assert "aws c6i.8xlarge cannot be compared for this job: its rate there is not known." in answer.reasons
    assert ask(runs, baseline="gcp/n1-highmem-32").baseline is not None
