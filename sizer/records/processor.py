"""How fast a CPU is: compressors on one text, published by instance type and probed on the host that measures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from sizer.records.domains import Amount, Count, Label, Rate, Signed, Vcpus

REFERENCE = {"gzip1": 84.2, "bzip2_9": 13.69, "xz1": 13.26, "zstd7": 47.2}
"""MB/s of one busy thread of AWS c6i (Xeon Platinum 8375C) on Silesia's `dickens`: an index of 1."""


@dataclass(frozen=True)
class Processor:
    """The CPU of a machine: `name` is the instance type, empty of the host that measured, `cpu` the model as its guest
    sees it.

    `rates` are MB/s of one busy thread by compressor, `deviation` the standard deviation of ln of them all from machine
    to machine and time to time. `cores` is how many whole cores its `vcpus` are, None where nobody says;
    `instructions` the widest that it computes matrices with, empty where that is not known; `second_thread` what the
    second of a core adds to decoding JPEGs, of one that has any.
    """

    name: str
    cpu: Label
    rates: Mapping[str, Rate]
    deviation: Amount
    vcpus: Vcpus
    cores: Amount | None
    instructions: str
    second_thread: Signed | None = None

    @property
    def index(self) -> float:
        """One busy thread; AWS c6i is 1."""
        return math.exp(fmean(math.log(rate / REFERENCE[name]) for name, rate in self.rates.items()))


@dataclass(frozen=True)
class Timed:
    """The best of one compressor, as it would be on the published text, over AWS c6i's, and its library's version."""

    compressor: Label
    library: Label
    index: Rate


@dataclass(frozen=True)
class Probe:
    """What one probe of the host gave; `per_vcpu` is what each of `vcpus` busy ones does of one that is busy alone."""

    timed: tuple[Timed, ...]
    per_vcpu: Rate
    vcpus: Count
    at: Label


@dataclass(frozen=True)
class HostSpeed:
    """What was probed before the first run of a study and after its last, where it was not interrupted; the CPU's
    model and number (`GenuineIntel/6/143/8`), and what it computes matrices with."""

    cpu: Label
    cpu_id: str
    instructions: str
    hyperthreads: bool
    probes: tuple[Probe, ...]

    @property
    def processor(self) -> Processor:
        """The machine with the mean of the probes; half of what they differ by is its deviation."""
        logs = [{timed.compressor: math.log(timed.index) for timed in probe.timed} for probe in self.probes]
        alike = [name for name in REFERENCE if all(name in log for log in logs)]
        rates = {name: REFERENCE[name] * math.exp(fmean(log[name] for log in logs)) for name in alike}
        moved = fmean([logs[-1][name] - logs[0][name] for name in alike] or [0.0])
        vcpus = float(self.vcpus)
        cores = vcpus / 2 if self.hyperthreads and vcpus > 1 else vcpus
        return Processor("", self.cpu, rates, abs(moved) / 2, vcpus, cores, self.instructions)

    @property
    def vcpus(self) -> int:
        return self.probes[0].vcpus

    @property
    def per_vcpu(self) -> float:
        return fmean(probe.per_vcpu for probe in self.probes)

    @property
    def interval(self) -> tuple[float, float]:
        """The lowest and the highest index that one compressor gave in one of the probes."""
        indices = [timed.index for probe in self.probes for timed in probe.timed]
        return min(indices), max(indices)
