"""Why this spec."""

from __future__ import annotations

import math

from sizer.model import GAIN, WorkloadModel, vcpus_of
from sizer.recommend.candidates import Candidate
from sizer.recommend.disks import disk_reasons
from sizer.recommend.memory import memory_reasons
from sizer.recommend.quality import Quality
from sizer.recommend.rejections import Choice
from sizer.records import Bottleneck, Figure, Prediction, Reason, ReasonCode, reason

INTERVAL = {"rate_low": "low", "rate_high": "high", "rate_basis": "basis"}
"""What a reason calls the fields of a device that say how sure its rate is."""


def reasons(choice: Choice, prediction: Prediction, best: Prediction) -> list[Reason]:
    """The reasons of an answer, the most important first."""
    model, chosen = choice.model, choice.chosen.candidate
    return [
        *([] if choice.objective.rate is not None else [_reaches(choice, best)]),
        *bound_by(choice.model, prediction, choice.bound),
        *disk_reasons(model, chosen, prediction),
        *_size(model, chosen),
        *memory_reasons(model, chosen),
        *step_emulated(model, chosen.configuration.batch_size),
    ]


def beside_others(model: WorkloadModel, prediction: Prediction, quality: Quality) -> list[Reason]:
    """That the rate told is not the one measured there, where other programs took a part of the host meanwhile."""
    others = quality.others.get(prediction.configuration)
    measured = model.measured.rate_at(prediction.configuration)
    rate = prediction.throughput.value
    if others is None or measured is None or abs(math.log(rate / measured.throughput.value)) <= math.log1p(GAIN):
        return []
    figures = {"measured": measured.throughput.value, "cores": others, "rate": rate}
    return [reason(ReasonCode.MEASURED_BESIDE_OTHERS, **figures)]


def _reaches(choice: Choice, best: Prediction) -> Reason:
    return reason(
        ReasonCode.REACHES,
        vcpus=choice.chosen.candidate.spec.vcpus,
        share=choice.chosen.score.fraction,
        rate=best.throughput.value,
        best_vcpus=best.configuration.vcpus,
    )


def bound_by(model: WorkloadModel, prediction: Prediction, bound: bool) -> list[Reason]:
    """What binds; nothing where the table shows no resource that could. `bound` False: it is not known."""
    measured = model.measured
    if not prediction.shares and not measured.vcpus:
        return []
    ordered = sorted(prediction.shares.items(), key=lambda item: item[1], reverse=True)
    shares: dict[str, Figure] = {}
    if ordered:
        shares = {"resources": tuple(name for name, _ in ordered), "shares": tuple(share for _, share in ordered)}
    if not bound:
        of_one_size = len(measured.vcpus) == 1 and model.facts.core_seconds is not None and not prediction.shares
        one_size = {"one_size": of_one_size} if of_one_size else {}
        return [reason(ReasonCode.BOTTLENECK_UNKNOWN, **(shares if measured.vcpus else {}), **one_size)]
    rate = measured.rate_at(prediction.configuration)
    accounted: dict[str, Figure] = {}
    if rate is not None and rate.evidence is not None:
        accounted = {"accounted": rate.evidence.value, "busy": rate.busy}
    if prediction.bottleneck is not Bottleneck.AMBIGUOUS:
        return [reason(ReasonCode.BOUND_BY, bottleneck=prediction.bottleneck.value, **shares, **accounted)]
    code = ReasonCode.BOTTLENECK_CLOSE
    if accounted:
        code = ReasonCode.BOTTLENECK_DISPUTED
    return [reason(code, **shares, **accounted)]


def next_bottleneck(prediction: Prediction, bound: Bottleneck) -> Bottleneck | None:
    """What would bind if the present bottleneck were relieved: the largest other share, where there is one.

    What binds need not have the largest share itself: accounting may have shown it. Of what is unknown nothing follows.
    """
    others = {name: share for name, share in prediction.shares.items() if name != bound.value and share >= 1e-4}
    if bound.value not in prediction.shares or not others:
        return None
    return Bottleneck(max(others, key=others.__getitem__))


def _size(model: WorkloadModel, chosen: Candidate) -> list[Reason]:
    known, judged = model.measured.vcpus, vcpus_of(chosen.configuration)
    if chosen.spec.vcpus is None:
        # An accelerator comes with the vCPUs of its machine.
        return [] if chosen.spec.gpu is not None else [reason(ReasonCode.VCPUS_NOT_IN_TABLE)]
    if len(known) == 1:
        return [reason(ReasonCode.VCPUS_NOT_VARIED, vcpus=judged)]
    if judged < chosen.spec.vcpus:
        return [reason(ReasonCode.SIZE_SOLD, vcpus=chosen.spec.vcpus, measured=judged)]
    if judged == known[0] > 1:
        return [reason(ReasonCode.FEWER_NOT_MEASURED, vcpus=judged)]
    return []


def step_emulated(model: WorkloadModel, batch_size: int | None) -> list[Reason]:
    """The rate that an emulated GPU has with this batch, how sure it is, and where it comes from."""
    device = model.facts.device
    if device.kind != "emulated":
        return []
    here = device.at_batch(batch_size) if batch_size is not None else device
    rate = here.samples_per_second if device.batch_rates else model.facts.accelerator_rate
    how = {name: value for name, value in vars(here).items() if name in INTERVAL and value is not None}
    said = {INTERVAL[name]: value for name, value in how.items()}
    return [reason(ReasonCode.STEP_EMULATED, rate=rate or None, source=here.source or None, **said)]
