"""What would move the bottleneck: how far the next limit is, and the smallest spec that reaches it."""

from __future__ import annotations

from sizer.model.prediction import predict_several
from sizer.recommend.candidates import Candidate
from sizer.recommend.case import Case
from sizer.records.answer import Upgrade
from sizer.records.configuration import Bottleneck
from sizer.records.prediction import Figure, Prediction, Reason, ReasonCode, Refusal, reason

MOST_LOOKED_AT = 60
"""Larger specs, cheapest first, that are asked what binds them."""
LITTLE = 0.005
SHOWN = 1.02
"""Of the best measured: a size between two measured ones that is said to be faster than both is the form's own."""


def smallest_upgrade(case: Case, chosen: Candidate, here: Prediction) -> Upgrade | None:
    """The cheapest size that has no less of anything, is faster, and is bound by something else; None if none is."""
    shown = [row.candidate for row in case.table.rows if row.fraction <= SHOWN]
    dearer = [each for each in shown if (each.hourly, each.size) > (chosen.hourly, chosen.size)]
    larger = [each for each in dearer if _no_less(each, chosen)][:MOST_LOOKED_AT]
    known = predict_several(case.model, [each.place for each in larger])
    for candidate, there in zip(larger, known, strict=True):
        if isinstance(there, Refusal):
            continue
        gain = there.throughput.value / here.throughput.value - 1 if here.throughput.value else 0.0
        if there.bottleneck not in (here.bottleneck, Bottleneck.AMBIGUOUS) and gain > LITTLE:
            return Upgrade(candidate.spec, there.bottleneck, gain)
    return None


def _no_less(candidate: Candidate, chosen: Candidate) -> bool:
    """Of vCPUs, memory and accelerators of one kind; another disk or kind is an upgrade by its price."""
    more, spec = candidate.spec, chosen.spec
    return (
        (more.vcpus or 0) >= (spec.vcpus or 0)
        and (more.memory_bytes or 0) >= (spec.memory_bytes or 0)
        and more.gpu_count >= spec.gpu_count
        and candidate.exists
    )


def upgrade_reasons(prediction: Prediction, upgrade: Upgrade | None) -> list[Reason]:
    """How much faster it would be without its bottleneck, and the smallest spec that is bound by something else."""
    binding = prediction.bottleneck
    if binding is Bottleneck.AMBIGUOUS:
        return []
    found, gain = [], prediction.headroom
    others = {name: share for name, share in prediction.shares.items() if name != binding.value and share > 1e-4}
    if gain is not None and others:
        following = max(others, key=lambda name: others[name])
        found.append(reason(ReasonCode.NEXT_LIMIT, bottleneck=binding.value, gain=gain, next=following))
    if upgrade is not None:
        figures: dict[str, Figure] = {"gain": upgrade.gain, "bottleneck": upgrade.bottleneck.value}
        found.append(Reason(ReasonCode.NEXT_LIMIT, figures, upgrade.spec))
    return found
