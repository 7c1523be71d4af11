"""The efficiency curve over batch sizes: the smallest batch that is enough, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.model.batch_curve import batch_curves, nearest
from sizer.records.batch_sizes import BatchCurve, StepFit
from sizer.records.device import Device
from sizer.records.run import Run
from tests.tables import runs_of

TWO_GPUS = """workload,gpu,gpu_count,batch_size,throughput,outcome
job,V100,1,8,180,
job,V100,1,16,260,
job,V100,1,32,330,
job,V100,1,64,370,
job,V100,1,128,395,
job,V100,1,256,,out_of_memory
job,K80,1,8,40,
job,K80,1,16,45,
"""


def table(rates: dict[int, list[float]]) -> str:
    rows = [f"job,2,{batch},{rate!r}" for batch, repeats in rates.items() for rate in repeats]
    return "\n".join(["workload,vcpus,batch_size,throughput", *rows])


def curve_of(folder: Path, rates: dict[int, list[float]]) -> BatchCurve:
    (found,) = batch_curves(runs_of(folder, table(rates)))
    return found


def test_each_kind_of_accelerator_has_its_curve(tmp_path: Path) -> None:
    """The one with the most batch sizes comes first; what ran out of memory is no point of it."""
    v100, k80 = batch_curves(runs_of(tmp_path, TWO_GPUS))
    assert (v100.at.gpu, [point.batch_size for point in v100.points]) == ("V100", [8, 16, 32, 64, 128])
    assert (k80.at.gpu, k80.fit) == ("K80", StepFit.UNTESTED)
    assert v100.points[0].seconds_per_sample == pytest.approx(1 / 180)
    assert v100.points[0].step_seconds == pytest.approx(8 / 180)
    assert nearest((v100, k80), k80.at) is k80
    assert nearest((v100, k80), None) is v100
    assert nearest((), k80.at) is None


def test_launch_and_slope_are_those_of_the_job(tmp_path: Path) -> None:
    """20 ms a step and 2 ms a sample, from rates alone."""
    rates = {batch: [batch / (0.020 + 0.002 * batch)] for batch in (8, 16, 32, 64)}
    found = curve_of(tmp_path, rates)
    assert found.fit is StepFit.AFFINE
    assert found.launch is not None
    assert found.slope is not None
    assert found.launch.value == pytest.approx(0.020)
    assert found.slope.value == pytest.approx(0.002)
    assert (found.rising, found.beyond) == (True, 190)  # 19 x launch / slope


def test_the_smallest_batch_within_five_percent_is_enough(tmp_path: Path) -> None:
    """Clearly above it is sure, clearly below it is not open."""
    found = curve_of(tmp_path, {8: [50, 51, 49], 16: [80, 81, 79], 32: [99.5, 100, 99], 64: [100, 101, 99.5]})
    assert (found.best, found.enough, found.sure, found.open) == (64, 32, True, ())


def test_a_batch_near_the_edge_is_left_open(tmp_path: Path) -> None:
    """94 of 100 with runs that differ by 3 %: whether that is within 5 % the runs do not tell."""
    found = curve_of(tmp_path, {8: [50, 51, 49], 16: [91, 94, 97], 32: [97, 100, 103]})
    assert (found.enough, found.open) == (32, (16,))
    unsure = curve_of(tmp_path, {8: [50, 51, 49], 16: [93, 96, 99], 32: [97, 100, 103]})
    assert (unsure.enough, unsure.sure) == (16, False)


@given(
    st.floats(0, 0.5),
    st.floats(1e-4, 0.1),
    st.lists(st.integers(1, 512), min_size=2, max_size=5, unique=True),
)
def test_what_is_enough_is_enough(
    tmp_path_factory: pytest.TempPathFactory, launch: float, slope: float, batches: list[int]
) -> None:
    """It gives 95 % of the best rate, nothing smaller that was measured does, and the best is among those measured."""
    rates = {batch: [batch / (launch + slope * batch)] for batch in batches}
    found = curve_of(tmp_path_factory.mktemp("table"), rates)
    best = max(rate for (rate,) in rates.values())
    assert math.isclose(rates[found.best][0], best)
    assert rates[found.enough][0] >= 0.95 * best * (1 - 1e-9)
    assert all(rates[batch][0] < 0.95 * best for batch in batches if batch < found.enough)
    assert all(batch < found.enough for batch in found.open)


def test_one_batch_size_is_no_curve(tmp_path: Path) -> None:
    assert batch_curves(runs_of(tmp_path, table({32: [100, 101]}))) == ()
    runs: tuple[Run, ...] = ()
    assert batch_curves(runs) == ()


def test_an_emulated_accelerator_has_no_curve(make_run: Callable[..., Run]) -> None:
    """It waits for 1/100 s a sample at each batch size, which shows neither a launch nor which batch is enough."""
    emulated = Device("emulated", gpu="V100", samples_per_second=100.0, source="a table")
    assert batch_curves([make_run(rate, batch=batch, device=emulated) for batch, rate in ((16, 99), (32, 100))]) == ()
