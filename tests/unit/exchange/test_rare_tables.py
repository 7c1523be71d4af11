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
