"""The reference configuration: which one it is, and how often a study measures it again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.plan.reference_runs import FEWEST_RUNS, MOST_BETWEEN, is_measurement, reference
from sizer.plan.run_order import plan
from sizer.records import GIB
from sizer.records.study import Device, Limits, Measure, Purpose, RunSpec, Study, Workload, WorkloadPlan
from sizer.study import HostSize

HOST = HostSize(4, 16 * GIB)
EMULATED = Device("emulated", gpu="P100", samples_per_second=219.0)


def study(*plans: WorkloadPlan, around: Limits | None = None, repeats: int = 1) -> Study:
    return Study("s", plans, around=around, measure=Measure(repeats=repeats))


def planned(kind: str = "image_training", device: Device | None = None, **axes: Any) -> WorkloadPlan:
    workload = Workload(f"{kind}-{device.kind if device else 'cpu'}", kind, device=device or Device())
    return WorkloadPlan(workload, **{"batch_size": (32,), "vcpus": (1.0, 2.0, 4.0), **axes})


def chosen(*plans: WorkloadPlan, around: Limits | None = None) -> RunSpec:
    found = reference(study(*plans, around=around, repeats=2), HOST)
    assert found is not None
    return found


def test_what_hides_a_slower_host_is_no_reference() -> None:
    """An emulated accelerator makes the same rate on any host, so a workload on the CPU is taken, and a quick one."""
    plans = [planned(device=EMULATED), planned("image_training"), planned("lstm_training")]
    assert chosen(*plans).workload.name == "lstm_training-cpu"


def test_the_reference_is_the_point_or_the_largest() -> None:
    """The point of a study around one; else the most vCPUs with the most memory, the first batch and the first disk."""
    point = Limits(2.0, 2 * GIB, "ssd")
    assert chosen(planned(), around=point).limits == point
    crossed = planned(memory_bytes=(GIB // 8, 2 * GIB), disk=("ssd", "hdd"), batch_size=(16, 32))
    assert (chosen(crossed).limits, chosen(crossed).batch_size) == (Limits(4.0, 2 * GIB, "ssd"), 16)


def test_only_emulated_accelerators() -> None:
    """The fewest vCPUs are the likeliest to bind, and show what the emulated accelerator would hide."""
    assert chosen(planned(device=EMULATED)).limits.vcpus == 1.0
    assert chosen(planned(device=EMULATED), around=Limits(2.0, GIB)).limits == Limits(1.0, GIB)


@pytest.mark.parametrize(("count", "again"), [(FEWEST_RUNS - 1, 0), (FEWEST_RUNS, 1), (9, 1), (10, 2), (17, 2)])
def test_a_few_runs_are_enough(count: int, again: int) -> None:
    """A study of a few runs has none extra; then one at its end, and one for every eight runs between."""
    specs = plan(study(planned(vcpus=tuple(map(float, range(1, count + 1))))), HostSize(64, GIB))
    assert sum(spec.purpose is Purpose.REFERENCE for spec in specs) == again


@given(st.integers(1, 60), st.integers(1, 6), st.booleans())
def test_the_reference_is_never_long_ago(count: int, repeats: int, around: bool) -> None:
    """First, last and at most eight runs apart, also from one repeat to the next; no run is lost or doubled."""
    asked = study(
        planned(vcpus=tuple(map(float, range(1, count + 1)))),
        planned("lstm_training", vcpus=(1.0,)),
        around=Limits(2.0) if around else None,
        repeats=repeats,
    )
    specs, found = plan(asked, HostSize(64, GIB)), reference(asked, HostSize(64, GIB))
    assert len({spec.id for spec in specs}) == len(specs)
    if found is None:
        assert len(specs) < FEWEST_RUNS
        return
    places = [index for index, spec in enumerate(specs) if is_measurement(spec, found)]
    assert (places[0], places[-1]) == (0, len(specs) - 1)
    assert all(after - before <= MOST_BETWEEN + 1 for before, after in pairwise(places))
    assert [specs[place].repeat for place in places if specs[place].purpose is not Purpose.REFERENCE] == list(
        range(repeats)
    )
    extra = [spec.repeat for spec in specs if spec.purpose is Purpose.REFERENCE]
    assert extra == list(range(repeats, repeats + len(extra)))
    assert all(is_measurement(spec, found) for spec in specs if spec.purpose is Purpose.REFERENCE)


def test_axes_that_nobody_waits_for_have_none() -> None:
    """A study folder that was edited by hand does not make its reader count for hours."""
    many = tuple(range(1, 3001))
    assert reference(study(planned(vcpus=tuple(map(float, many)), memory_bytes=many, batch_size=many)), HOST) is None
