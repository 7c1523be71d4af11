"""Runs -> what was measured: the range, one rate a configuration, the noise of a run, and facts without any fitting."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from statistics import mean, median, stdev

import numpy as np

from sizer.model.host import NO_DRIFT, Drift, exposures, own_deviation, rate_of, within
from sizer.model.memory import anonymous_bytes, cached_fraction, hit_rate, overfilled_accelerators, trials
from sizer.model.model import (
    CPU_LABEL,
    DRIFT,
    CpuWork,
    Feed,
    Gpus,
    MeasuredDisk,
    MeasuredRange,
    MeasuredRate,
    Observation,
    WorkloadFacts,
    batch_of,
    deviation_of,
    disk_of,
    gpus_of,
    memory_of,
    needs_no_less,
    present,
    vcpus_of,
)
from sizer.model.runs import feed_of, is_search, is_starved, label_of, searched_floor
from sizer.records.device import DiskRates
from sizer.records.kinds import KINDS, PREPROCESSING
from sizer.records.prediction import Bottleneck, Configuration, Estimate
from sizer.records.run import OUTLIER, Run, WarningKind
from sizer.records.run_kinds import FAULTS, Outcome

TAKES_CPUS = frozenset({WarningKind.CONTENDED, WarningKind.STOLEN})
"""Of a run with one of these accounting does not tell a serial part from CPUs that others used."""
EXPOSED = 0.3
"""From here on a run moves with the CPUs of its host; below, with what binds it instead."""
STEADY = 0.003
"""Standard deviation of ln rate, at the least: repeats that are all alike are as many as they are, and no certainty."""
UNKNOWN_NOISE = 0.02
"""Standard deviation of ln throughput assumed where neither repeats nor intervals show it (quiet machines: 0.3-2 %)."""
ABOUT_A_CURVE = 0.0125
"""The same of rates about the curve that is fitted to them, which one source measured in one go. By hand: with it 92 %
of the points left out of the real curves that taught the forms lie in their 90 % intervals, each kind of curve counting
alike, and 91 % with 0.01; of tables of programs 85 % (`benchmarks/curves/README.md`)."""


HIT_SPREAD, BLEND_SPREAD, AMPLIFICATION_SPREAD = 0.1, 0.4, 0.7
"""Standard deviations: of an accounted miss rate from run to run, and of what is believed of the blend (LRU was
measured to 0.003) and of ln read amplification (up to 4 was seen with the usual readahead of 128 KiB)."""


@dataclass(frozen=True)
class Noise:
    """Standard deviation of ln throughput from run to run, and whether it was measured or is assumed.

    `repeated`: by repeats, and not by what moved within single runs, which is less than what moves between them.
    """

    run: float
    measured: bool
    repeated: bool = False


def completed(runs: Iterable[Run]) -> list[Run]:
    """The runs with a throughput; those that searched for the memory floor only show whether their cap held."""
    return [
        run
        for run in runs
        if run.outcome is Outcome.COMPLETED
        and not is_search(run)
        and run.throughput is not None
        and math.isfinite(run.throughput.value)
        and run.throughput.value > 0
        and vcpus_of(run.configuration) > 0
    ]


def beside_others(run: Run) -> bool:
    """Whether something else took a part of its CPUs, on the host or by the hypervisor."""
    return any(warning.kind in TAKES_CPUS for warning in run.warnings)


def observe(runs: Sequence[Run], drift: Drift = NO_DRIFT) -> tuple[list[Observation], Noise]:
    """One observation a configuration and feed, by vCPUs: the rate on a host as it usually was, and how sure it is.

    Off each run is taken what `drift` says of the host at its time, as far as its rate shows the host; what is
    uncertain of it, and what a run's own evidence says, is in the deviation. Of its runs the median counts, by what
    each is worth. Starved runs count where there is no other.
    """
    grouped: dict[tuple[Feed, Configuration], list[Run]] = defaultdict(list)
    for run in runs:
        grouped[feed_of(run), run.configuration].append(run)
    shown = exposures(runs)
    noise = noise_of(grouped.values())
    noise = noise if noise.measured else Noise(ABOUT_A_CURVE, measured=False)
    logs = {id(run): _on_usual_host(run, shown[id(run)], drift) for run in runs}
    alike = [[(logs[id(run)][0], within(run), shown[id(run)]) for run in group] for group in grouped.values()]
    left = {exposed: _left(alike, exposed, noise) for exposed in (True, False)}
    observations = []
    for (feed, configuration), group in grouped.items():
        fed = [run for run in group if not is_starved(run)] or group
        centres, own = zip(*(logs[id(run)] for run in fed), strict=True)
        noises = [max(left[shown[id(run)] >= EXPOSED], within(run) or 0.0) for run in fed]
        variances = [noise_of_run**2 + its**2 for noise_of_run, its in zip(noises, own, strict=True)]
        deviation = math.hypot(1 / math.sqrt(sum(1 / variance for variance in variances)), DRIFT)
        if apart(fed) > OUTLIER:
            deviation = deviation_of(stdev(centres), len(fed))
        busy = _accounted(group, "accelerator_seconds")
        if busy is not None and gpus_of(configuration) > 1:  # of a table it is not known whose seconds it has
            busy = None if any(run.imported for run in group) else busy / gpus_of(configuration)
        observations.append(
            Observation(
                configuration,
                feed,
                _weighted_median(centres, [1 / variance for variance in variances]),
                deviation,
                _accounted(group, "read_bytes"),
                _accounted(group, "core_seconds"),
                busy,
                starved=all(map(is_starved, group)),
            )
        )
    if drift.moved and not noise.repeated:  # repeats show the drift of the host, too
        noise = Noise(math.hypot(noise.run, drift.moved * mean(shown.values())), measured=True)
    return sorted(observations, key=lambda o: _order(o.configuration)), noise


def _on_usual_host(run: Run, exposure: float, drift: Drift) -> tuple[float, float]:
    """Ln of its rate on the host as it usually was, and what it may be off by its warnings and by the host."""
    shift = drift.at(run)
    own, log_rate = own_deviation(run, exposure, shift is not None), math.log(rate_of(run).value)
    if shift is None:
        return log_rate, own
    return log_rate - exposure * shift.mean, math.hypot(own, exposure * math.sqrt(shift.variance))


def _left(alike: Sequence[Sequence[tuple[float, float | None, float]]], exposed: bool, noise: Noise) -> float:
    """Noise from run to run that is left, of runs that the CPU binds or of the others, by ln rate, own noise and
    exposure of those made alike: by their repeats; what no repeat shows is that of all, or of others their own."""
    some = [[run for run in group if (run[2] >= EXPOSED) is exposed] for group in alike]
    spread = pooled([[log for log, *_ in group] for group in some if group])
    inside = [own for group in some for _, own, _ in group if own] if noise.repeated and not exposed else []
    return max(spread if spread is not None else median(inside) if inside else noise.run, STEADY)


def _weighted_median(logs: Sequence[float], weights: Sequence[float]) -> float:
    """Ln of the rate with half of the weight on either side, between the two nearest; the median of equal weights."""
    ordered = sorted(zip(logs, weights, strict=True))
    weight = np.array([weight_of_value for _, weight_of_value in ordered])
    middles = (np.cumsum(weight) - weight / 2) / weight.sum()
    return math.log(float(np.interp(0.5, middles, [math.exp(log) for log, _ in ordered])))


def pooled(groups: Iterable[Sequence[float]]) -> float | None:
    """The standard deviation of ln rates about the mean of their group; None of fewer than two degrees of freedom. A
    group with a slip says nothing of the others."""
    alike = [group for group in groups if max(group) - min(group) <= math.log(OUTLIER)]
    freedom = sum(len(group) - 1 for group in alike)
    squares = sum(sum((log - mean(group)) ** 2 for log in group) for group in alike)
    return math.sqrt(squares / freedom) if freedom >= 2 else None


def _accounted(group: Sequence[Run], name: str) -> float | None:
    figures = [getattr(run.demand, name) for run in group if run.demand is not None]
    figures = [value for value in figures if value is not None]
    return mean(figures) if figures else None


def _order(at: Configuration) -> tuple[float, int, str, int, str, int]:
    return vcpus_of(at), memory_of(at), disk_of(at), batch_of(at), at.gpu or "", gpus_of(at)


def measured_rate(rates: Sequence[Estimate]) -> Estimate:
    """The measured rate of a configuration, from those of all its runs; ValueError without any.

    Their median, as one may be bad, in an interval that holds theirs. Runs with a warning count like the others: what a
    warning names may have changed the rate or not, and a median bears a bad one among three. What the model makes of
    it with all other configurations is another figure, the fitted rate.
    """
    return Estimate(
        median(rate.value for rate in rates), min(rate.low for rate in rates), max(rate.high for rate in rates)
    )


def apart(group: Sequence[Run]) -> float:
    """How many times its fastest run is as fast as its slowest."""
    rates = [rate_of(run).value for run in group]
    return max(rates) / min(rates)


def noise_at(group: Sequence[Run], noise: Noise) -> float:
    """Standard deviation of ln rate of a new run there: by the intervals of its runs, or as of all of the workload;
    and by what their own warnings name.

    Of runs that are far apart their own.
    """
    if apart(group) > OUTLIER:
        return stdev(math.log(rate_of(run).value) for run in group)
    own = [width for run in group if rate_of(run).low > 0 and (width := within(run)) is not None]
    by_rates = noise.run if noise.repeated or len(own) < len(group) else mean(own)
    if not any(run.warnings for run in group):
        return by_rates
    shown = exposures(group)
    return math.hypot(by_rates, mean(own_deviation(run, shown[id(run)], False) for run in group))


def noise_of(groups: Collection[Sequence[Run]]) -> Noise:
    """From run to run, of groups of runs that were each made alike."""
    repeated = pooled([[math.log(rate_of(run).value) for run in group] for group in groups])
    if repeated is not None:
        return Noise(repeated, measured=True, repeated=True)
    inside = [width for group in groups for run in group if (width := within(run))]
    return Noise(max(median(inside), 0.01), measured=True) if inside else Noise(UNKNOWN_NOISE, measured=False)


def measure(runs: Sequence[Run], isolating: Sequence[Run] = ()) -> MeasuredRange:
    """The range that completed runs cover, and every memory cap that any run tried.

    `isolating` runs show one stage alone: of them only the caps count under which the whole job ran.
    """
    usable = completed(runs)
    grouped: dict[Configuration, list[Run]] = defaultdict(list)
    on_one_machine: dict[object, list[Run]] = defaultdict(list)
    for run in usable:
        grouped[run.configuration].append(run)
        # The machines of a table that are alike need not be equally fast.
        on_one_machine[run.configuration, run.declared.machine and run.declared.machine.at_any_price].append(run)
    noise = noise_of(on_one_machine.values())
    inputs = {run.spec.workload.assumed_input for run in runs}
    whole = [run for run in isolating if run.spec.workload.assumed_input in inputs]
    failed = present(run.configuration.vcpus for run in runs if run.outcome in FAULTS and not is_search(run))
    return MeasuredRange(
        vcpus=tuple(sorted(present(at.vcpus for at in grouped))),
        memory_bytes=tuple(sorted(present(at.memory_bytes for at in grouped))),
        batch_size=tuple(sorted(present(at.batch_size for at in grouped))),
        gpus=_gpus(usable),
        disks=_disks(usable),
        rates=tuple(_measured_rate(key, grouped[key], noise) for key in sorted(grouped, key=_order)),
        trials=trials([*runs, *whole]),
        search=searched_floor(runs),
        failed_vcpus=tuple(sorted(failed - present(at.vcpus for at in grouped))),
        did_not_fit=_did_not_fit(runs),
        overfilled=overfilled_accelerators(runs),
    )


def on_usual_host(measured: MeasuredRange, observations: Sequence[Observation], feed: Feed) -> MeasuredRange:
    """With what the observations of that feed say of each rate on the host as it usually was."""
    seen = {observation.configuration: observation for observation in observations if observation.feed == feed}
    rates = (
        replace(rate, log_usual=observed.log_rate, deviation=observed.deviation)
        if (observed := seen.get(rate.configuration)) is not None
        else rate
        for rate in measured.rates
    )
    return replace(measured, rates=tuple(rates))


def _gpus(runs: Sequence[Run]) -> tuple[Gpus, ...]:
    """The usual first: that of the most runs, of these the one with the fewest accelerators."""
    counted = Counter(Gpus(run.configuration.gpu, run.configuration.gpu_count) for run in runs)
    return tuple(sorted(counted, key=lambda gpus: (-counted[gpus], gpus.count or 0, gpus.gpu or "")))


def _did_not_fit(runs: Sequence[Run]) -> tuple[Configuration, ...]:
    """Each configuration that ran out of memory, unless a run that needed no less completed."""
    held = [run.configuration for run in runs if run.outcome is Outcome.COMPLETED]
    killed = dict.fromkeys(run.configuration for run in runs if run.outcome is Outcome.OUT_OF_MEMORY)
    return tuple(
        configuration for configuration in killed if not any(needs_no_less(other, configuration) for other in held)
    )


def _measured_rate(configuration: Configuration, group: Sequence[Run], noise: Noise) -> MeasuredRate:
    rate = measured_rate([rate_of(run) for run in group])
    # An interval that reaches 0 says nothing of how far ln rate may be off below.
    rate = rate if rate.low > 0 else replace(rate, low=min(rate_of(run).value for run in group))
    # Accounting that names nothing contradicts nothing; one busy core may be a serial part as well as what others left.
    named = {run.evidence.bottleneck for run in group if run.evidence is not None and not beside_others(run)}
    named |= {run.evidence.bottleneck for run in group if run.evidence is not None} - {Bottleneck.SERIAL}
    named.discard(Bottleneck.AMBIGUOUS)
    if not named:
        return MeasuredRate(configuration, rate, len(group), noise_at(group, noise))
    evidence = named.pop() if len(named) == 1 else Bottleneck.AMBIGUOUS
    resource = (Bottleneck.CPU if evidence is Bottleneck.SERIAL else evidence).value  # of a serial part, the vCPUs
    busy = [run.evidence.busy[resource] for run in group if run.evidence is not None and resource in run.evidence.busy]
    share = median(busy) if busy and evidence is not Bottleneck.AMBIGUOUS else None
    return MeasuredRate(configuration, rate, len(group), noise_at(group, noise), evidence, share)


def _disks(runs: Sequence[Run]) -> tuple[MeasuredDisk, ...]:
    disks = []
    for name in dict.fromkeys(run.configuration.disk for run in runs):
        checks = [run.disk for run in runs if run.configuration.disk == name and run.disk is not None]
        rates = {
            field_.name: median_of(getattr(check.rates, field_.name) for check in checks)
            for field_ in fields(DiskRates)
        }
        tier = checks[0].tier if checks else None
        named = (tier.disk_class, tier.catalog_name, tier.emulated is not None, tier.size_bytes) if tier else ()
        disks.append(MeasuredDisk(name, DiskRates(**rates), *named))
    return tuple(disks)


def median_of(values: Iterable[float | None]) -> float | None:
    """The median of what is known and above 0; None if nothing is."""
    numbers = [value for value in values if value is not None and math.isfinite(value) and value > 0]
    return median(numbers) if numbers else None


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
    # Of a command, or of a table that does not say, nobody knows whether the page cache keeps data between epochs.
    unsaid = workload.kind == "command" or (workload.cache is None and any(run.imported for run in runs))
    synthetic = [run for run in isolating if run.spec.workload.input == "synthetic"]
    labels = Counter(label_of(run) for run in runs)
    usual = labels.most_common(1)[0][0]
    by_label = {label_of(run): run.spec.workload.computes_on for run in reversed(runs)}
    facts = WorkloadFacts(
        kind=workload.kind,
        device=by_label[usual],
        feed=feed,
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
        devices={label or CPU_LABEL: by_label[label] for label in by_label} if len(by_label) > 1 else {},
        several_accounted=any(  # by sizer itself, or its table says what emulated ones lose
            run.spec.gpu_count > 1
            or (run.spec.workload.computes_on.scaling_loss is not None and gpus_of(run.configuration) > 1)
            for run in runs
        ),
        mixed_with_cpu=CPU_LABEL in labels and len(labels) > 1,
        reference_batch=usual_batch,
        highest_rate=max(run.throughput.value for run in runs if run.throughput is not None),
        paired=_in_pairs(runs),
        cpu_work=_cpu_work(runs),
        may_cache=feed.natural or (workload.assumed_input == "disk" and unsaid),
    )
    return _with_hit_blend(facts, [*runs, *isolating], measured)


def _in_pairs(runs: Sequence[Run]) -> bool:
    """Where the host says it, and for as many vCPUs as were used: some have cores without hyperthreads, too."""
    halves = {
        (run.limited_by.paired_cores, math.ceil(vcpus_of(run.configuration)) // 2)
        for run in runs
        if run.limited_by is not None and run.limited_by.paired_cores is not None
    }
    return any(paired for paired, _ in halves) and all(paired == half for paired, half in halves)


def _cpu_work(runs: Sequence[Run]) -> CpuWork | None:
    """As kind, mode, device and input say it: nothing is told of a command, nor of a table that does not say these."""
    workload, labels = runs[0].spec.workload, {label_of(run) for run in runs}
    if workload.kind == PREPROCESSING:
        return CpuWork.IMAGES
    if labels <= {None, CPU_LABEL}:
        return CpuWork.MATRIX if workload.device is not None and workload.computed_mode is not None else None
    decodes = "recordio" in KINDS[workload.kind].data_formats and workload.assumed_input != "synthetic"
    return CpuWork.IMAGES if decodes and not labels & {None, CPU_LABEL} else None


def _demand(runs: Sequence[Run], name: str) -> float | None:
    return median_of([getattr(run.demand, name) for run in runs if run.demand is not None])


def _core_seconds(runs: Sequence[Run]) -> float | None:
    """At the fewest vCPUs accounted: contention between cores and waiting that spins only add to it."""
    demands = [(vcpus_of(run.configuration), run.demand) for run in runs if run.demand and run.demand.core_seconds]
    fewest = min((vcpus for vcpus, _ in demands), default=None)
    return median_of([demand.core_seconds for vcpus, demand in demands if vcpus == fewest])


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
    rates_by_label: dict[str, float] = {}
    for label in dict.fromkeys(label_of(run) for run in runs):
        if label is None or label == CPU_LABEL:
            continue
        alike = [run for run in runs if label_of(run) == label]
        given = alike[0].spec.workload.computes_on.at_batch(batch_size).samples_per_second
        accounted = [run for run in alike if gpus_of(run.configuration) <= 1 or not run.imported]
        fewest = min((gpus_of(run.configuration) for run in accounted), default=0)
        busy = _demand([run for run in accounted if gpus_of(run.configuration) == fewest], "accelerator_seconds")
        if given or busy:
            rates_by_label[label] = given or 1 / (busy or 1.0)
    return rates_by_label


def _with_hit_blend(facts: WorkloadFacts, runs: Sequence[Run], measured: MeasuredRange) -> WorkloadFacts:
    """`hit_blend` and `read_amplification` from the reads accounted under each cap; LRU where nothing is known."""
    seen = []
    for run in runs:
        if feed_of(run).natural and run.demand and run.demand.read_bytes is not None and facts.read_bytes:
            at = run.configuration
            anonymous = run.memory.peak_anonymous_bytes or anonymous_bytes(measured, at.vcpus, at.batch_size)
            cached = cached_fraction(facts, memory_of(at), anonymous)
            if cached < 0.999:
                seen.append((cached, run.demand.read_bytes / facts.read_bytes))
    if not seen or not facts.data_bytes:
        return facts
    blends, amplified = np.arange(1 if facts.sequential else 21) / 20, 1 + np.arange(101) / 20
    off = (blends[:, None] / BLEND_SPREAD) ** 2 + (np.log(amplified) / AMPLIFICATION_SPREAD) ** 2
    for cached, missed in seen:
        hits = np.array([hit_rate(cached, facts.sequential, float(blend)) for blend in blends])
        off = off + ((amplified * (1 - hits[:, None]) - missed) / HIT_SPREAD) ** 2
    blend, factor = np.unravel_index(int(off.argmin()), off.shape)
    return replace(facts, hit_blend=float(blends[blend]), read_amplification=float(amplified[factor]))
