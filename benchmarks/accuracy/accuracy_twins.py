"""Could anybody have told the right bottleneck from rates alone? Each wrong name gets a twin for which it is right.

    python benchmarks/accuracy/accuracy_twins.py [--machines 500] [--processes 2]

The twin is the same simulated machine with what held it back taken away, and as much more work for the resource that
was named as brings its rates closest. Where the rates of both differ by no more than repeats do, the table of the one
may as well be that of the other: no model can name both.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from accuracy_draws import Case, draw_case
from accuracy_machines import Faster, SimulatedMachine, share_questions, stage_shares
from accuracy_runs import measured_questions
from accuracy_simulated import SEED, Named, judge_case, relieved, true_kinds

from sizer.model import disk_of
from sizer.records.configuration import Bottleneck
from sizer.records.device import DiskRates

ENDLESS = DiskRates(1e12, 1e18, 1e12, 1e18)
STEPS = np.geomspace(0.02, 50.0, 25)
"""Multiples of the time that was taken away by which the named resource is given more to do."""


@dataclass(frozen=True)
class Verdict:
    """One name that was said from rates alone; `apart` is how far in ln the twin's rates are off at the measured
    configurations (root mean square) and `noise` the standard deviation of a measured rate; no twin: infinite."""

    said: Named
    apart: float
    noise: float

    @property
    def undecidable(self) -> bool:
        return self.apart <= self.noise


def verdicts(number: int) -> list[Verdict]:
    """What was named of one machine where one kind is clear."""
    case = draw_case(number, SEED)
    found = [each for each in judge_case(number).named if each.clear and each.named is not Bottleneck.AMBIGUOUS]
    return [
        Verdict(each, math.inf if each.right else _apart(case, each), case.noise / math.sqrt(case.repeats))
        for each in found
    ]


def _apart(case: Case, said: Named) -> float:
    """The closest twin's distance, of those for which the name is right."""
    asked = measured_questions(case)
    seen = np.log(case.machine.rates(asked))
    best = math.inf
    for twin in _twins(case.machine, said):
        told = np.log(twin.rates(asked))
        off = float(np.sqrt(np.mean((told - seen) ** 2)))
        if off < best and _right(twin, said):
            best = off
    return best


def _right(twin: SimulatedMachine, said: Named) -> bool:
    questions = share_questions(said.configuration)
    gains = stage_shares(said.configuration, twin.truth(questions.values()))
    return replace(said, shares=true_kinds(gains), relieved=relieved(gains)).right


def _twins(machine: SimulatedMachine, said: Named) -> Sequence[SimulatedMachine]:
    """Without what truly held it back there, and with more for the CPU or the lock."""
    job, place = machine.job, said.configuration
    if said.truth == "disk":
        taken = job.latency + max(machine.disk_seconds(place, Faster()))
        freed, disks = replace(job, latency=0.0), dict.fromkeys(machine.disks, ENDLESS)
    elif said.truth == "accelerator":
        taken = machine.accelerator_seconds(place)
        freed, disks = replace(job, accelerator=job.accelerator * 1e6), machine.disks
    elif said.truth == "write":
        taken = job.written_bytes / (machine.disks[disk_of(place)].write_bytes_per_second or math.inf)
        freed, disks = replace(job, written_bytes=0.0), machine.disks
    else:
        taken, freed, disks = job.cpu + job.lock, job, machine.disks
    found = []
    for step in STEPS:
        more = float(step) * taken
        if said.named is Bottleneck.CPU:
            found.append(replace(machine, job=replace(freed, cpu=freed.cpu + more, lock=0.0), disks=disks))
        elif said.named is Bottleneck.SERIAL:
            found.append(replace(machine, job=replace(freed, lock=freed.lock + more), disks=disks))
    return found


def main() -> int:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machines", type=int, default=500)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    with get_context("fork").Pool(given.processes) as pool:
        found = [each for some in pool.imap(verdicts, range(1, given.machines, 2)) for each in some]
    wrong = [each for each in found if not each.said.right]
    twinned = [each for each in wrong if each.undecidable]
    print(f"{len(found)} names from rates alone, {len(wrong)} wrong: {100 * (1 - len(wrong) / len(found)):.1f} % right")
    print(f"{len(twinned)} of the wrong ones have a twin within the noise for which they are right")
    left = len(found) - len(twinned)
    print(f"without them {100 * (1 - (len(wrong) - len(twinned)) / left):.1f} % of {left} are right")
    for name in sorted({(each.said.named.value, each.said.truth) for each in wrong}):
        some = [each for each in wrong if (each.said.named.value, each.said.truth) == name]
        print(f"    said {name[0]}, true {name[1]}: {len(some)}, with a twin {sum(each.undecidable for each in some)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
