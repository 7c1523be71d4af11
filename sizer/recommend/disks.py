"""The disk tier of an answer: what a better one would buy, and what a cheaper one would cost."""

from __future__ import annotations

import math
from dataclasses import replace

from sizer.model import WorkloadModel, disk, disk_of, name_of_disk, predict, predict_rates
from sizer.recommend.candidates import Candidate
from sizer.records import Prediction, format_rate, format_share

DISK_STAGES = ("disk_bandwidth", "disk_iops", "disk_write")
SLOWER = -0.02
"""A disk that loses more than this is told as slower, not as one that gains nothing."""
NOTHING = 0.005
"""A gain that rounds to 0 % is told without rates."""


def disk_reasons(model: WorkloadModel, chosen: Candidate, prediction: Prediction) -> list[str]:
    """What the other disks measured would buy; of a faster one than any measured, only that the disk still binds."""
    names = [name_of_disk(measured.name) for measured in model.measured.disks]
    if len(names) < 2:
        return _still_binds(prediction, "the only tier measured") + _emulated(model, chosen)
    stands = [replace(chosen.stand, disk=name) for name in names]
    rates = predict_rates(model, [*stands, chosen.stand]).mean
    gains = {name: math.exp(float(rates[i] - rates[-1])) - 1 for i, name in enumerate(names)}
    here = disk(disk_of(chosen.stand))
    del gains[disk_of(chosen.stand)]
    other = max(gains, key=lambda name: gains[name])
    gain = gains[other]
    dearest = chosen.disk_rank == len(names) - 1
    if gain < (0 if dearest else SLOWER):
        much = f"loses {format_share(-gain)}" if -gain >= NOTHING else "is as fast"
        said = [f"no disk measured is faster than {here} for this job: {disk(other)} {much}"]
    else:
        said = [f"a faster disk than {here} buys {format_share(max(0.0, gain))} (the best other, {disk(other)}, "]
        unit, now = model.sample_unit, prediction.throughput.value
        more = f"{format_rate(now * (1 + gain), unit)} instead of {format_rate(now, unit)}" if gain >= NOTHING else ""
        said[0] += f"{more}, measured)" if more else "measured)"
    fastest = predict(model, replace(chosen.stand, disk=other)) if gain > 0 else prediction
    return said + _still_binds(fastest, "the fastest tier measured") + _emulated(model, chosen)


def _still_binds(prediction: Prediction, where: str) -> list[str]:
    share = sum(prediction.shares.get(stage, 0.0) for stage in DISK_STAGES)
    if share <= 0.2:
        return []
    return [f"the disk holds {format_share(share)} of the bottleneck on {where}: a faster one may pay"]


def _emulated(model: WorkloadModel, chosen: Candidate) -> list[str]:
    measured = model.measured.disk(chosen.stand.disk)
    if measured is None or not measured.emulated:
        return []
    return [f"the disk {measured.name} is emulated: held to its IOPS and MB/s, without its latency and its bursts"]
