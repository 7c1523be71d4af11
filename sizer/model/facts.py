"""What accounting and the data set show of a workload without any fitting."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from sizer.model.coordinates import batch_of, gpus_of, memory_of, vcpus_of
from sizer.model.feeds import CPU_LABEL, feed_of, label_of
from sizer.model.memory import anonymous_bytes, cached_fraction, hit_rate
from sizer.model.model import CpuWork, MeasuredRange, WorkloadFacts
from sizer.records.kinds import KINDS, PREPROCESSING
from sizer.records.run import Run

HIT_SPREAD, BLEND_SPREAD, AMPLIFICATION_SPREAD = 0.1, 0.4, 0.7
"""Standard deviations: of an accounted miss rate from run to run, and of what is believed of the blend (LRU was
measured to 0.003) and of ln read amplification (up to 4 was seen with the usual readahead of 128 KiB)."""


def median_of(values: Iterable[float | None]) -> float | None:
    """The median of what is known and above 0; None if nothing is."""
    known = [value for value in values if value is not None and math.isfinite(value) and value > 0]
    return median(known) if known else None


def gather_facts(runs: Sequence[Run], isolating: Sequence[Run], measured: MeasuredRange) -> WorkloadFacts:
    """The demands and the data set of one workload, from its completed runs; `runs` must not be empty.

    `isolating` are its runs that show one stage alone.
    """
    workload = runs[0].spec.workload
    feed = feed_of(runs[0])
    data = next((run.data_set for run in runs if run.data_set is not None), None)
    batches = sorted(batch_of(run.configuration) for run in runs)
    usual_batch = max(1, batches[len(batches) // 2])
    read = _demand(runs, "read_bytes")
    accounted = read is not None
    reads_disk = workload.assumed_input == "disk" and workload.kind != "command"
    if data is not None and data.samples > 0 and reads_disk and (feed.natural or read is None):
        read = data.bytes / data.samples  # what came from the device depends on the cap there
    synthetic = [run for run in isolating if run.spec.workload.input == "synthetic"]
    labels = Counter(label_of(run) for run in runs)
    usual = labels.most_common(1)[0][0]
    facts = WorkloadFacts(
        kind=workload.kind,
        device=next(run.spec.workload.computes_on for run in runs if label_of(run) == usual),
        setting=feed,
        core_seconds=_core_seconds([run for run in runs if label_of(run) == usual]),
        step_core_seconds=_core_seconds([run for run in synthetic if label_of(run) == usual]),
        read_bytes=read,
        read_ios=_read_ios(runs, read),
        written_bytes=_demand(runs, "written_bytes"),
        write_ios=_demand(runs, "write_ios"),
        demand_accounted=accounted,
        data_bytes=data.bytes if data is not None and data.bytes > 0 else None,
        sequential=not workload.shuffles,
        accelerator=usual,
        accelerator_rates=_accelerator_rates([*runs, *isolating], usual_batch),
        several_accounted=any(_accounted_together(run) for run in runs),
        mixed_with_cpu=CPU_LABEL in labels and len(labels) > 1,
        reference_batch=usual_batch,
        highest_rate=max(run.throughput.value for run in runs if run.throughput is not None),
        paired=_in_pairs(runs),
        cpu_work=_cpu_work(runs),
        may_cache=_may_cache(runs),
    )
    return _with_hit_blend(facts, [*runs, *isolating], measured)


def _may_cache(runs: Sequence[Run]) -> bool:
    """Whether the page cache may keep data between epochs: of a command, or a table that does not say, nobody knows."""
    workload = runs[0].spec.workload
    unsaid = workload.kind == "command" or (workload.cache is None and any(run.imported for run in runs))
    return feed_of(runs[0]).natural or (workload.assumed_input == "disk" and unsaid)


def _in_pairs(runs: Sequence[Run]) -> bool:
    """Where the host says it, and for as many vCPUs as were used: some have cores without hyperthreads, too."""
    said = {
        (run.limited_by.paired_cores, math.ceil(vcpus_of(run.configuration)) // 2)
        for run in runs
        if run.limited_by is not None and run.limited_by.paired_cores is not None
    }
    return any(paired for paired, _ in said) and all(paired == half for paired, half in said)


def _cpu_work(runs: Sequence[Run]) -> CpuWork | None:
    """As kind, mode, device and input say it: nothing is told of a command, nor of a table that does not say these."""
    workload, labels = runs[0].spec.workload, {label_of(run) for run in runs}
    if workload.kind == PREPROCESSING:
        return CpuWork.IMAGES
    if labels <= {None, CPU_LABEL}:
        return CpuWork.MATRIX if workload.device is not None and workload.computed_mode is not None else None
    decodes = "recordio" in KINDS[workload.kind].data_formats and workload.assumed_input != "synthetic"
    return CpuWork.IMAGES if decodes and not labels & {None, CPU_LABEL} else None


def _accounted_together(run: Run) -> bool:
    """Whether sizer itself measured several accelerators in the run, or its table says what emulated ones lose."""
    stated = run.spec.workload.computes_on.scaling_loss is not None
    return run.spec.gpu_count > 1 or (stated and gpus_of(run.configuration) > 1)


def _demand(runs: Sequence[Run], name: str) -> float | None:
    return median_of([getattr(run.demand, name) for run in runs if run.demand is not None])


def _core_seconds(runs: Sequence[Run]) -> float | None:
    """At the fewest vCPUs accounted: contention between cores and waiting that spins only add to it."""
    known = [(vcpus_of(run.configuration), run.demand) for run in runs if run.demand and run.demand.core_seconds]
    fewest = min((vcpus for vcpus, _ in known), default=None)
    return median_of([demand.core_seconds for vcpus, demand in known if vcpus == fewest])


def _read_ios(runs: Sequence[Run], read_bytes: float | None) -> float | None:
    """IOs a sample without the page cache: bytes a sample over the size of the requests that were seen."""
    sizes = [
        run.demand.read_bytes / run.demand.read_ios
        for run in runs
        if run.demand and run.demand.read_bytes and run.demand.read_ios
    ]
    return read_bytes / median(sizes) if sizes and read_bytes else None


def _accelerator_rates(runs: Sequence[Run], batch_size: int) -> dict[str, float]:
    """Of each accelerator alone: as given for an emulated one with this batch, else from the busy seconds a sample of a
    single one, or of the fewest that sizer itself measured together."""
    found: dict[str, float] = {}
    for label in dict.fromkeys(label_of(run) for run in runs):
        if label is None or label == CPU_LABEL:
            continue
        alike = [run for run in runs if label_of(run) == label]
        device = alike[0].spec.workload.computes_on.at_batch(batch_size)
        accounted = [run for run in alike if gpus_of(run.configuration) <= 1 or not run.imported]
        fewest = min((gpus_of(run.configuration) for run in accounted), default=0)
        busy = _demand([run for run in accounted if gpus_of(run.configuration) == fewest], "accelerator_seconds")
        if device.samples_per_second:
            found[label] = device.samples_per_second
        elif busy:
            found[label] = 1 / busy
    return found


def _with_hit_blend(facts: WorkloadFacts, runs: Sequence[Run], measured: MeasuredRange) -> WorkloadFacts:
    """`hit_blend` and `read_amplification` from the reads accounted under each cap; LRU where nothing is known."""
    if not facts.read_bytes or not facts.data_bytes:
        return facts
    natural = [run for run in runs if feed_of(run).natural and run.demand is not None]
    seen = [
        (_cached(facts, run, measured), run.demand.read_bytes / facts.read_bytes)
        for run in natural
        if run.demand is not None and run.demand.read_bytes is not None
    ]
    seen = [(cached, missed) for cached, missed in seen if cached < 0.999]
    if not seen:
        return facts
    blends = [0.0] if facts.sequential else [step / 20 for step in range(21)]
    amplified = [1.0 + step / 20 for step in range(101)]

    def misfit(pair: tuple[float, float]) -> float:
        blend, factor = pair
        off = sum((factor * (1 - hit_rate(c, facts.sequential, blend)) - missed) ** 2 for c, missed in seen)
        return off / HIT_SPREAD**2 + (blend / BLEND_SPREAD) ** 2 + (math.log(factor) / AMPLIFICATION_SPREAD) ** 2

    blend, factor = min(itertools.product(blends, amplified), key=misfit)
    return replace(facts, hit_blend=blend, read_amplification=factor)


def _cached(facts: WorkloadFacts, run: Run, measured: MeasuredRange) -> float:
    configuration = run.configuration
    anonymous = run.peak_anonymous_bytes or anonymous_bytes(measured, configuration.vcpus, configuration.batch_size)
    return cached_fraction(facts, memory_of(configuration), anonymous)
