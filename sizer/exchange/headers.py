"""What people call the columns of a table: the header of a spreadsheet -> a column of sizer and the unit it names."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from sizer.records import RELATIVE


@dataclass(frozen=True)
class Meaning:
    """The column of sizer that a header means.

    `unit` is that of a number without one in its cells (`GB`, `ms`), `sample_unit` what a rate counts. `if_numbers`: a
    header that means this only above numbers. `derived`: read only where nothing says the throughput itself.
    """

    column: str
    unit: str = ""
    sample_unit: str = ""
    if_numbers: bool = False
    derived: bool = False


SECONDS_PER_EPOCH, SECONDS_PER_BATCH, SECONDS_PER_SAMPLE = (
    "seconds_per_epoch",
    "seconds_per_batch",
    "seconds_per_sample",
)
TIMES = (SECONDS_PER_BATCH, SECONDS_PER_EPOCH, SECONDS_PER_SAMPLE)
LATENCY = "latency_p50_ms"

_SAME = {
    "workload": "job, job name, task, benchmark, workload name",
    "network": "model, net, architecture, arch, model name, network name",
    "framework": "fw, dl framework",
    "precision": "dtype, numeric precision",
    "vcpus": "cpus, cores, vcpu, num cpus, n cpus, cpu count, cpu cores, num vcpus, n vcpus, number of vcpus, "
    "number of cpus, num cores, n cores",
    "gpu_count": "gpus, num gpus, n gpu, n gpus, ngpus, ngpu, num gpu, number of gpus, accelerators, num accelerators, "
    "accelerator count, count of gpus, devices, num devices, n devices, device count",
    "gpu": "accelerator, device name, gpu type, gpu name, gpu model, gpu kind, accelerator type, accelerator name",
    "batch_size": "batch, bs, batchsize, global batch size, minibatch, minibatch size, mini batch size",
    "usd_per_hour": "price, usd, cost per hour, $ per h, $ per hr, $ per hour, hourly cost, hourly price, price usd, "
    "price per hour, price per h, usd per h, usd per hr, price $ per h, price $ per hr, price $ per hour, "
    "price usd per h, price usd per hr, price usd per hour, cost $ per h, cost $ per hour, on demand price",
    "usd_per_hour_spot": "spot, spot price, spot price per hour, spot usd per hour, spot usd per h, spot $ per h, "
    "spot $ per hour, spot price $ per h, spot price $ per hour",
    "instance_type": "instance, machine, machine type, vm, vm size, vm type, instance name, node type",
    "provider": "cloud, cloud provider",
    "disk": "storage, disk type, storage type, volume, volume type",
    "disk_class": "storage class",
    "dataset_samples": "num samples, n samples, samples per epoch, images per epoch, num images",
}
_COLUMNS = {alias: column for column, aliases in _SAME.items() for alias in aliases.split(", ")}

_SAMPLE_UNITS = {
    "image": "images?|imgs?",
    "sample": "samples?|examples?|items?|records?",
    "token": "tokens?|toks?",
    "word": "words?",
    "sequence": "sequences?|seqs?",
    "sentence": "sentences?",
    "frame": "frames?",
    "query": "query|queries",
    "request": "requests?|reqs?",
    "inference": "inferences?|infs?",
}
_RATES = {"ips": "", "qps": "query", "fps": "frame", "rps": "request"}
"""`ips` are images, inferences or items, so it says no unit."""
_RELATIVE = re.compile(
    r"(?:relative|normalized|normalised)(?: (?:throughput|performance|perf|speed|rate))?|speedup|speed up"
)
_SECOND = "s|sec|secs|second|seconds"
_RATE = re.compile(rf"(?:throughput |rate |speed |performance )?(?P<what>[a-z]+) per (?:{_SECOND})")
_MEMORY = re.compile(r"(?:system |host )?(?:ram|memory|mem)(?: size)?(?: (?P<unit>[kmgt]i?b))?")
_TIMES = {
    "ms": "ms|msec|msecs|milliseconds?|millis",
    "us": "us|µs|μs|microseconds?",
    "s": _SECOND,
    "min": "min|mins|minutes?",
    "h": "h|hr|hrs|hours?",
}
_TIME = "|".join(f"(?P<{unit}>{names})" for unit, names in _TIMES.items())
_PIECES = {
    SECONDS_PER_EPOCH: "epoch",
    SECONDS_PER_BATCH: "batch|minibatch|step|iteration|iter|it",
    SECONDS_PER_SAMPLE: "|".join(names for unit, names in _SAMPLE_UNITS.items()),
}
_PIECE = "|".join(f"(?P<{column}>{names})" for column, names in _PIECES.items())
_DURATIONS = (
    re.compile(rf"(?:{_TIME}|time) per (?:{_PIECE})"),
    re.compile(rf"(?:{_PIECE}) (?:time|duration|seconds)(?: (?:{_TIME}))?"),
    re.compile(rf"time per (?:{_PIECE}) (?:{_TIME})"),
)
_AVERAGE = r"(?:mean |avg |average |median )?"
_LATENCIES = (
    re.compile(rf"(?:{_AVERAGE}|(?P<p>p50|p99) )latency(?: (?:{_TIME}))?"),
    re.compile(rf"latency (?P<p>p50|p99|mean|avg|average|median)(?: (?:{_TIME}))?"),
)


def meaning(header: str) -> Meaning | None:
    """What a header means that is not a column of sizer by its own name; None where that is not known."""
    plain = _plain(header)
    if plain == "cpu":
        return Meaning("vcpus", if_numbers=True)
    if plain in _COLUMNS:
        return Meaning(_COLUMNS[plain])
    if plain in _RATES:
        return Meaning("throughput", sample_unit=_RATES[plain])
    if _RELATIVE.fullmatch(plain):
        return Meaning("throughput", sample_unit=RELATIVE, derived=True)
    rate = _RATE.fullmatch(plain)
    if rate and (unit := sample_unit(rate["what"])):
        return Meaning("throughput", sample_unit=unit)
    memory = _MEMORY.fullmatch(plain)
    if memory:
        return Meaning("memory_gib", unit=(memory["unit"] or "gib").upper().replace("IB", "iB"))
    return _duration(plain) or _latency(plain)


def sample_unit(text: str) -> str | None:
    """`image` for `imgs`; None for a word that no sample is called by."""
    return next((unit for unit, names in _SAMPLE_UNITS.items() if re.fullmatch(names, text.lower())), None)


def time_unit(text: str) -> str | None:
    """`ms` for `milliseconds`; None for what is no unit of time."""
    return next((unit for unit, names in _TIMES.items() if re.fullmatch(names, text.lower())), None)


def spelt_alike(header: str, column: str) -> bool:
    """Whether a header is the name of a column but for spaces, hyphens and case: `Batch Size`."""
    return _plain(header) == _plain(column)


def _plain(header: str) -> str:
    """Words in lower case with one space between them; `/` is read as `per`, `#` as `num`."""
    text = unicodedata.normalize("NFKC", header).lower().replace("/", " per ").replace("#", " num ")
    return " ".join(re.sub(r"[_\-()\[\]{},:;.]", " ", text).split())


def _duration(plain: str) -> Meaning | None:
    for form in _DURATIONS:
        found = form.fullmatch(plain)
        if found:
            column = next(column for column in _PIECES if found[column])
            return Meaning(column, unit=_unit(found, "s"), derived=True)
    return None


def _latency(plain: str) -> Meaning | None:
    for form in _LATENCIES:
        found = form.fullmatch(plain)
        if found:
            return Meaning("latency_p99_ms" if found["p"] == "p99" else LATENCY, unit=_unit(found, "ms"))
    return None


def _unit(found: re.Match[str], default: str) -> str:
    return next((unit for unit in _TIMES if found[unit]), default)
