"""Is JPEG decoding on one CPU told from others? Each of five CPUs is left out once: elsewhere.py [--pairs]

A table names the CPU of each row, as `sizer import` reads it, and the rate of each decoder with one worker and with
eight is predicted on the CPU that is left out: by the rows of the four others, and with `--pairs` by those of each
other one alone. Beside it: no transfer, clock, and a single published score.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

sys.path += [str(Path(__file__).parents[1] / "shared"), str(Path(__file__).parents[2])]

from goals import GoalRow, at_most, error, in_processes, printed, share

from sizer.catalog.processors import processor_called
from sizer.exchange.imported import read_measurements
from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.model.transfer import knowing, on_machines
from sizer.records.device import Processor
from sizer.records.prediction import Configuration, Estimate

CPUS = Path(__file__).parents[2] / "sizer/catalog/data/cpus.csv"
RIVALS = {"no transfer": "", "clock": "base_mhz", "PassMark": "passmark_1t"}
WORKERS = (1, 8)
GOAL, COVERED = 0.05, (0.85, 0.95)
Rates = Mapping[tuple[str, str, int], float]


@dataclass(frozen=True)
class Case:
    """A decoder whose rates on one CPU are told from those on others."""

    decoder: str
    left_out: str
    others: tuple[str, ...]


@dataclass(frozen=True)
class Told:
    """With so many workers, what is predicted, the true rate, and by rival what that says."""

    workers: int
    truth: float
    predicted: Estimate
    rivals: Mapping[str, float]


def tell(case: Case) -> list[Told]:
    """By the rows of the other CPUs, as a table that names them."""
    rates, scores = loaders(), published()
    text = ["workload,kind,instance_type,vcpus,throughput,sample_unit"]
    for cpu in case.others:
        own = [
            (workers, rate)
            for (decoder, where, workers), rate in rates.items()
            if (decoder, where) == (case.decoder, cpu)
        ]
        text += [f"{case.decoder},imagenet_preprocessing,{cpu},{workers},{rate},image" for workers, rate in own]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "loaders.csv")
        path.write_text("\n".join(text))
        runs = read_measurements(path, None).runs
    names = {id(run): str(run.declared.machine and run.declared.machine.name) for run in runs}
    named, machines = on_machines(runs, {run: machine(name) for run, name in names.items()})
    there = machine(case.left_out)
    model = knowing(fit(named, None, machines).workloads[0], [there])

    def by(score: Mapping[str, float], workers: int) -> float:
        logs = [math.log(rates[case.decoder, cpu, workers] / score.get(cpu, 1.0)) for cpu in case.others]
        return math.exp(fmean(logs)) * score.get(case.left_out, 1.0)

    return [
        Told(
            workers,
            rates[case.decoder, case.left_out, workers],
            predict(model, Configuration(float(workers), None, None, None, machine=there.name)).throughput,
            {name: by(scores[name], workers) for name in RIVALS},
        )
        for workers in WORKERS
    ]


def machine(cpu: str) -> Processor:
    """The 16 vCPUs of that CPU, by its model: of whom they were rented is not in the table."""
    processor = processor_called(cpu, 16.0)
    if processor is None:
        raise LookupError(cpu)
    return processor


def loaders() -> Rates:
    """Images a second by decoder, CPU and workers."""
    with (Path(__file__).parent / "loaders.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {(row["decoder"], row["cpu_model"], int(row["processes"])): float(row["images_per_second"]) for row in rows}


def published() -> dict[str, dict[str, float]]:
    """By rival the median score of each CPU model."""
    with CPUS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    cpus = {cpu for _, cpu, _ in loaders()}
    return {
        name: {
            cpu: median(float(row[column]) for row in rows if row["cpu_model"].lower() == cpu.lower() and row[column])
            for cpu in (cpus if column else ())
        }
        for name, column in RIVALS.items()
    }


def figures(part: str, answers: Sequence[Told]) -> list[GoalRow]:
    """How far off, and how many are covered; the goals are of one worker and of eight together."""
    goal, covered = (GOAL, COVERED) if part.endswith("both") else (None, (None, None))
    errors = [error(one.predicted.value, one.truth) for one in answers]
    inside = [one.predicted.low <= one.truth <= one.predicted.high for one in answers]
    rows = [at_most(part, "median error", errors, 0.5, goal), at_most(part, "90th percentile", errors, 0.9)]
    rows.append(share(part, "covered by intervals of 90 %", inside, *covered))
    for name in RIVALS:
        rows.append(
            at_most(part, f"median error, {name}", [error(one.rivals[name], one.truth) for one in answers], 0.5)
        )
    return rows


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", action="store_true", help="from each other CPU alone, too")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    cpus = sorted({cpu for _, cpu, _ in loaders()})
    decoders = sorted({decoder for decoder, _, _ in loaders()})
    others = {cpu: tuple(other for other in cpus if other != cpu) for cpu in cpus}
    cases = {"four others": [Case(decoder, cpu, others[cpu]) for decoder in decoders for cpu in cpus]}
    if given.pairs:
        pairs = itertools.permutations(cpus, 2)
        cases["one other"] = [Case(decoder, cpu, (other,)) for cpu, other in pairs for decoder in decoders]
    rows: list[GoalRow] = []
    for name, some in cases.items():
        by_case = in_processes(tell, [(case,) for case in some], given.processes)
        answers = [answer for of_case in by_case for answer in of_case]
        for workers in WORKERS:
            rows += figures(f"{name}, {workers} workers", [one for one in answers if one.workers == workers])
        rows += figures(f"{name}, both", answers)
    return printed(rows)


if __name__ == "__main__":
    sys.exit(main())
