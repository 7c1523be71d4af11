"""Of measurements made elsewhere the vCPUs may be unknown: then the answer names no number of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer, Recommendation
from sizer.records.configuration import Bottleneck
from sizer.records.device import DiskRates
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.records.units import GIB
from sizer.words.names import Terms
from sizer.words.reasons import reason_sentences
from sizer.words.reasons.suggestions import suggestion_sentences
from tests.tables import stored_catalog

RATES = {"slow": DiskRates(500, 1e7), "fast": DiskRates(9000, 4e8)}


def without_vcpus(run: Run) -> Run:
    return replace(run, configuration=replace(run.configuration, vcpus=None))


def asked(runs: list[Run]) -> Recommendation:
    return recommend(fit(runs), runs, Objective(), stored_catalog())


def said(answer: Answer) -> str:
    terms = Terms(answer.workload, answer.sample_unit)
    rejected = [" ".join(reason_sentences(each.why, terms)) for each in answer.rejected]
    return "\n".join([*reason_sentences(answer.reasons, terms), *rejected, advice(answer)])


def advice(answer: Answer) -> str:
    return suggestion_sentences(answer.next_run, Terms(answer.workload)) if answer.next_run is not None else ""


@pytest.fixture
def by_memory(make_run: Callable[..., Run]) -> list[Run]:
    sizes = ((8, 50), (16, 100), (32, 101), (64, 100))
    return [without_vcpus(make_run(rate, 1, memory=size * GIB, capped=True)) for size, rate in sizes]


def test_memory_alone_is_answered_in_sizes_of_memory(by_memory: list[Run]) -> None:
    """Not in what families offer with a number of vCPUs that nobody knows."""
    (answer,) = asked(by_memory).workloads
    assert (answer.spec.vcpus, answer.spec.memory_bytes) == (None, 16 * GIB)
    assert not re.search(r"\d vCPU", said(answer))
    assert "The table has no `vcpus`" in said(answer)
    assert answer.instances == ()
    assert (
        advice(answer)
        == "Measure `train` at three vCPU values or more, or add a column `vcpus` and import the table again."
    )


def test_disks_alone(make_run: Callable[..., Run]) -> None:
    """The answer is a disk, and has no vCPUs."""
    runs = [
        without_vcpus(make_run(rate, 1, disk=name, rates=RATES[name], repeat=k))
        for name, rate in (("slow", 50), ("fast", 100))
        for k in range(3)
    ]
    (answer,) = asked(runs).workloads
    assert (answer.spec.vcpus, answer.spec.disk) == (None, "fast")
    assert not re.search(r"\d vCPU", said(answer))


def test_what_only_vcpus_would_show_is_not_named(by_memory: list[Run]) -> None:
    """CPU, serial part or accelerator: runs at one unknown size cannot tell; that memory was short they can."""
    (answer,) = asked(by_memory).workloads
    assert answer.bottleneck is Bottleneck.AMBIGUOUS
    reasons = [reason for each in answer.rejected for reason in each.why]
    assert {reason.figures.get("bottleneck") for reason in reasons} <= {None, "memory"}


def test_a_table_of_one_gpu_lacks_no_vcpus(make_run: Callable[..., Run]) -> None:
    """No advice about an axis that it does not have, and no guess at a bottleneck that it cannot show."""
    plain = [without_vcpus(make_run(rate, 1, batch=batch)) for batch, rate in ((16, 300), (32, 400), (64, 450))]
    runs = [
        replace(run, configuration=replace(run.configuration, gpu="V100", gpu_count=1, memory_bytes=None), demand=None)
        for run in plain
    ]
    (answer,) = asked(runs).workloads
    assert answer.spec.gpu == "V100"
    assert "three vCPU values" not in said(answer)
    assert "best guess" not in said(answer)
    assert "bottleneck" not in said(answer)
    assert answer.bottleneck is Bottleneck.AMBIGUOUS
