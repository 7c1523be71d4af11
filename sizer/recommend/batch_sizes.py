"""Which batch size: the smallest that is nearly as fast as the best, of those that are not known not to fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sizer.model.batch_curve import batch_curves, nearest
from sizer.model.batch_runs import largest_batch
from sizer.model.memory import needed_bytes
from sizer.model.model import WorkloadModel
from sizer.recommend.sizes import memory_varied
from sizer.records.answer import Answer
from sizer.records.batch_sizes import BatchAdvice, BatchCurve, LargestBatch
from sizer.records.configuration import Configuration
from sizer.records.prediction import Spec
from sizer.records.run import Run


def batch_advice(model: WorkloadModel, answer: Answer, runs: Sequence[Run], most: int) -> BatchAdvice | None:
    """What the runs of one workload say of its batch size; None where one was measured and none was searched for.

    The curve is the one at the answer's spec, where several batches were measured there. `most` is the largest batch
    that a search was to try, 0 where that is not known.
    """
    curves, largest = batch_curves(runs), largest_batch(runs, most)
    if not curves and largest is None:
        return None
    chosen = nearest(curves, _place(answer.spec, curves))
    if chosen is None:
        return BatchAdvice(largest=largest)
    batch = _fitting(chosen, largest)
    needed = needed_bytes(model.measured, chosen.at.vcpus, batch) if memory_varied(model.measured) else None
    others = tuple(curve for curve in curves if curve is not chosen)
    return BatchAdvice(batch, needed, (chosen, *others), largest)


def _place(spec: Spec | None, curves: Sequence[BatchCurve]) -> Configuration | None:
    """The measured place that the answer's spec is, as far as it names it; else the one with as many vCPUs."""
    if spec is None:
        return None
    named = {name: value for name in ("vcpus", "disk", "gpu") if (value := getattr(spec, name)) is not None}
    if spec.gpu_count:
        named["gpu_count"] = spec.gpu_count
    alike = [curve.at for curve in curves if all(getattr(curve.at, name) == value for name, value in named.items())]
    if spec.memory_bytes is not None:
        held = [at for at in alike if at.memory_bytes is not None and at.memory_bytes <= spec.memory_bytes]
        alike = sorted(held, key=lambda at: -(at.memory_bytes or 0)) or alike
    return alike[0] if alike else None


def _fitting(curve: BatchCurve, largest: LargestBatch | None) -> int | None:
    """The one that is enough; where that, or a smaller one, ran out of memory there, the largest measured below it."""
    too_large = largest.too_large if largest is not None and _is_there(largest, curve.at) else None
    if too_large is None or curve.enough < too_large:
        return curve.enough
    return max((point.batch_size for point in curve.points if point.batch_size < too_large), default=None)


def _is_there(largest: LargestBatch, at: Configuration) -> bool:
    """Whether what ran out of memory would at this place: as little of the host's, or the same accelerator's."""
    if largest.memory_bytes is not None and at.memory_bytes is not None:
        return at.memory_bytes <= largest.memory_bytes
    return largest.gpu is None or at.gpu is None or largest.gpu == at.gpu


def with_batch(answer: Answer, model: WorkloadModel, runs: Sequence[Run], most: int) -> Answer:
    """The answer with what is known of its batch size."""
    return replace(answer, batch=batch_advice(model, answer, runs, most))
