"""Why this spec, in sentences with numbers."""

from __future__ import annotations

import math
from dataclasses import replace

from sizer.model import WorkloadModel
from sizer.model.memory import anonymous_bytes
from sizer.model.rates import predict_rates
from sizer.recommend.candidates import Candidate, memory_varied
from sizer.recommend.judgement import Judged
from sizer.recommend.words import bound, memory, percent, rate
from sizer.records import Prediction

DISK_STAGES = ("disk_bandwidth", "disk_iops", "disk_write")


def all_of(
    model: WorkloadModel,
    chosen: Candidate,
    judged: Judged,
    prediction: Prediction,
    best: Prediction,
) -> tuple[str, ...]:
    """The sentences of an answer, the most telling first."""
    found = [_reaches(model, chosen, judged, best), _binds(prediction)]
    found += [*_snapped(model, chosen), *_disk(model, chosen, prediction), *_memory(model, chosen), *_device(model)]
    return tuple(found)


def _reaches(model: WorkloadModel, chosen: Candidate, judged: Judged, best: Prediction) -> str:
    top = rate(best.throughput.value, model.sample_unit)
    return (
        f"{chosen.spec.vcpus:g} vCPU reach {percent(judged.fraction)} of the best within what was measured "
        f"({top} at {best.configuration.vcpus:g} vCPU)"
    )


def _binds(prediction: Prediction) -> str:
    shares = sorted(prediction.shares.items(), key=lambda item: item[1], reverse=True)
    told = ", ".join(f"{name.replace('_', ' ')} {percent(share)}" for name, share in shares[:3] if share >= 0.005)
    return f"there it is {bound(prediction.bottleneck)} (shares: {told})"


def _snapped(model: WorkloadModel, chosen: Candidate) -> list[str]:
    known = model.measured.vcpus
    judged = chosen.stand.vcpus
    if len(known) == 1:
        return [f"vCPUs were not varied: {judged:g} is what was measured, not what is needed"]
    if judged < chosen.spec.vcpus:
        return [f"{chosen.spec.vcpus:g} vCPU is the size sold that holds {judged:g}, the most measured"]
    if judged == known[0] > 1:
        return [f"fewer than {judged:g} vCPU were not measured"]
    return []


def _disk(model: WorkloadModel, chosen: Candidate, prediction: Prediction) -> list[str]:
    """What the other disks measured would buy; of a faster one than any measured, only that the disk still binds."""
    names = [disk.name for disk in model.measured.disks]
    if len(names) < 2:
        return []
    stands = [replace(chosen.stand, disk=name) for name in names]
    rates = predict_rates(model, [*stands, chosen.stand]).mean
    gains = {name: math.exp(float(rates[i] - rates[-1])) - 1 for i, name in enumerate(names)}
    del gains[chosen.stand.disk]
    faster = max(gains, key=lambda name: gains[name])
    gain = max(0.0, gains[faster])
    said = [f"a faster disk than {chosen.stand.disk} buys {percent(gain)} (the best other, {faster}, measured)"]
    on_disk = sum(prediction.shares.get(stage, 0.0) for stage in DISK_STAGES)
    if gain < 0.02 and on_disk > 0.2:
        said.append(
            f"the disk holds {percent(on_disk)} of the bottleneck on the fastest tier measured: a faster one may pay"
        )
        said[0] = f"no disk measured is faster than {chosen.stand.disk} for this job"
    return said


def _memory(model: WorkloadModel, chosen: Candidate) -> list[str]:
    floor = model.floor
    if not memory_varied(model.measured):
        used = anonymous_bytes(model.measured, chosen.stand.vcpus, chosen.stand.batch_size)
        peak = f"; the runs needed {memory(used)} that cannot be dropped" if used else ""
        return [f"memory was not varied, so none is recommended{peak}"]
    if floor is None or floor.completed_bytes is None:
        return []
    if floor.out_of_memory_bytes is None:
        return [f"every memory cap ran, the smallest with {memory(floor.completed_bytes)}: the floor is below it"]
    between = f"between {memory(floor.out_of_memory_bytes)} and {memory(floor.completed_bytes)}"
    return [f"the memory floor is {between}"]


def _device(model: WorkloadModel) -> list[str]:
    device = model.facts.device
    if device.kind != "emulated":
        return []
    source = f" ({device.source})" if device.source else ""
    return [f"the accelerator is emulated: its step waits as long as that of {device.gpu or device.label}{source}"]
