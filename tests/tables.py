"""Tables of measurements, written in a test as their rows, as the runs that sizer reads of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from sizer.catalog.catalog import Catalog
from sizer.exchange.imported import Imported, read_measurements
from sizer.records.answer import Answer
from sizer.records.notes import NoteKind
from sizer.records.run import Run
from sizer.words.names import Terms
from sizer.words.reasons.phrasing import reason_sentences

STORED = Path(__file__).parent / "stored"

Read = Callable[..., Imported]
"""Imports a table given as text, under a name of its own or none."""

NAMED = """workload,instance_type,usd_per_hour,gpu,gpu_count,throughput
job,small.a,1.0,T4,1,100
job,small.b,1.5,A10G,1,300
job,small.c,9.0,H100,1,900
job,small.d,2.0,A10G,1,290
"""

WHOLE_MACHINES = """
    workload,gpu,gpu_count,vcpus,memory_gib,batch_size,throughput,outcome
    job,A100,1,12,85,64,900,
    job,A100,1,12,85,128,1100,
    job,A100,1,12,85,256,,out_of_memory
    job,A100,2,24,170,128,1750,
    job,A100,2,24,170,256,2100,
    job,A100,4,48,340,256,3400,
    job,A100,4,48,340,512,3950,
    job,A100,8,96,680,512,6100,
    job,A100,8,96,680,1024,7000,
    job,T4,1,4,16,64,120,
    job,T4,4,48,192,256,450,
"""
"""Machines whose vCPUs and memory grow with their accelerators."""


@cache
def stored_catalog() -> Catalog:
    """182 instance types at prices that stay: an answer to a table follows from the table and from these."""
    return Catalog.load(STORED / "instances.csv")


def kinds(table: Imported) -> list[NoteKind]:
    """What is noted of the table, without what it is called."""
    return [note.kind for note in table.notes[1:]]


def imported(folder: Path, table: str) -> Imported:
    """The table as it is read with the stored catalogue; the lines of its text may be indented."""
    path = folder / "table.csv"
    path.write_text("\n".join(line.strip() for line in table.strip().splitlines()) + "\n")
    return read_measurements(path, stored_catalog())


def runs_of(folder: Path, table: str) -> tuple[Run, ...]:
    return imported(folder, table).runs


def sentences_of(answer: Answer) -> list[str]:
    """The sentences of an answer: its reasons, then why each cheaper one is not it."""
    terms = Terms(answer.workload, answer.sample_unit)
    return [
        *reason_sentences(answer.reasons, terms),
        *(" ".join(reason_sentences(rejection.why, terms)) for rejection in answer.rejected),
    ]
