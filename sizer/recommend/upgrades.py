"""What would move the bottleneck: how far the next limit is, and the smallest spec that reaches it."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.model import WorkloadModel, headroom, predict
from sizer.recommend.candidates import Candidate
from sizer.recommend.field import Judgement
from sizer.recommend.words import bound, resource, spec_in_words
from sizer.records import Bottleneck, Prediction, Upgrade, format_share

MOST_LOOKED_AT = 60
"""Larger specs, cheapest first, that are asked what binds them."""
LITTLE = 0.005
SHOWN = 1.02
"""Of the best measured: a size between two measured ones that is said to be faster than both is the form's own."""


def smallest_upgrade(model: WorkloadModel, chosen: Candidate, field: Sequence[Judgement]) -> Upgrade | None:
    """The cheapest spec that has no less of anything, is faster, and is bound by something else; None if none is."""
    here = predict(model, chosen.stand)
    shown = [j for j in field if j.judged.fraction <= SHOWN]
    larger = [j.candidate for j in shown if j.candidate.cost > chosen.cost and _no_less(j.candidate, chosen)]
    for candidate in larger[:MOST_LOOKED_AT]:
        there = predict(model, candidate.stand)
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


def upgrade_reasons(
    model: WorkloadModel, chosen: Candidate, prediction: Prediction, upgrade: Upgrade | None
) -> list[str]:
    """`without that limit it would be 12 % faster, ...; the smallest upgrade that moves it is 4 vCPUs: ...`"""
    device, named = model.facts.device, prediction.bottleneck
    if named is Bottleneck.AMBIGUOUS:
        return []
    said, gain = [], headroom(model, chosen.stand, named)
    others = {name: share for name, share in prediction.shares.items() if name != named.value and share > 1e-4}
    if gain is not None and others:
        following = resource(Bottleneck(max(others, key=lambda name: others[name])), device)
        said.append(f"without that limit it would be {format_share(gain)} faster, up to the next one ({following})")
    if upgrade is not None:
        spec = spec_in_words(upgrade.spec, model)
        then = bound(upgrade.bottleneck, device)
        said.append(f"the smallest upgrade that moves it is {spec}: {format_share(upgrade.gain)} faster, then {then}")
    return ["; ".join(said)] if said else []
