"""How much a resource holds back: the rate there would be if it did not limit at all, up to what limits next."""

from __future__ import annotations

import math

import numpy as np

from sizer.model.equation import ACCELERATOR, CPU, LATENCY, LOG_SHARPNESS, MEMORY, READ, SERIAL, WRITE, solve
from sizer.model.model import WorkloadModel
from sizer.model.settings import usual_place
from sizer.model.stages import build_design
from sizer.records import Bottleneck, Configuration

STAGES_OF = {
    Bottleneck.CPU: (CPU,),
    Bottleneck.SERIAL: (SERIAL,),
    Bottleneck.ACCELERATOR: (ACCELERATOR,),
    Bottleneck.DISK_BANDWIDTH: (READ, LATENCY),
    Bottleneck.DISK_IOPS: (READ, LATENCY),
    Bottleneck.DISK_WRITE: (WRITE,),
    Bottleneck.MEMORY: (MEMORY,),
}
ALONE = 0.999
"""A share above which nothing else is known to limit, so that the next limit is not known either."""


def headroom(model: WorkloadModel, stand: Configuration, bottleneck: Bottleneck) -> float | None:
    """The relative gain if this resource cost no time; None where no other limit is known, or none is named.

    With the share s of its stages, `X (1 - s)^(-1/p)` is the rate without them. What contention costs the CPU counts
    as the CPU's here: more or better cores would relieve both.
    """
    if bottleneck not in STAGES_OF:
        return None
    stand, gain = usual_place(model.measured, stand), 0.0
    for member in model.members:
        design = build_design(model.facts, model.measured, member.structure, [stand])
        shares = solve(member.structure, np.array([member.estimate]), design).shares[0, 0]
        share = float(shares[list(STAGES_OF[bottleneck])].sum())
        if share > ALONE:
            return None
        sharpness = math.exp(np.clip(member.estimate[member.names.index("sharpness")], *LOG_SHARPNESS))
        gain -= member.weight * math.log(1 - share) / sharpness
    return math.exp(gain) - 1
