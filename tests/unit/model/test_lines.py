"""Many predictions at once are those that are made one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sizer.exchange.imported import read_measurements
from sizer.model.fitting import fit
from sizer.model.prediction import predict, predict_several
from sizer.records.configuration import Configuration
from sizer.records.prediction import Refusal, Refused
from tests.tables import stored_catalog

GIB = 2**30
VCPUS = "workload,vcpus,throughput\n" + "".join(
    f"a,{vcpus},{rate}\n"
    for vcpus, rate in ((1, 98), (2, 199), (3, 270), (4, 371), (6, 540), (8, 610), (12, 640), (16, 641))
)
MEMORY = "workload,cache,memory_gib,dataset_gib,throughput\n" + "".join(
    f"a,natural,{memory},60,{rate}\n" for memory, rate in ((4, 50), (8, 55), (16, 61), (32, 80), (64, 300))
)
KINDS = "workload,gpu,gpu_count,vcpus,throughput\n" + "".join(
    f"a,{gpu},{count},{vcpus},{round(1 / (1 / (base * count) + 1 / (90 * vcpus)), 1)}\n"
    for gpu, base in (("K80", 60), ("V100", 380))
    for count in (1, 2, 4)
    for vcpus in (4, 8, 16)
)
TOO_FEW = "workload,vcpus,throughput\na,1,100\na,2,190\n"
KILLED = "workload,vcpus,memory_gib,throughput,outcome\na,1,8,90,\na,2,8,170,\na,4,8,300,\na,4,2,,out_of_memory\n"


@pytest.mark.parametrize("table", [VCPUS, MEMORY, KINDS, TOO_FEW, KILLED])
def test_many_are_what_each_is_alone(tmp_path: Path, table: str) -> None:
    """Digit for digit but for the order of sums; also where there is no answer."""
    (tmp_path / "table.csv").write_text(table)
    model = fit(read_measurements(tmp_path / "table.csv", stored_catalog()).runs).workload("a")
    places = [
        Configuration(vcpus, memory, None, None, gpu, 2 if gpu else None)
        for vcpus in (None, 0.5, 1.0, 2.0, 5.0, 16.0, 40.0)
        for memory in (None, GIB, 10 * GIB, 32 * GIB, 100 * GIB)
        for gpu in (None, "V100")
    ]
    for place, found in zip(places, predict_several(model, places), strict=True):
        if isinstance(found, Refusal):
            with pytest.raises(Refused) as refused:
                predict(model, place)
            assert refused.value.refusal == found
            continue
        alone = predict(model, place)
        assert replace(found, throughput=alone.throughput, shares=alone.shares, headroom=alone.headroom) == alone
        assert found.shares == pytest.approx(alone.shares, rel=1e-6, abs=1e-9)
        assert (found.headroom is None) == (alone.headroom is None)
        assert (found.headroom or 0.0) == pytest.approx(alone.headroom or 0.0, rel=1e-6)
        assert [found.throughput.value, found.throughput.low, found.throughput.high] == pytest.approx(
            [alone.throughput.value, alone.throughput.low, alone.throughput.high], rel=1e-9
        )
