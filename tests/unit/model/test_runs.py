"""Which runs predictions are about, and what a curve over rows can use that leave something empty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.model.runs import as_asked, end_to_end, without_gaps
from sizer.recommend.recommendation import recommend
from sizer.records.configuration import Configuration
from sizer.records.run import Run
from sizer.records.run_kinds import Purpose
from sizer.records.study import Objective
from tests.tables import runs_of, stored_catalog

CURVE = "workload,vcpus,memory_gib,throughput\na,1,4,100\na,2,4,197\na,4,4,380\na,8,4,700\n"


def test_a_row_without_the_axis_leaves_the_curve_as_it_is(tmp_path: Path) -> None:
    """An unknown vCPU count is not one vCPU."""
    whole, gaps = runs_of(tmp_path, CURVE), runs_of(tmp_path, CURVE + "a,,4,500\na,,4,20\n")
    place = Configuration(3.0, 4 * 2**30, None, None)
    assert predict(fit(gaps).workload("a"), place) == predict(fit(whole).workload("a"), place)


def test_an_axis_of_one_value_leaves_no_row_out(tmp_path: Path) -> None:
    """Nothing is fitted over it."""
    runs = runs_of(tmp_path, CURVE + "a,16,,1200\n")
    kept = without_gaps(runs)
    assert [run.configuration.vcpus for run in kept] == [1, 2, 4, 8, 16]
    assert {run.configuration.memory_bytes for run in kept} == {None}
    assert runs[0].configuration.memory_bytes == 4 * 2**30


def test_where_each_row_lacks_something_the_least_known_axis_goes(tmp_path: Path) -> None:
    table = "workload,vcpus,batch_size,throughput\na,1,,1\na,2,,2\na,4,,3\na,,8,3\na,,16,4\n"
    kept = without_gaps(runs_of(tmp_path, table))
    assert [run.configuration.vcpus for run in kept] == [1, 2, 4]


def test_a_machine_of_unknown_size_is_compared_with_the_others(tmp_path: Path) -> None:
    """And may be the answer."""
    runs = runs_of(
        tmp_path,
        "workload,gpu,vcpus,usd_per_hour,throughput\na,T4,4,0.5,100\na,T4,8,0.8,110\na,A10G,,1,400\na,V100,8,3,500\n",
    )
    answer = recommend(fit(runs), runs, Objective(), stored_catalog()).workloads[0]
    assert answer.spec is not None
    assert (answer.status, answer.spec.gpu, answer.spec.vcpus) == ("recommended", "A10G", None)
    assert len(answer.alternatives) == 4


def fed(run: Run, input_: str, cache: str = "cold", purpose: Purpose = Purpose.ASKED) -> Run:
    """The run with another input."""
    workload = replace(run.spec.workload, input=input_, cache=cache)
    return replace(run, spec=replace(run.spec, workload=workload, purpose=purpose))


def test_what_was_planned_to_isolate_a_stage_is_no_whole_job(make_run: Callable[..., Run]) -> None:
    """Also where there is one run as asked for and three of a stage."""
    whole = make_run(100.0, 2.0)
    stages = [
        fed(make_run(200.0 * vcpus, vcpus), "cached", "warm", Purpose.ISOLATES_PIPELINE) for vcpus in (0.5, 1.0, 2.0)
    ]
    two_epochs = fed(make_run(120.0, 2.0, memory=2**30), "disk", "natural", Purpose.TWO_EPOCHS)
    runs = [*stages, whole, two_epochs]
    assert end_to_end(runs) == (whole,)
    assert as_asked(runs) == (whole,)


def test_of_what_others_measured_the_input_with_the_most_configurations_counts(make_run: Callable[..., Run]) -> None:
    """Repeats of one configuration are one; of as many, the input that does most."""
    disk = [make_run(100.0 * vcpus, vcpus) for vcpus in (1.0, 2.0)]
    cached = [fed(make_run(150.0, 1.0), "cached", "warm")] * 3
    assert end_to_end([*cached, *disk]) == tuple(disk)
    assert end_to_end([*cached, disk[0]]) == (disk[0],)


def test_a_replay_is_never_the_whole_job(make_run: Callable[..., Run]) -> None:
    """Where there is nothing else, there is nothing to predict."""
    replays = [fed(make_run(500.0, vcpus), "replay") for vcpus in (1.0, 2.0, 4.0)]
    assert end_to_end(replays) == as_asked(replays) == ()
