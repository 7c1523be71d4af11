"""Tables that few people write: many workloads, two epochs, GPUs that were none, rates that nobody published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.catalog.catalog import Catalog
from sizer.exchange import imported
from sizer.exchange.imported import Imported, read_measurements
from sizer.model.fitting import fit
from sizer.records.messages import InputError
from sizer.records.run_kinds import Purpose
from sizer.words.language import in_words

Read = Callable[..., Imported]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str, figures: Catalog | None = None) -> Imported:
        path = tmp_path / "table.csv"
        path.write_text(text)
        return read_measurements(path, figures)

    return read


def test_a_table_of_too_many_workloads_is_to_be_split(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study has a bound of them."""
    monkeypatch.setattr(imported, "MOST_WORKLOADS", 2)
    with pytest.raises(InputError, match="has 3 workloads, and a study has at most 2; split the table"):
        read("workload,vcpus,throughput\na,1,10\nb,1,10\nc,1,10\n")


def test_no_gpus_have_no_name(read: Read) -> None:
    """A count of 0 beside the name of a GPU contradicts it, and both cells are quoted."""
    with pytest.raises(InputError) as refused:
        read("workload,vcpus,throughput,gpu,gpu_count\na,1,10,V100,0\n")
    said = in_words(refused.value)
    assert "line 2" in said
    assert "0 GPUs, but `gpu` is V100; write how many there were, or leave `gpu` empty." in said


def test_two_later_epochs_are_one_run_without_an_interval(read: Read) -> None:
    """After the first, the rate over both is their harmonic mean; of two values nobody knows the spread."""
    found = read(
        "workload,vcpus,repeat,epoch,throughput,core_seconds_per_sample\na,1,1,0,50,0.09\na,1,1,1,100,0.01\n"
        "a,1,1,2,300,0.03\na,2,1,0,100,\n"
    )
    first, second = sorted(found.runs, key=lambda run: run.configuration.vcpus or 0)
    assert first.throughput is not None
    assert (first.throughput.value, first.throughput.low, first.throughput.high) == pytest.approx((150, 150, 150))
    assert first.demand is not None
    assert first.demand.core_seconds == pytest.approx(0.02)
    assert second.throughput is not None
    assert second.throughput.value == 100


def test_a_run_of_a_search_stays_one(read: Read) -> None:
    """It says where the memory floor is and not how fast the job is."""
    found = read("workload,vcpus,memory_gib,throughput,warnings\na,1,2,10,floor_search\na,1,4,20,\n")
    search, asked = sorted(found.runs, key=lambda run: run.configuration.memory_bytes or 0)
    assert (search.spec.purpose, search.warnings) == (Purpose.FLOOR_SEARCH, ())
    assert asked.spec.purpose is Purpose.ASKED


def test_two_devices_are_two_places_of_a_table_without_gpus(read: Read) -> None:
    """What differs between two rows may be the device alone, and each is an accelerator of its own."""
    rows = [
        f"a,{vcpus},{vcpus * rate},emulated:{gpu}" for vcpus in (1, 2, 4) for gpu, rate in (("P100", 10), ("V100", 20))
    ]
    assert len(read("\n".join(["workload,vcpus,throughput,device", *rows[:2]])).runs) == 2
    model = fit(read("\n".join(["workload,vcpus,throughput,device", *rows])).runs).workload("a")
    measured = {
        (rate.configuration.gpu, rate.configuration.vcpus): rate.throughput.value for rate in model.measured.rates
    }
    assert measured == {
        (f"emulated:{gpu}", vcpus): vcpus * rate for vcpus in (1, 2, 4) for gpu, rate in (("P100", 10), ("V100", 20))
    }
