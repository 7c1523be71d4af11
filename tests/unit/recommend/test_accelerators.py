"""Several kinds and counts of accelerators: what is recommended was measured, and machines and prices match it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.recommend.prices import Accelerators
from sizer.records.answer import Answer
from sizer.records.device import Device
from sizer.records.run import Run
from sizer.words.names import accelerators_name

Ask = Callable[..., Answer]
MakeRun = Callable[..., Run]
V100 = Device("cuda", gpu="V100")


@pytest.fixture
def on(make_run: MakeRun) -> Callable[..., Run]:
    """A run on so many accelerators of a kind; None is the kind of the device."""

    def on(rate: float, vcpus: float, count: int, gpu: str | None = None) -> Run:
        run = make_run(rate, vcpus, device=V100)
        return replace(run, configuration=replace(run.configuration, gpu=gpu, gpu_count=count))

    return on


def rate(vcpus: float, ceiling: float) -> float:
    return float(((60 * vcpus) ** -8 + ceiling**-8) ** (-1 / 8))


def test_the_count_is_part_of_the_spec_and_of_the_price(on: Callable[..., Run], ask: Ask) -> None:
    """One makes the work cheapest; of two the rate is asked for, on machines that have at least two of that kind."""
    tops = {1: 300, 2: 590, 4: 600}
    runs = [on(rate(c, top), c, n) for c in (2, 4, 8, 16, 32) for n, top in tops.items()]
    one, two = ask(runs), ask(runs, at_least=400.0)
    assert (one.spec.vcpus, one.spec.gpu, one.spec.gpu_count) == (8, "V100", 1)
    assert (two.spec.vcpus, two.spec.gpu, two.spec.gpu_count) == (16, "V100", 2)
    assert two.instances
    assert all(offer.gpu == "V100" and offer.gpu_count >= 2 for offer in two.instances)
    assert any(each.spec.gpu_count == 1 and "that it reaches 400 images/s" in each.why for each in two.rejected)
    assert any("2 x V100" in reason and "the same work costs" in reason for reason in one.reasons)


def test_a_kind_with_a_price_is_weighed_by_it(on: Callable[..., Run], ask: Ask) -> None:
    """A kind that is twice as fast is taken, and machines with the other one are not offered."""
    runs = [on(rate(c, top), c, 1, gpu) for c in (2, 4, 8, 16, 32) for gpu, top in (("V100", 300), ("A100", 700))]
    answer = ask(runs)
    assert (answer.spec.gpu, answer.spec.gpu_count) == ("A100", 1)
    assert answer.instances
    assert {offer.gpu for offer in answer.instances} == {"A100"}


def test_a_kind_without_a_price_is_not_the_cheapest(on: Callable[..., Run], ask: Ask) -> None:
    """The one with a price is taken, even where the other is faster; of the fastest it is said that its price lacks."""
    alike = [on(rate(c, 300), c, 1, gpu) for c in (2, 4, 8, 16, 32) for gpu in ("V100", "Z9000")]
    spec = ask(alike).spec
    assert spec.gpu == "V100"
    faster = [on(rate(c, top), c, 1, gpu) for c in (2, 4, 8, 16, 32) for gpu, top in (("V100", 300), ("Z9000", 700))]
    cheapest, fastest = ask(faster), ask(faster, "fastest")
    assert cheapest.spec.gpu == "V100"
    assert "Not ranked by cost for lack of a known price: 5 of 10 machines." in cheapest.reasons
    assert fastest.spec.gpu == "Z9000"
    nearly = "It is the smallest of those within 1 % of the fastest of 10 machines measured; its price is not known."
    assert nearly in fastest.reasons
    assert fastest.instances == ()


@pytest.mark.parametrize(
    ("each", "device", "words"),
    [
        (Accelerators("V100", 2), None, "2 x V100"),
        (Accelerators(None, 4), V100, "4 x V100"),
        (Accelerators(None, 1), Device("cuda"), "1 accelerator"),
        (Accelerators(None, 0), Device("emulated", gpu="P100"), "1 x emulated P100"),
        (Accelerators("emulated:P100", 1), None, "1 x emulated P100"),
        (Accelerators("cpu", 0), V100, "no accelerator"),
    ],
)
def test_names(each: Accelerators, device: Device | None, words: str) -> None:
    """What was emulated says so, a number agrees with its noun."""
    assert accelerators_name(each.gpu, each.count, device) == words
