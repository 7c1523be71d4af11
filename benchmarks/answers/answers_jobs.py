"""Jobs that others measured on several machines, read from tables of published figures, and what a machine costs an
hour, looked up in the catalogue's file. Pure but for the reading.

`published.csv` is what the answers were made right on; `held_out.csv` was found later and nothing is tuned on it. A job
is what one source measured with one mode, network, framework, precision, input and unit; its rows differ by machine and
batch size. Nothing here is sizer's, so that the answers of sizer are judged by other code.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CATALOG = Path(__file__).parents[2] / "sizer" / "catalog" / "data" / "instances.csv"
SAME_MEMORY = 0.1
"""A provider's GiB of a GPU may be so much less than the GB in its name."""
PUBLISHED = Path(__file__).parent / "published.csv"
HELD_OUT = Path(__file__).parent / "held_out.csv"
SAME_JOB = ("mode", "network", "framework", "precision", "input", "data", "unit", "source")
PCIE = "PCIe"
OUT_OF_MEMORY = "out_of_memory"
REAL, SYNTHETIC = "real", "synthetic"


@dataclass(frozen=True)
class Machine:
    """What a row was measured on: `gpu` None is a machine without one. `instance_type` is empty where it is not known;
    a processor that no cloud names has its own name there. `usd_per_hour` is what the source says it cost."""

    gpu: str | None
    gpu_count: int
    instance_type: str = ""
    vcpus: float | None = None
    usd_per_hour: float | None = None

    @property
    def label(self) -> str:
        """As a person would name it."""
        return f"{self.gpu_count} x {self.gpu}" if self.gpu else self.instance_type or f"{self.vcpus or 0:g} vCPUs"


@dataclass(frozen=True)
class MeasuredRow:
    """One measured rate in samples/s; None did not fit into memory. `input` says which rows of a table with both are of
    real data and which of synthetic."""

    machine: Machine
    batch_size: int | None
    rate: float | None
    input: str = ""


@dataclass(frozen=True)
class PublishedJob:
    """Rows of one job; `terms` are the columns of `SAME_JOB`."""

    number: int
    terms: Mapping[str, str]
    rows: tuple[MeasuredRow, ...]

    @property
    def label(self) -> str:
        """As a person would name it."""
        name = " ".join(self.terms[column] for column in ("mode", "network", "framework", "precision", "input", "data"))
        return f"{name} [{self.terms['source']}]"

    @property
    def machines(self) -> tuple[Machine, ...]:
        """Each that has a rate once, in the order of the rows."""
        return tuple(dict.fromkeys(row.machine for row in self.rows if row.rate is not None))


def published_jobs(paths: Iterable[Path] = (PUBLISHED,)) -> list[PublishedJob]:
    """Every job with two machines or more, in the order of the files; then every job that was measured with real data
    and with synthetic as one table of both, whose question is about real data."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            for cells in csv.DictReader(file):
                groups[tuple(cells[column] for column in SAME_JOB)].append(cells)
    jobs: list[PublishedJob] = []
    for key, group in [*groups.items(), *_both_inputs(groups)]:
        terms = dict(zip(SAME_JOB, key, strict=True))
        names = _gpu_names(group)
        rows = tuple(_row(cells, names, cells["data"] if terms["data"] != cells["data"] else "") for cells in group)
        job = PublishedJob(len(jobs), terms, rows)
        if len(job.machines) > 1:
            jobs.append(job)
    return jobs


def _both_inputs(
    groups: Mapping[tuple[str, ...], list[dict[str, str]]],
) -> list[tuple[tuple[str, ...], list[dict[str, str]]]]:
    at = SAME_JOB.index("data")
    merged = []
    for key, group in groups.items():
        synthetic = groups.get((*key[:at], SYNTHETIC, *key[at + 1 :]))
        if key[at] == REAL and synthetic is not None:
            merged.append(((*key[:at], f"{REAL} and {SYNTHETIC}", *key[at + 1 :]), [*synthetic, *group]))
    return merged


def _row(cells: Mapping[str, str], names: Mapping[tuple[str, str, str], str], data: str) -> MeasuredRow:
    machine = Machine(
        names.get(_gpu_cells(cells)),
        int(cells["gpu_count"]),
        cells["instance_type"] or cells["cpu"],
        float(cells["vcpus"]) if cells["vcpus"] else None,
        float(cells["usd_per_hour"]) if cells.get("usd_per_hour") else None,
    )
    batch = int(cells["batch_size"]) if cells["batch_size"] else None
    rate = None if cells.get("outcome") == OUT_OF_MEMORY else float(cells["samples_per_second"])
    return MeasuredRow(machine, batch, rate, data)


def _gpu_cells(cells: Mapping[str, str]) -> tuple[str, str, str]:
    return cells["gpu"], cells["gpu_memory_gib"], cells["form"]


def _gpu_names(group: Iterable[Mapping[str, str]]) -> dict[tuple[str, str, str], str]:
    """The GPUs of one job by name: with memory where two have one name, and then with PCIe where that is not enough.

    A name without a form is that of the form that clouds' largest machines have.
    """
    gpus = list(dict.fromkeys(_gpu_cells(cells) for cells in group if cells["gpu"]))
    memories: dict[str, set[str]] = defaultdict(set)
    forms: dict[tuple[str, str], set[str]] = defaultdict(set)
    for gpu, memory, form in gpus:
        memories[gpu].add(memory)
        forms[gpu, memory].add(form)
    names = {}
    for gpu, memory, form in gpus:
        name = f"{gpu}-{memory}GB" if len(memories[gpu]) > 1 else gpu
        names[gpu, memory, form] = f"{name} {PCIE}" if len(forms[gpu, memory]) > 1 and form == PCIE else name
    return names


@dataclass(frozen=True)
class Sold:
    """An instance type; a price of None is unknown, and so is a GPU's memory. `dated`: its price has a day."""

    provider: str
    instance_type: str
    region: str | None
    vcpus: float
    memory_gib: float
    gpu: str | None
    gpu_count: int
    gpu_memory_gib: float | None
    usd_per_hour: float | None
    dated: bool = True


