"""Predictions in words: one line each, and the configurations that they are of."""

from __future__ import annotations

from sizer.model.model import WorkloadModel
from sizer.records.configuration import Configuration
from sizer.records.prediction import Prediction
from sizer.records.units import format_bytes
from sizer.words.language import _
from sizer.words.names import Terms, accelerators_name, bound_in_words, disk_of, row
from sizer.words.units import rate_in_words, vcpus_in_words


def prediction_line(prediction: Prediction, configuration: str, terms: Terms) -> str:
    """`train at 2 vCPUs, 8 GiB: 219 images/s (205 images/s to 233 images/s), bound by the CPU, extrapolated`."""
    known = {"workload": prediction.workload, "configuration": configuration}
    if prediction.out_of_memory:
        return _("{workload} at {configuration}: out of memory", **known)
    rate, unit = prediction.throughput, terms.unit
    known |= {
        "rate": rate_in_words(rate.value, unit),
        "low": rate_in_words(rate.low, unit),
        "high": rate_in_words(rate.high, unit),
        "bound": bound_in_words(prediction.bottleneck, terms.device),
    }
    if prediction.extrapolated:
        return _("{workload} at {configuration}: {rate} ({low} to {high}), {bound}, extrapolated", **known)
    return _("{workload} at {configuration}: {rate} ({low} to {high}), {bound}", **known)


def no_prediction_line(workload: str, configuration: str, why: str) -> str:
    """A configuration that cannot be predicted."""
    return _(
        "{workload} at {configuration}: no prediction. {why}", workload=workload, configuration=configuration, why=why
    )


def assumed_line(prediction: str, assumed: str) -> str:
    """A prediction, and what it assumes."""
    return _("{prediction}; assumed: {assumed}", prediction=prediction, assumed=assumed)


def what_if_disk_name(tier: str | None) -> str:
    """A disk that no run had: a tier of the catalogue, or None for one given by its figures."""
    return _("another disk") if tier is None else _("as if on {tier}", tier=tier)


def configuration_name(where: Configuration, model: WorkloadModel, terms: Terms, disk: str | None = None) -> str:
    """`2 vCPUs, 8 GiB, disk nvme, batch 32, 2 x V100`, without what a table lacks; `disk` is that of a what-if."""
    parts = [vcpus_in_words(where.vcpus)] if where.vcpus is not None else []
    parts += [format_bytes(where.memory_bytes)] if where.memory_bytes is not None else []
    if disk is not None:
        parts.append(disk)
    elif where.disk is not None:
        parts.append(disk_of(where.disk, terms))
    parts += [_("batch {size}", size=where.batch_size)] if where.batch_size is not None else []
    if where.gpu is not None or (where.gpu_count or 0) > 1:
        parts.append(accelerators_name(where.gpu, where.gpu_count, model.facts.device))
    return row(parts) or _("the configuration that was measured")
