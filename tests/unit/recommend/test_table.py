"""One table of candidates, and the rule: the cheapest that is sure, or one of less expected regret."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from sizer.recommend.accelerators import Accelerators
from sizer.recommend.candidates import Candidate
from sizer.recommend.table import Choice, choose, table_of_machines
from sizer.records.answer import Event
from sizer.records.configuration import Configuration, Estimate
from sizer.records.prediction import Spec
from sizer.records.study import Deadline, Objective

HOUR = 3600.0


def machine(
    gpu: str, rate: float, usd: float | None, off: float = 0.01, disk: str | None = None, disk_usd: float = 0.0
) -> Candidate:
    """A machine that was measured: its rate, its price an hour and how far both mean and run may be off, in ln."""
    half = 1.645 * math.hypot(off, off)
    throughput = Estimate(rate, rate * math.exp(-half), rate * math.exp(half))
    place = Configuration(8.0, None, disk, None, gpu, 1)
    spec = Spec(8.0, None, disk, None, gpu, 1)
    return Candidate(spec, place, throughput, usd, disk_usd, 0, Accelerators(gpu, 1), off, off)


def choice(machines: list[Candidate], **objective: object) -> Choice:
    return choose(table_of_machines(machines, Objective(**objective)))  # type: ignore[arg-type]


def taken(found: Choice) -> str | None:
    return None if found.chosen is None else found.chosen.candidate.spec.gpu


SURE_OF_BOTH = [machine("T4", 100, 1.0), machine("V100", 250, 3.0)]
CLOSE = [machine("T4", 103, 1.0, 0.05), machine("A10", 130, 1.02, 0.05), machine("V100", 250, 6.0)]


@pytest.mark.parametrize(
    ("machines", "objective", "name"),
    [
        (SURE_OF_BOTH, {}, "T4"),
        (SURE_OF_BOTH, {"prefer": "balanced"}, "V100"),
        (SURE_OF_BOTH, {"prefer": "fastest"}, "V100"),
        (SURE_OF_BOTH, {"at_least": 90.0}, "T4"),
        (SURE_OF_BOTH, {"at_least": 120.0}, "V100"),
        (SURE_OF_BOTH, {"at_least": 300.0}, None),
        (CLOSE, {"at_least": 100.0}, "A10"),
        ([CLOSE[0], CLOSE[2]], {"at_least": 100.0}, "T4"),
        ([replace(SURE_OF_BOTH[0], usd_per_hour=None), SURE_OF_BOTH[1]], {}, "V100"),
        ([machine("T4", 100, 0.0), machine("V100", 250, 3.0)], {}, "T4"),
    ],
    ids=[
        "least cost of the work",
        "cost times time",
        "highest rate",
        "rate given",
        "rate not given by the cheaper",
        "rate given by none",
        "likely is not worth 2 %",
        "likely is worth half of the cost",
        "no price is never the cheapest",
        "a price of nothing",
    ],
)
def test_the_cheapest_that_is_sure_or_of_less_regret(
    machines: list[Candidate], objective: dict[str, object], name: str | None
) -> None:
    """One percent of the rate that is lacking counts as ten percent of the cost."""
    assert taken(choice(machines, **objective)) == name


def test_what_is_not_sure_has_its_probability() -> None:
    """Below 0.9 an answer is provisional, which follows from it."""
    sure, likely = choice(CLOSE, at_least=100.0), choice([CLOSE[0], CLOSE[2]], at_least=100.0)
    assert sure.probability >= 0.9 > likely.probability >= 0.5
    within = choice([CLOSE[0], CLOSE[2]], deadline=Deadline(100 * HOUR, HOUR))
    assert within.asked_event is Event.IN_TIME
    assert within.chosen is not None
    assert within.chosen.probability == pytest.approx(likely.chosen.probability if likely.chosen else 0.0)


def test_a_disk_that_loses_more_than_it_saves_is_not_taken() -> None:
    """Two percent of the best disk's rate at the same size are the most; of two as good the cheaper."""
    disks = {"hdd": (90.0, 0.01), "ssd": (100.0, 0.05), "nvme": (100.5, 0.5)}
    machines = [machine("T4", rate, 1.0, 0.002, name, usd) for name, (rate, usd) in disks.items()]
    found = choice(machines).chosen
    assert found is not None
    assert found.candidate.spec.disk == "ssd"


def test_fastest_is_the_cheapest_of_those_within_one_percent() -> None:
    machines = [machine("T4", 99.5, 1.0), machine("V100", 100.0, 3.0), machine("L4", 98.0, 0.5)]
    assert taken(choice(machines, prefer="fastest")) == "T4"


def test_a_latency_that_is_not_kept_excludes() -> None:
    slow, fast = (replace(each, latency_p99=at) for each, at in zip(SURE_OF_BOTH, (0.030, 0.010), strict=True))
    assert taken(choice([slow, fast], latency_p99=0.020)) == "V100"
    assert taken(choice([slow, fast], latency_p99=0.005)) is None


def test_the_same_question_has_the_same_answer() -> None:
    """The draws are seeded."""
    assert choice(CLOSE).probability == choice(CLOSE).probability
