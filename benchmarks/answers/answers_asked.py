"""Tables written for `sizer import`, read by it, fitted, and asked for an objective. What is sizer's is used here only.

No study folder is made of a table: writing it and its report would take most of the time.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from answers_jobs import OUT_OF_MEMORY, REAL, PublishedJob
from answers_truth import Given

from sizer.catalog.catalog import Catalog
from sizer.exchange.imported import read_measurements
from sizer.model.fitting import fit
from sizer.model.model import Model
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.errors import SizerError
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.records.units import GIB


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
