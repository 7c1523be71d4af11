"""Which configuration a question means that leaves values out: a measured one, where one has what it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sizer.model.coordinates import disk_of, name_of_disk
from sizer.model.model import Gpus, WorkloadModel
from sizer.records.configuration import Configuration


def filled(model: WorkloadModel, given: Mapping[str, Any]) -> Configuration:
    """The configuration with what is given (by field of Configuration), and the rest as it was measured.

    Each axis at its largest where that was measured, or sizer accounted what a sample needs; else that of the fastest
    measured configuration with all that is given, or of one that ran out of memory with it.
    """
    largest, rates = _largest(model, given), model.measured.rates
    if model.facts.core_seconds is not None or any(rate.configuration == largest for rate in rates):
        return largest
    agreeing = [rate for rate in rates if _agrees(rate.configuration, given)]
    if agreeing:
        return replace(max(agreeing, key=lambda rate: rate.throughput.value).configuration, **given)
    killed = [each for each in model.measured.did_not_fit if _agrees(each, given)]
    return replace(killed[0], **given) if killed else largest


def _largest(model: WorkloadModel, given: Mapping[str, Any]) -> Configuration:
    """Each axis at its largest, on the usual disk and with the usual accelerators."""
    measured = model.measured
    usual = measured.gpus[0] if measured.gpus else Gpus()
    if "gpu" in given:
        usual = next((each for each in measured.gpus if each.gpu == given["gpu"]), Gpus(given["gpu"], usual.count))
    found = Configuration(
        vcpus=max(measured.vcpus, default=None),
        memory_bytes=max(measured.memory_bytes, default=None),
        disk=measured.disks[0].name if measured.disks else None,
        batch_size=max(measured.batch_size, default=None),
        gpu=usual.gpu,
        gpu_count=usual.count,
    )
    return replace(found, **given)


def _agrees(configuration: Configuration, given: Mapping[str, Any]) -> bool:
    return all(
        disk_of(configuration) == name_of_disk(value) if name == "disk" else getattr(configuration, name) == value
        for name, value in given.items()
    )
