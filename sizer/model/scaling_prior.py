"""What real machines teach of how throughput grows with vCPUs, before a run is seen: which forms, which parameters.

Three or four vCPU values cannot choose a form. The odds were learnt by `benchmarks/curves/learn.py` from two thirds of
180 cloud machines under stress-ng, PyTorch loaders on five clouds' CPUs and some programs, and rounded by hand; what is
believed of parameters was set by hand, with quantiles of the same curves in view. `benchmarks/curves/README.md` has
what `learn.py` printed beside what stands here, and what was looked at meanwhile. The machines' figures are facts of
Spare Cores' data base (https://github.com/SpareCores/sc-inspector-data @ 804d3c7, CC BY-SA 4.0, (c) Spare Cores);
sources and licences of all of them are in `benchmarks/curves/README.md`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from sizer.model.model import CpuWork, Structure, WorkloadFacts

FEWEST = 3
"""vCPU values below which no form can be told from a straight line."""

ODDS: dict[str, tuple[float, float]] = {
    "linear": (0.3, 0.1),
    "usl": (0.3, 0.15),
    "siblings": (1.0, 0.45),
    "paired": (1.0, 0.45),
}
"""Of each form without and with a cap, relative to the likeliest. `paired` is not in those curves: it counts as
`siblings`."""
BELIEFS: dict[str, tuple[float, float]] = {
    "contention": (math.log(0.05), 1.5),
    "coherence": (math.log(1e-3), 2.0),
    "overhead": (math.log(0.1), 1.5),
    "yield": (0.2, 0.15),
}
"""Mean and standard deviation of each parameter as it is fitted. Overheads: half of the machines below 0.01, loaders
0.16 to 0.47 (5th to 95th percentile). Yields of a second hyperthread: JPEG 0.14 to 0.42 with a mean of 0.29 on 37 CPU
models, integer division 0 to 0.4."""
YIELDS: dict[CpuWork | None, tuple[float, float]] = {
    CpuWork.IMAGES: (0.29, 0.1),
    CpuWork.MATRIX: (0.05, 0.1),
    None: BELIEFS["yield"],
}
"""The same for `paired`, by what keeps the CPU busy. Images: the JPEG yields. Matrix products, by hand: Intel says that
its library gains nothing (oneMKL Developer Guide, "Using Intel Hyper-Threading Technology"), LINPACK on the 8 cores of
a Ryzen lost 19 % by 16 threads instead of 8 (OpenBLAS pull request 1133), and a program does other work besides.
Where the host says nothing of pairs, both make what was measured worse (`benchmarks/curves/README.md`)."""
CAP = (math.log(1.3), 0.5)
"""Of ln of a cap over the highest rate: one that lies far above shows in no run, and the form without it says so."""
SIBLINGS = 0.03
"""Standard deviation of ln of the knee, about half of the most vCPUs, where hyperthreads begin."""


SHAPE = frozenset({"contention", "coherence", "overhead", "knee", "yield", "cap", "sharpness"})
"""The parameters whose worth is judged by the evidence for them."""


def forms(vcpus: Sequence[float], facts: WorkloadFacts) -> list[str]:
    """The forms of vCPU scaling that these distinct values, rising, can be held against.

    Where the host said which vCPUs share a core, hyperthreads come in pairs and not from half of the vCPUs on, and a
    straight line is out: what is one after all, as on a host that says it wrongly, is one that hardly hinders itself.
    """
    if len(vcpus) < FEWEST:
        return ["linear"]
    return [*(("paired",) if facts.paired else ("linear", "siblings")), "usl"]


def belief(name: str, structure: Structure, facts: WorkloadFacts, vcpus: Collection[float]) -> tuple[float, float]:
    """Mean and standard deviation of a parameter of the form, given the vCPUs that runs had."""
    if structure.scaling == "paired":
        return yield_of(facts.cpu_work)
    if name != "knee":
        return BELIEFS[name]
    return math.log(max(vcpus) / 2), SIBLINGS


def yield_of(cpu_work: CpuWork | None) -> tuple[float, float]:
    """Mean and standard deviation of what the other half of a core adds, where it is known to be one."""
    return YIELDS[cpu_work]


def cost(structure: Structure) -> float:
    """-2 ln of how often such a form was right, up to a constant.

    The machines that taught the odds have no accelerator: with one of unknown rate a cap is as likely as not.
    """
    odds = ODDS[structure.scaling]
    return -2 * math.log(sum(odds) / 2 if structure.cap_stage == "accelerator" else odds[structure.capped])
