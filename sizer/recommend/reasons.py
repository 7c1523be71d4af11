"""Why this spec, in sentences with numbers."""

from __future__ import annotations

import math
from dataclasses import replace

from sizer.model import WorkloadModel, accelerator, predict_rates, vcpus_of
from sizer.recommend.accelerators import accelerators_of, measured_accelerators, named
from sizer.recommend.candidates import Candidate
from sizer.recommend.disks import disk_reasons
from sizer.recommend.memory import memory_reasons
from sizer.recommend.rejections import Verdict
from sizer.recommend.words import accounted, bound, shares_in_words
from sizer.records import Bottleneck, Prediction, format_rate, format_share, format_vcpus

UNCLEAR = "not clear which resource binds there"


def reasons(verdict: Verdict, prediction: Prediction, best: Prediction) -> list[str]:
    """The sentences of an answer, the most telling first."""
    model, chosen = verdict.model, verdict.chosen.candidate
    return [
        *([] if verdict.objective.deadline is not None else [_reaches(verdict, best)]),
        _binds(verdict, prediction),
        *_snapped(model, chosen),
        *_accelerators(model, chosen),
        *disk_reasons(model, chosen, prediction),
        *memory_reasons(model, chosen),
        *_device(model),
    ]


def _reaches(verdict: Verdict, best: Prediction) -> str:
    vcpus, rate = (
        verdict.chosen.candidate.spec.vcpus,
        format_rate(best.throughput.value, verdict.model.sample_unit),
    )
    of_best = f"{format_share(verdict.chosen.judged.fraction)} of the best within what was measured ({rate}"
    if vcpus is None:
        return f"this reaches {of_best})"
    what = f"{format_vcpus(vcpus)} {'reach' if vcpus > 1 else 'reaches'}"
    return f"{what} {of_best} at {format_vcpus(vcpus_of(best.configuration))})"


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
    known, judged = model.measured.vcpus, vcpus_of(chosen.stand)
    if chosen.spec.vcpus is None:
        return ["how many vCPUs the runs had was not told, so nothing is said of how many are needed"]
    if len(known) == 1:
        return [f"vCPUs were not varied: {judged:g} is what was measured, not what is needed"]
    if judged < chosen.spec.vcpus:
        return [f"{format_vcpus(chosen.spec.vcpus)} is the size sold that holds {judged:g}, the most measured"]
    if judged == known[0] > 1:
        return [f"fewer than {format_vcpus(judged)} were not measured"]
    return []


def _accelerators(model: WorkloadModel, chosen: Candidate) -> list[str]:
    """What the best of the other kinds and counts measured would give at this size."""
    here = accelerators_of(chosen.stand)
    others = [each for each in measured_accelerators(model) if each != here]
    if not others:
        return []
    stands = [replace(chosen.stand, gpu=each.gpu, gpu_count=each.count) for each in others]
    rates = predict_rates(model, [*stands, chosen.stand]).mean
    index = max(range(len(others)), key=lambda i: float(rates[i]))
    device, gain = model.facts.device, math.exp(float(rates[index] - rates[-1])) - 1
    other, this = named(others[index], device), named(here, device)
    if gain < 0:
        return [
            f"nothing else measured is faster than {this} at this size: with {other} it loses {format_share(-gain)}"
        ]
    return [f"{other} instead of {this} would buy {format_share(gain)} at this size"]


def _device(model: WorkloadModel) -> list[str]:
    device = model.facts.device
    if device.kind != "emulated":
        return []
    rate = format_rate(model.facts.accelerator_rate, model.sample_unit) if model.facts.accelerator_rate else ""
    source = device.source or ""
    origin = source if source.startswith("given") or not source else f"from {source}"
    told = ", ".join(part for part in (rate, origin) if part)
    return [f"each step waits for as long as the {accelerator(device)} takes" + (f" ({told})" if told else "")]
