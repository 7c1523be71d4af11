"""Tables written for `sizer import`, read by it, fitted, and asked for an objective, and for rates that were left out.
What is sizer's is used here only.

No study folder is made of a table: writing it and its report would take most of the time.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from answers_jobs import OUT_OF_MEMORY, REAL, PublishedJob
from answers_truth import Given
from goals import error

from sizer.catalog.catalog import Catalog
from sizer.exchange.imported import read_measurements
from sizer.model.fitting import fit
from sizer.model.model import Model
from sizer.model.prediction import predict
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.configuration import Configuration
from sizer.records.errors import NoAnswer, SizerError
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.records.units import GIB

FEWEST = 4
"""With one of three left out nothing could be said of it."""
AXES = ("batch_size", "gpu_count", "vcpus")
PARTS = 3


@dataclass(frozen=True)
class ReadTable:
    """A table as sizer understood it."""

    runs: tuple[Run, ...]
    model: Model
    catalog: Catalog


def write_table(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """One run a row; a column without any value is left out, and a cell without one is empty."""
    columns = [column for column in rows[0] if any(row[column] is not None for row in rows)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(["" if row[column] is None else row[column] for column in columns] for row in rows)


def job_rows(job: PublishedJob) -> list[dict[str, object]]:
    """The rows of a job with the columns of a table of measurements."""
    with_vcpus = all(row.machine.vcpus is not None for row in job.rows)
    with_batch = all(row.batch_size is not None for row in job.rows)
    return [
        {
            "workload": f"{job.terms['mode']}_{job.terms['network']}",
            "framework": job.terms["framework"] or None,
            "network": job.terms["network"],
            "precision": job.terms["precision"] or None,
            "gpu": row.machine.gpu,
            "gpu_count": row.machine.gpu_count or None,
            "device": "cpu" if row.machine.gpu is None else None,
            "instance_type": row.machine.instance_type or None,
            "vcpus": f"{row.machine.vcpus:g}" if with_vcpus else None,
            "batch_size": row.batch_size if with_batch else None,
            "input": "disk" if row.input == REAL else row.input or None,
            "usd_per_hour": row.machine.usd_per_hour,
            "throughput": None if row.rate is None else f"{row.rate:.6g}",
            "outcome": OUT_OF_MEMORY if row.rate is None else None,
            "sample_unit": job.terms["unit"],
        }
        for row in job.rows
    ]


def read_table(path: Path) -> ReadTable:
    """Raises SizerError for a table that is refused."""
    catalog = Catalog.load()
    runs = read_measurements(path, catalog).runs
    return ReadTable(runs, fit(runs), catalog)


def asked(table: ReadTable, objective: Objective) -> Given:
    """What sizer answers for the table's one workload."""
    try:
        answers = recommend(table.model, table.runs, objective, table.catalog).workloads
    except SizerError as error:
        return Given(refused=str(error))
    if len(answers) != 1:
        return Given(refused=f"{len(answers)} workloads where the table has one")
    return _given(answers[0])


def _given(answer: Answer) -> Given:
    spec = answer.spec
    if spec is None:
        return Given(refused=", ".join(reason.code.value for reason in answer.reasons))
    offer = answer.instances[0] if answer.instances else None
    return Given(
        gpu=spec.gpu,
        gpu_count=spec.gpu_count,
        vcpus=spec.vcpus,
        memory_gib=None if spec.memory_bytes is None else spec.memory_bytes / GIB,
        batch_size=spec.batch_size,
        instance_type=offer.instance_type if offer else None,
        priced=offer is not None and offer.usd_per_hour is not None,
    )


@dataclass(frozen=True)
class RateLeftOut:
    """One rate that was left out; `predicted` None is a refusal. `between` is whether its machine's kind was measured
    at no more and at no less of every axis."""

    configuration: Configuration
    between: bool
    truth: float
    predicted: float | None
    low: float = 0.0
    high: float = 0.0

    @property
    def error(self) -> float:
        return error(self.predicted or 0.0, self.truth)

    @property
    def covered(self) -> bool:
        """Whether it lies in the 90 % interval."""
        return self.low <= self.truth <= self.high


def thirds(runs: Sequence[Run]) -> tuple[RateLeftOut, ...]:
    """Every configuration of a table with four or more once: each third in the order of the rows (1, 4, 7 ...; 2, 5, 8
    ...; 3, 6, 9 ...) is left out at once."""
    places = _places(runs)
    if len(places) < FEWEST:
        return ()
    return tuple(rate for part in range(PARTS) for rate in _left_out(runs, places[part::PARTS]))


def _places(runs: Sequence[Run]) -> list[Configuration]:
    return list(dict.fromkeys(run.configuration for run in runs if run.throughput is not None))


def _left_out(runs: Sequence[Run], left_out: Sequence[Configuration]) -> list[RateLeftOut]:
    kept = [run for run in runs if run.configuration not in left_out]
    try:
        model = fit(kept).workloads[0]
    except NoAnswer:
        model = None
    found = []
    for place in left_out:
        rates = [run.throughput.value for run in runs if run.configuration == place and run.throughput is not None]
        truth, between = fmean(rates), is_between(_places(kept), place)
        try:
            said = None if model is None else predict(model, place).throughput
        except NoAnswer:
            said = None
        if said is None:
            found.append(RateLeftOut(place, between, truth, None))
        else:
            found.append(RateLeftOut(place, between, truth, said.value, said.low, said.high))
    return found


def is_between(kept: Sequence[Configuration], place: Configuration) -> bool:
    """Whether every axis of it lies in the range of the kept ones with the same GPU."""
    alike = [asdict(each) for each in kept if each.gpu == place.gpu]
    values = asdict(place)
    return bool(alike) and all(
        min(each[axis] or 0 for each in alike) <= (values[axis] or 0) <= max(each[axis] or 0 for each in alike)
        for axis in AXES
    )