def retired_machines(path: Path = CATALOG) -> frozenset[str]:
    """The names of those of the catalogue that nobody can rent any more: no answer may be one of them."""
    return frozenset(entry["instance_type"] for entry in _entries(path) if entry["retired"])


def sold_machines(path: Path = CATALOG) -> tuple[Sold, ...]:
    """Every instance type of the catalogue that can be rented."""
    return tuple(
        Sold(
            entry["provider"],
            entry["instance_type"],
            entry["region"] or None,
            float(entry["vcpus"]),
            float(entry["memory_gib"]),
            entry["gpu"] or None,
            int(float(entry["gpu_count"] or 0)),
            float(entry["gpu_memory_gib"]) if entry["gpu_memory_gib"] else None,
            float(entry["price_per_hour"]) if entry["price_per_hour"] and entry["currency"] == "USD" else None,
            bool(entry["as_of"]),
        )
        for entry in _entries(path)
        if entry["status"] in ("active", "previous-generation")
        and not entry["shared_cpu"]
        and "arm" not in entry["cpu_arch"]
    )


def _entries(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def usd_per_hour(machine: Machine, sold: Sequence[Sold]) -> float | None:
    """Of the row itself where its source has one; else of the instance type that it names, where the catalogue has its
    price; else of the cheapest with exactly this GPU and at least as many of it, all of them paid for, by prices of a
    known day if there are some. A machine without a GPU has only the price of its name. None is unknown.
    """
    if machine.usd_per_hour is not None:
        return machine.usd_per_hour
    named = [offer for offer in sold if offer.instance_type == machine.instance_type and _has_gpu(offer, machine)]
    holding = named if any(offer.usd_per_hour is not None for offer in named) else []
    if not holding and machine.gpu is not None:
        holding = [offer for offer in sold if _has_gpu(offer, machine)]
    priced = [(not type_.dated, type_.usd_per_hour) for type_ in holding if type_.usd_per_hour is not None]
    return min(priced, default=(False, None))[1]


def _has_gpu(sold: Sold, machine: Machine) -> bool:
    if machine.gpu is None or sold.gpu is None:
        return machine.gpu is None and sold.gpu is None
    name = re.fullmatch(r"(.*?)(?:-(\d+)GB)?", machine.gpu)
    assert name is not None, "any text matches"
    model, memory = name.group(1), name.group(2)
    if model != re.sub(r"-\d+GB$", "", sold.gpu) or sold.gpu_count < max(1, machine.gpu_count):
        return False
    return memory is None or abs((sold.gpu_memory_gib or 0.0) / float(memory) - 1) <= SAME_MEMORY
