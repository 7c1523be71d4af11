"""The rate on other CPUs: what of a sample the CPU takes moves by how fast one busy thread is, and by whole cores.

`ln seconds there = ln seconds here - ln index there / index here - what this work makes of that CPU beyond its index`.
The index of each is known by compressors, so what these say apart is how exactly; what the work makes of a CPU is
believed by its kind (`OF_CPUS` of `beliefs.py`), and learnt where the work ran on several. Gpus, disks and
memory stay as they are. A sample's serial part is moved, too, and less is believed of that. What computes matrices is
not told on a CPU with other instructions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from sizer.model.model import CpuWork, WorkloadFacts, WorkloadModel
from sizer.records.device import Processor
from sizer.records.prediction import Action, Configuration, Reason, ReasonCode, Refusal, Suggestion, reason

if TYPE_CHECKING:
    from sizer.records.run import Run


def faster_there(facts: WorkloadFacts, there: Processor) -> tuple[float, float]:
    """Ln of how many times as fast one busy thread is as on the machines of the runs, by the compressors that all ran,
    and its standard deviation by what these say apart."""
    alike = set.intersection(*(set(processor.rates) for processor in (there, *facts.measured_on)))
    logs = [
        math.log(there.rates[name]) - fmean(math.log(processor.rates[name]) for processor in facts.measured_on)
        for name in sorted(alike)
    ]
    return fmean(logs), stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else 0.0


def usual_second_thread(facts: WorkloadFacts) -> float | None:
    """What the second thread of a core adds to JPEG decoding on the machines of the runs; None where nobody says."""
    added = [machine.second_thread for machine in facts.measured_on if machine.second_thread is not None]
    return fmean(added) if added else None


def on_machines(runs: Sequence[Run], machines: Mapping[int, Processor]) -> tuple[list[Run], tuple[Processor, ...]]:
    """The runs with their machine, given by `id(run)`, in the configuration, so that one model tells what they have
    alike; and the machines. Memory that was not varied on any machine is the machine's own, and no axis. Of one machine
    alone the runs are as they are."""
    distinct = {machines[id(run)].name: machines[id(run)] for run in runs}
    if len(distinct) == 1:
        return list(runs), tuple(distinct.values())
    sizes = {(machines[id(run)].name, run.configuration.memory_bytes) for run in runs}
    varied = len(sizes) > len({name for name, _ in sizes})

    def there(run: Run) -> Run:
        at = replace(run.configuration, machine=machines[id(run)].name)
        return replace(run, configuration=at if varied else replace(at, memory_bytes=None))

    return [there(run) for run in runs], tuple(distinct.values())


def knowing(model: WorkloadModel, processors: Sequence[Processor]) -> WorkloadModel:
    """The same model, whose configurations may name these machines, too."""
    own = {processor.name for processor in model.facts.processors}
    new = tuple(processor for processor in processors if processor.name not in own)
    return replace(model, facts=replace(model.facts, processors=(*model.facts.processors, *new)))


def processor_at(facts: WorkloadFacts, machine: str | None) -> Processor | None:
    """The machine of that name; None where a configuration names none: then it is that of the runs."""
    return next((processor for processor in facts.processors if processor.name == machine), None)


def refused_there(facts: WorkloadFacts, configuration: Configuration) -> Refusal | None:
    """Why the rate on its machine cannot be told; None where it can."""
    there, own = processor_at(facts, configuration.machine), {machine.instructions for machine in facts.measured_on}
    if there is None or facts.cpu_work is not CpuWork.MATRIX or (there.instructions and there.instructions in own):
        return None
    if there.cpu in [machine.cpu for machine in facts.measured_on]:
        return None
    instructions, of_runs = there.instructions or "?", tuple(sorted(name or "?" for name in own))
    why = reason(ReasonCode.NOT_MEASURED, there=there.name, instructions=instructions, instructions_measured=of_runs)
    return Refusal(why, Suggestion(Action.MEASURE, machine=there.name))


def transferred(facts: WorkloadFacts, configuration: Configuration) -> Reason | None:
    """From which machines the rate was moved, those with that CPU if there are some, and how many times as fast one
    busy thread is; None where it was not."""
    there = processor_at(facts, configuration.machine)
    if there is None or there.name in [processor.name for processor in facts.measured_on]:
        return None
    alike = tuple(processor for processor in facts.measured_on if processor.cpu == there.cpu) or facts.measured_on
    names = tuple(dict.fromkeys(processor.name or processor.cpu for processor in alike))
    factor = math.exp(faster_there(replace(facts, measured_on=alike), there)[0])
    return reason(ReasonCode.TRANSFERRED, cpu=there.cpu, faster=factor, measured_on=names)
