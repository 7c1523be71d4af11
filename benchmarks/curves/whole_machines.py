"""Is a program on all vCPUs of one cloud machine told from another's? A stand-in for video encoding, without options.

Of `cpus.csv` the rates of Geekbench's asset compression and of stress-ng's JPEG work by vCPU, for one family of each
CPU model: told of each other family at 8 vCPUs by its machines of 4, 8 and 16 alone, and which five do the work for the
least money.
"""

from __future__ import annotations

import csv
import itertools
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / "shared"), str(Path(__file__).parents[2])]

from goals import GoalRow, at_most, error, printed, share

from sizer.api.elsewhere import there
from sizer.catalog.catalog import Catalog
from sizer.catalog.machines import InstanceType
from sizer.catalog.processors import processor_of
from sizer.exchange.imported import read_measurements
from sizer.model.fitting import fit
from sizer.model.transfer import on_machines
from sizer.records.prediction import Estimate, Prediction

CPUS = Path(__file__).parents[2] / "sizer/catalog/data/cpus.csv"
PROGRAMS = {"asset compression": "geekbench6_asset_per_vcpu", "JPEG": "jpeg_per_vcpu"}
SIZES, ASKED, CHEAPEST = (4, 8, 16), 8, 5
GOAL, COVERED = 0.12, (0.85, 0.95)


@dataclass(frozen=True)
class Family:
    """Its machines by vCPUs, and the program's rate on one vCPU where all are busy."""

    machines: dict[int, InstanceType]
    rate: float

    @property
    def asked(self) -> InstanceType:
        """The machine that is told of."""
        return self.machines[ASKED]


def families(column: str, catalog: Catalog) -> list[Family]:
    """One for each CPU model, the cheapest; none that has several CPUs, or is not sold in these sizes for dollars."""
    with CPUS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kinds = Counter((row["provider"], row["family"]) for row in rows)
    by_name = {instance.name: instance for instance in catalog.instances()}
    cheapest: dict[str, Family] = {}
    for row in rows:
        provider, example, size = row["provider"], row["example_type"], row["example_vcpus"]
        names = {vcpus: f"{provider} {_sized(example, provider, size, vcpus)}" for vcpus in SIZES}
        machines = {vcpus: by_name[name] for vcpus, name in names.items() if name in by_name}
        sold = len(machines) == len(SIZES) and machines[ASKED].usd_per_hour is not None
        if row[column] and row["basis"] == "measured" and kinds[provider, row["family"]] == 1 and sold:
            family = Family(machines, float(row[column]))
            other = cheapest.setdefault(row["cpu_model"], family)
            if (family.asked.usd_per_hour or 0.0) < (other.asked.usd_per_hour or 0.0):
                cheapest[row["cpu_model"]] = family
    return list(cheapest.values())


def _sized(example: str, provider: str, size: str, vcpus: int) -> str:
    """The name of a type of the same family with so many vCPUs."""
    if provider == "aws" or provider == "alibaba":
        return f"{example.rpartition('.')[0]}.{'xlarge' if vcpus == 4 else f'{vcpus // 4}xlarge'}"
    if provider == "gcp":
        return f"{example.rpartition('-')[0]}-{vcpus}"
    return example.replace(size, str(vcpus), 1)


def predicted(home: Family, all_families: list[Family], catalog: Catalog) -> list[Estimate]:
    """The rate on the asked machine of each family, by the machines of one alone."""
    text = ["workload,instance_type,vcpus,throughput,sample_unit,device"]
    for vcpus, machine in home.machines.items():
        text.append(f"program,{machine.provider}/{machine.host},{vcpus},{home.rate * vcpus},frame,cpu")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "whole.csv")
        path.write_text("\n".join(text))
        runs = read_measurements(path, catalog).runs
    machines = {int(run.configuration.vcpus or 0): id(run) for run in runs}
    processor = {machines[vcpus]: processor_of(machine) for vcpus, machine in home.machines.items()}
    named, processors = on_machines(runs, {run: its for run, its in processor.items() if its is not None})
    answers = there(fit(named, None, processors).workloads[0], [family.asked for family in all_families], {})
    return [answer.answer.throughput for answer in answers if isinstance(answer.answer, Prediction)]


def cheapest(all_families: list[Family], rates: list[float]) -> set[int]:
    """The numbers of those that do the work for the least money."""
    cost = {n: (all_families[n].asked.usd_per_hour or 0.0) / rate for n, rate in enumerate(rates)}
    return set(sorted(cost, key=lambda n: cost[n])[:CHEAPEST])


def judged(program: str, catalog: Catalog) -> tuple[list[float], list[bool], list[int]]:
    """Errors and whether the truth is covered, of each pair; and how many of the true five each home names."""
    every = families(PROGRAMS[program], catalog)
    truths = [ASKED * family.rate for family in every]
    errors, covered, named = list[float](), list[bool](), list[int]()
    for number, home in enumerate(every):
        rates = predicted(home, every, catalog)
        pairs = [pair for n, pair in enumerate(zip(rates, truths, strict=True)) if n != number]
        errors += [error(rate.value, truth) for rate, truth in pairs]
        covered += [rate.low <= truth <= rate.high for rate, truth in pairs]
        named.append(len(cheapest(every, [rate.value for rate in rates]) & cheapest(every, truths)))
    return errors, covered, named


def figures(part: str, errors: list[float], covered: list[bool], named: list[int], *, aimed: bool) -> list[GoalRow]:
    """One row a figure; the aims are of both programs together."""
    goal, range_ = (GOAL, COVERED) if aimed else (None, (None, None))
    return [
        at_most(part, "median error", errors, 0.5, goal),
        at_most(part, "90th percentile", errors, 0.9),
        share(part, "covered by intervals of 90 %", covered, *range_),
        GoalRow(part, f"of the {CHEAPEST} cheapest, named", sum(named) / len(named), "", cases=len(named)),
    ]


def main() -> int:
    """The exit status."""
    catalog, rows = Catalog.load(), list[GoalRow]()
    of_program = {program: judged(program, catalog) for program in PROGRAMS}
    for program, of in of_program.items():
        rows += figures(program, *of, aimed=False)
    errors, covered, named = (list(itertools.chain(*parts)) for parts in zip(*of_program.values(), strict=True))
    return printed([*rows, *figures("both", errors, covered, named, aimed=True)])


if __name__ == "__main__":
    sys.exit(main())
