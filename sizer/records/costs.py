"""What the work takes and costs on each machine, with a GPU and without, beside a baseline."""

from __future__ import annotations

from dataclasses import dataclass

from sizer.records.configuration import Estimate
from sizer.records.domains import Amount, Rate
from sizer.records.prediction import Spec


@dataclass(frozen=True)
class ForeignPrice:
    """An hour's in a currency of which nobody said what it is worth in US dollars."""

    amount: Amount
    currency: str


@dataclass(frozen=True)
class Cost:
    """What a machine costs at one of its prices: USD an hour, of a million samples and of the whole job; None is not
    known. `ratio` is what the same work costs there over what it costs on the baseline on demand, or at spot prices
    where those of the baseline are all that is known of it."""

    usd_per_hour: Amount
    usd_per_million_samples: Amount | None = None
    usd_of_job: Amount | None = None
    ratio: Amount | None = None


@dataclass(frozen=True)
class CostRow:
    """One machine of the table, with or without a GPU; `time_ratio` is its time over the baseline's for the same work.

    `spot_expected` is its spot price with the time that interruptions lose, where these are told. `seconds` are those
    of the whole job. `published`: of a GPU that was asked about, by its published rate.
    """

    spec: Spec
    throughput: Estimate
    instance_type: str | None = None
    seconds: Amount | None = None
    time_ratio: Amount | None = None
    on_demand: Cost | None = None
    spot: Cost | None = None
    spot_expected: Cost | None = None
    is_baseline: bool = False
    published: bool = False
    foreign: ForeignPrice | None = None

    @property
    def has_accelerator(self) -> bool:
        return self.spec.gpu is not None or self.spec.gpu_count > 0


@dataclass(frozen=True)
class CostTable:
    """CPU or GPU: machines without accelerators first, by vCPUs. `spot_time` is the expected time at spot prices over
    that without interruptions, None where these are not told; `samples` are those of the whole job."""

    rows: tuple[CostRow, ...]
    samples: Rate | None = None
    spot_time: Amount | None = None

    @property
    def baseline(self) -> CostRow | None:
        return next((row for row in self.rows if row.is_baseline), None)

    @property
    def has_both(self) -> bool:
        """Whether it has machines with accelerators and machines without."""
        return len({row.has_accelerator for row in self.rows}) > 1

    @property
    def cheapest(self) -> CostRow | None:
        """On which the work costs the least on demand."""
        return self._least("on_demand")

    @property
    def cheapest_spot(self) -> CostRow | None:
        """The same by spot prices."""
        return self._least("spot")

    def _least(self, price: str) -> CostRow | None:
        work = [
            (cost.usd_per_hour / row.throughput.value, at)
            for at, row in enumerate(self.rows)
            if (cost := getattr(row, price)) is not None
        ]
        return self.rows[min(work)[1]] if len(work) > 1 else None

    @property
    def no_faster(self) -> tuple[CostRow, CostRow] | None:
        """The fastest without an accelerator, and one with more vCPUs that is no faster; None where there is none."""
        plain = [row for row in self.rows if not row.has_accelerator and row.spec.vcpus is not None]
        best = max(plain, key=lambda row: row.throughput.value, default=None)
        larger = [row for row in plain if best is not None and (row.spec.vcpus or 0) > (best.spec.vcpus or 0)]
        return (best, larger[-1]) if best is not None and larger else None

    @property
    def slow_accelerators(self) -> tuple[tuple[CostRow, CostRow], ...]:
        """Each with an accelerator that is slower than a machine without one, and the smallest such machine."""
        plain = [row for row in self.rows if not row.has_accelerator]
        faster = {
            at: next((one for one in plain if one.throughput.value > row.throughput.value), None)
            for at, row in enumerate(self.rows)
            if row.has_accelerator
        }
        return tuple((self.rows[at], one) for at, one in faster.items() if one is not None)
