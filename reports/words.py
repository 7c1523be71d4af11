"""The plain words for what records name by a key: outcomes, bottlenecks, kinds, devices, disks and configurations."""

from __future__ import annotations

from sizer.recommend import Accelerators, named
from sizer.records import (
    HOST_DISK,
    Answer,
    Bottleneck,
    Configuration,
    Device,
    DiskRates,
    DiskTier,
    Outcome,
    Run,
    Spec,
    Study,
    Workload,
)
from sizer.words import outcome_in_words

from . import formatting

EMBEDDED = "embedded data set"

BOTTLENECK = {
    Bottleneck.CPU: "CPU",
    Bottleneck.SERIAL: "a serial part",
    Bottleneck.DISK_BANDWIDTH: "disk bandwidth",
    Bottleneck.DISK_IOPS: "disk IOPS",
    Bottleneck.DISK_WRITE: "disk writes",
    Bottleneck.ACCELERATOR: "accelerator",
    Bottleneck.MEMORY: "memory",
    Bottleneck.AMBIGUOUS: "not clear which resource binds",
}

PREPROCESSING = "imagenet_preprocessing"
KIND = {
    "image_training": "image training",
    "image_inference": "image inference",
    "lstm_training": "LSTM training",
    PREPROCESSING: "ImageNet-style preprocessing",
    "command": "own command",
    "imported": "measured elsewhere",
}

UNKNOWN_FRAMEWORK = "other"
"""Of a command, or of an imported table, that names none."""
FRAMEWORK = {"opencv": "OpenCV", "mxnet": "MXNet", "pytorch": "PyTorch", "tensorflow": "TensorFlow"}

CACHE = {
    "cold": "cold: evicted before the run and at each epoch boundary, as for data much larger than memory",
    "natural": "natural: evicted before the run only; the rate is that of the later epochs",
    "warm": "warm: the data set was read once before the run",
}

INPUT = {
    "disk": "read from disk",
    "cached": "encoded bytes already in the page cache, decoding still happens",
    "synthetic": "synthetic: nothing is read or decoded",
    "replay": "read from disk as the loader does, and nothing made of it",
}

STOPPED = {
    "precision": "precise enough",
    "time": "time was up",
    "ended": "end of the workload",
    "deadline": "deadline",
    "interrupted": "interrupted",
    "broken_events": "broken events",
}


def bottleneck(value: Bottleneck, device: Device | None = None) -> str:
    """The bottleneck's word; an accelerator that was emulated says so."""
    if value is Bottleneck.ACCELERATOR and device is not None and device.kind == "emulated":
        return f"accelerator ({emulated_name(device)})"
    return BOTTLENECK[value]


def emulated_name(device: Device) -> str:
    """'emulated P100', or 'emulated accelerator' where only a rate was given."""
    return f"emulated {device.gpu or 'accelerator'}"


def device(value: Device, unit: str) -> str:
    """Where the step is computed: 'CPU', 'cuda:0', 'emulated P100, 219 images/s from <source>'."""
    if value.kind != "emulated":
        return "CPU" if value.kind == "cpu" else value.label
    parts = [emulated_name(value)]
    if value.samples_per_second is not None:
        parts.append(formatting.format_rate(value.samples_per_second, unit))
    return ", ".join(parts) + (f" from {value.source}" if value.source else "")


def answer(value: Answer, axis: str) -> str:
    """What a chart calls the place of the answer: only along vCPUs can it be a lower bound."""
    if value.status != "at_least":
        return "provisional" if value.provisional else "recommended"
    if value.edge == "unsettled":
        return "so far"
    return "at least" if axis == "vcpus" else "answer"


def ending(run: Run) -> str:
    """How a run that gave no rate ended; one that completed without says just that."""
    return "no rate" if run.outcome is Outcome.COMPLETED else outcome_in_words(run.outcome)


def workload(value: Workload) -> str:
    """What is measured in a few words: 'image training · resnet50 · MXNet'."""
    framework = "opencv" if value.kind == PREPROCESSING else value.framework  # older folders call it mxnet
    parts = [KIND.get(value.kind, value.kind), value.network, FRAMEWORK.get(framework or "", framework)]
    if value.kind == "command":
        parts = [KIND["command"]]
    return " · ".join(part for part in parts if part and part != UNKNOWN_FRAMEWORK)


def rates(value: DiskRates) -> str:
    """'read 100 MB/s, 2,000 IOPS; write 100 MB/s, 2,000 IOPS', leaving out what is not known."""
    read = _rates(value.read_bytes_per_second, value.read_iops)
    write = _rates(value.write_bytes_per_second, value.write_iops)
    if read and read == write:
        return f"read and write {read}"
    return "; ".join(f"{way} {text}" for way, text in (("read", read), ("write", write)) if text)


def reading(value: DiskRates) -> str:
    """'100 MB/s, 2,000 IOPS' of a tier's reads; its writes where only those are known."""
    read = _rates(value.read_bytes_per_second, value.read_iops)
    return read or rates(value) or "nothing"


def _rates(bytes_per_second: float | None, iops: float | None) -> str:
    parts = []
    if bytes_per_second is not None:
        parts.append(formatting.transfer(bytes_per_second))
    if iops is not None:
        parts.append(f"{formatting.format_number(iops)} IOPS")
    return ", ".join(parts)


def undeclared(tier: DiskTier) -> str:
    """What a tier that is not emulated declares; one without a place was imported."""
    return "nothing, it is a real mount" if tier.path is not None else "nothing was told"


def tier_nature(tier: DiskTier | None) -> str:
    """'emulated', 'real', or 'not limited' for the host's own disk."""
    if tier is None:
        return "not limited"
    return "emulated" if tier.emulated is not None else "real"


def disk(name: str, study: Study) -> str:
    """A disk tier's name with its nature: 'ssd (emulated)', 'host disk (not limited)'."""
    tier = next((tier for tier in study.disks if tier.name == name), None)
    if tier is None:
        return "host disk (not limited)" if name == HOST_DISK else name
    return f"{name} ({tier_nature(tier)})"


def spec(value: Spec, study: Study, device: Device | None = None) -> str:
    """'2 vCPU · 4 GiB memory · ssd (emulated) · batch 32', without the axes that were not varied."""
    parts = [formatting.format_vcpus(value.vcpus)] if value.vcpus is not None else []
    if value.gpu or value.gpu_count:
        parts.append(named(Accelerators(value.gpu, value.gpu_count), device))
    if value.memory_bytes is not None:
        parts.append(f"{formatting.format_bytes(value.memory_bytes)} memory")
    if value.disk is not None:
        parts.append(disk(value.disk, study))
    if value.batch_size is not None:
        parts.append(f"batch {value.batch_size}")
    return " · ".join(parts)


def configuration(value: Configuration, study: Study) -> str:
    """What a run had, as one line, without what an imported table does not say."""
    known = Spec(value.vcpus, value.memory_bytes, value.disk, value.batch_size, value.gpu, value.gpu_count or 0)
    return spec(known, study)


def memory(value: Configuration) -> str:
    """'8 GiB'; empty where it is not known."""
    return formatting.format_bytes(value.memory_bytes) if value.memory_bytes is not None else ""


def accelerators(value: Configuration) -> str:
    """Kind and count where a run names them; empty otherwise."""
    return named(Accelerators(value.gpu, value.gpu_count)) if value.gpu or value.gpu_count else ""
