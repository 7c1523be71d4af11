"""Why this spec, in sentences with numbers."""

from __future__ import annotations

import math
from dataclasses import replace

from sizer.model import WorkloadModel
from sizer.model.rates import predict_rates
from sizer.model.words import accelerator, disk
from sizer.recommend.candidates import Candidate
from sizer.recommend.memory import memory_reasons
from sizer.recommend.rejections import Verdict
from sizer.recommend.words import accounted, bound, shares_in_words
from sizer.records import Bottleneck, Prediction
from sizer.units import format_rate, format_share, format_vcpus

DISK_STAGES = ("disk_bandwidth", "disk_iops", "disk_write")
UNCLEAR = "not clear which resource binds there"
SLOWER = -0.02
"""A disk that loses more than this is told as slower, not as one that gains nothing."""


def reasons(verdict: Verdict, prediction: Prediction, best: Prediction) -> list[str]:
    """The sentences of an answer, the most telling first."""
    model, chosen = verdict.model, verdict.chosen.candidate
    return [
        _reaches(verdict, best),
        _binds(verdict, prediction),
        *_snapped(model, chosen),
        *_disk(model, chosen, prediction),
        *_emulated_disk(model, chosen),
        *memory_reasons(model, chosen),
        *_device(model),
    ]


def _reaches(verdict: Verdict, best: Prediction) -> str:
    vcpus, unit = verdict.chosen.candidate.spec.vcpus, verdict.model.sample_unit
    share = format_share(verdict.chosen.judged.fraction)
    return (
        f"{format_vcpus(vcpus)} {'reach' if vcpus > 1 else 'reaches'} {share} of the "
        f"best within what was measured ({format_rate(best.throughput.value, unit)} at "
        f"{format_vcpus(best.configuration.vcpus)})"
    )


def _binds(verdict: Verdict, prediction: Prediction) -> str:
    device = verdict.model.facts.device
    shares = shares_in_words(prediction.shares, device)
    if not verdict.bound:
        return f"what binds there is not known: the model's best guess from these runs is {shares}"
    rate = verdict.model.measured.rate_at(prediction.configuration)
    named = rate is not None and rate.evidence is not None
    if prediction.bottleneck is not Bottleneck.AMBIGUOUS:
        seen = f"; accounting: {accounted(rate, device)}" if rate is not None and named else ""
        return f"there it is {bound(prediction.bottleneck, device)} (shares: {shares}{seen})"
    if rate is not None and named:
        return f"{UNCLEAR}: the model says {shares}, accounting says {accounted(rate, device)}"
    return f"{UNCLEAR}: the largest shares are close ({shares})"


def _snapped(model: WorkloadModel, chosen: Candidate) -> list[str]:
    known, judged = model.measured.vcpus, chosen.stand.vcpus
    if len(known) == 1:
        return [f"vCPUs were not varied: {judged:g} is what was measured, not what is needed"]
    if judged < chosen.spec.vcpus:
        return [f"{format_vcpus(chosen.spec.vcpus)} is the size sold that holds {judged:g}, the most measured"]
    if judged == known[0] > 1:
        return [f"fewer than {format_vcpus(judged)} were not measured"]
    return []


def _disk(model: WorkloadModel, chosen: Candidate, prediction: Prediction) -> list[str]:
    """What the other disks measured would buy; of a faster one than any measured, only that the disk still binds."""
    names = [measured.name for measured in model.measured.disks]
    if len(names) < 2:
        return []
    stands = [replace(chosen.stand, disk=name) for name in names]
    rates = predict_rates(model, [*stands, chosen.stand]).mean
    gains = {name: math.exp(float(rates[i] - rates[-1])) - 1 for i, name in enumerate(names)}
    here = disk(chosen.stand.disk)
    del gains[chosen.stand.disk]
    other = max(gains, key=lambda name: gains[name])
    if gains[other] < SLOWER:
        said = [
            f"no disk measured is faster than {here} for this job: {disk(other)} loses {format_share(-gains[other])}"
        ]
    else:
        gain = format_share(max(0.0, gains[other]))
        said = [f"a faster disk than {here} buys {gain} (the best other, {disk(other)}, measured)"]
    share = sum(prediction.shares.get(stage, 0.0) for stage in DISK_STAGES)
    if gains[other] < 0.02 and share > 0.2:
        said.append(
            f"the disk holds {format_share(share)} of the bottleneck on the fastest tier measured: a faster one may pay"
        )
    return said


def _emulated_disk(model: WorkloadModel, chosen: Candidate) -> list[str]:
    measured = model.measured.disk(chosen.stand.disk)
    if measured is None or not measured.emulated:
        return []
    return [f"the disk {measured.name} is emulated: held to its IOPS and MB/s, without its latency and its bursts"]


def _device(model: WorkloadModel) -> list[str]:
    device = model.facts.device
    if device.kind != "emulated":
        return []
    rate = format_rate(model.facts.accelerator_rate, model.sample_unit) if model.facts.accelerator_rate else ""
    source = device.source or ""
    origin = source if source.startswith("given") or not source else f"from {source}"
    told = ", ".join(part for part in (rate, origin) if part)
    return [f"each step waits for as long as the {accelerator(device)} takes" + (f" ({told})" if told else "")]
