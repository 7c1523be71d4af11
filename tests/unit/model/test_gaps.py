"""A curve is fitted over the rows that say its axis; rows that leave it empty stay measurements."""

from __future__ import annotations

from pathlib import Path

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.model.gaps import without_gaps
from sizer.model.prediction import predict
from sizer.recommend.recommendation import recommend
from sizer.records.configuration import Configuration
from sizer.records.study import Objective
from tests.tables import runs_of

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


def test_runs_that_say_all_are_the_same(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, CURVE)
    assert without_gaps(runs) == list(runs)


def test_a_machine_of_unknown_size_is_compared_with_the_others(tmp_path: Path) -> None:
    """And may be the answer."""
    runs = runs_of(
        tmp_path,
        "workload,gpu,vcpus,usd_per_hour,throughput\na,T4,4,0.5,100\na,T4,8,0.8,110\na,A10G,,1,400\na,V100,8,3,500\n",
    )
    answer = recommend(fit(runs), runs, Objective(), Catalog.load()).workloads[0]
    assert answer.spec is not None
    assert (answer.status, answer.spec.gpu, answer.spec.vcpus) == ("recommended", "A10G", None)
    assert len(answer.alternatives) == 4
