"""Runs -> what was measured: the range, one rate a configuration, the noise of a run."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import compress
from statistics import mean, median, stdev

from sizer.model.coordinates import batch_of, disk_of, gpus_of, known, memory_of, needs_no_less, vcpus_of
from sizer.model.drift import NO_DRIFT, Drift
from sizer.model.exposure import exposures, own_deviation, rate_of, within
from sizer.model.facts import median_of
from sizer.model.feeds import feed_of
from sizer.model.floor_runs import is_batch_search, ordinary, searched_floor
from sizer.model.memory import overfilled_accelerators, trials
from sizer.model.model import (
    DRIFT,
    Feed,
    Gpus,
    MeasuredDisk,
    MeasuredRange,
    MeasuredRate,
    Observation,
    deviation_of,
)
from sizer.model.seen_runs import left_noise, seen_run, weighted_median
from sizer.model.starved import is_starved
from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.device import DiskRates
from sizer.records.run import SLIP, Run, WarningKind
from sizer.records.run_kinds import FAULTS, Outcome

TAKES_CPUS = frozenset({WarningKind.CONTENDED, WarningKind.STOLEN})
"""Of a run with one of these accounting does not tell a serial part from CPUs that others used."""
UNKNOWN_NOISE = 0.02
"""Standard deviation of ln throughput assumed where neither repeats nor intervals show it (quiet machines: 0.3-2 %)."""
ABOUT_A_CURVE = 0.0125
"""The same of rates about the curve that is fitted to them, which one source measured in one go. By hand: with it 92 %
of the points left out of the real curves that taught the forms lie in their 90 % intervals, each kind of curve counting
alike, and 91 % with 0.01; of tables of programs 85 % (`benchmarks/curves/README.md`)."""


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
        for run in ordinary(runs)
        if run.outcome is Outcome.COMPLETED
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
    each is worth.
    """
    fed_alike: dict[Feed, list[Run]] = defaultdict(list)
    for run in runs:
        fed_alike[feed_of(run)].append(run)
    grouped = {
        (feed, configuration): group
        for feed, alike in fed_alike.items()
        for configuration, group in _grouped(alike).items()
    }
    shown = exposures(runs)
    noise = noise_of(grouped.values())
    noise = noise if noise.measured else Noise(ABOUT_A_CURVE, measured=False)
    seen = {key: [seen_run(run, shown[id(run)], drift) for run in group] for key, group in grouped.items()}
    left = left_noise(seen.values(), noise.run, noise.repeated)
    noise = _with_drift(noise, runs, shown, drift)
    observations = []
    for (feed, configuration), group in grouped.items():
        starved = all(map(is_starved, group))
        counted = [starved or not is_starved(run) for run in group]
        fed = list(compress(group, counted))
        each = list(compress(seen[feed, configuration], counted))
        variances = [left.of(one.exposure, one.within) ** 2 + one.own**2 for one in each]
        centre = weighted_median([one.log_rate for one in each], [1 / variance for variance in variances])
        deviation = math.hypot(1 / math.sqrt(sum(1 / variance for variance in variances)), DRIFT)
        if apart(fed) > SLIP:
            deviation = deviation_of(stdev(one.log_rate for one in each), len(each))
        accounted = {name: _accounted(group, name) for name in ("read_bytes", "core_seconds", "accelerator_seconds")}
        if gpus_of(configuration) > 1:
            accounted["accelerator_seconds"] = _side_by_side(group, gpus_of(configuration))
        observations.append(Observation(configuration, feed, centre, deviation, **accounted, starved=starved))
    return sorted(observations, key=lambda o: _order(o.configuration)), noise


def _with_drift(noise: Noise, runs: Sequence[Run], shown: Mapping[int, float], drift: Drift) -> Noise:
    """What moves a new run: repeats show the drift of the host, too, and else what is known of it comes on top."""
    moved = drift.deviation.get(runs[0].spec.workload.name, 0.0) if runs else 0.0
    if noise.repeated or not moved:
        return noise
    return replace(noise, run=math.hypot(noise.run, moved * mean(shown.values())), measured=True)


def _accounted(group: Sequence[Run], name: str) -> float | None:
    found = [getattr(run.demand, name) for run in group if run.demand is not None]
    found = [value for value in found if value is not None]
    return mean(found) if found else None


def _side_by_side(group: Sequence[Run], count: int) -> float | None:
    """Seconds a sample that all accelerators together are busy, one beside another; of a table it is not known whose
    seconds it has."""
    seconds = _accounted(group, "accelerator_seconds")
    return None if seconds is None or any(run.imported for run in group) else seconds / count


def _order(at: Configuration) -> tuple[float, int, str, int, str, int]:
    return vcpus_of(at), memory_of(at), disk_of(at), batch_of(at), at.gpu or "", gpus_of(at)


def _grouped(runs: Sequence[Run]) -> dict[Configuration, list[Run]]:
    grouped: dict[Configuration, list[Run]] = defaultdict(list)
    for run in runs:
        grouped[run.configuration].append(run)
    return dict(grouped)


def _on_one_machine(runs: Sequence[Run]) -> list[list[Run]]:
    """Those of one configuration, as the machines of a table that are alike need not be equally fast."""
    grouped: dict[object, list[Run]] = defaultdict(list)
    for run in runs:
        grouped[run.configuration, run.machine.at_any_price if run.machine is not None else None].append(run)
    return list(grouped.values())


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
    if apart(group) > SLIP:
        return stdev(math.log(rate_of(run).value) for run in group)
    own = [width for run in group if rate_of(run).low > 0 and (width := within(run)) is not None]
    by_rates = noise.run if noise.repeated or len(own) < len(group) else mean(own)
    if not any(run.warnings for run in group):
        return by_rates
    shown = exposures(group)
    return math.hypot(by_rates, mean(own_deviation(run, shown[id(run)], False) for run in group))


def noise_of(groups: Collection[Sequence[Run]]) -> Noise:
    """From run to run, of groups of runs that were each made alike; one with a slip says nothing of the others."""
    squares, freedom = 0.0, 0
    for group in groups:
        if apart(group) > SLIP:
            continue
        logs = [math.log(rate_of(run).value) for run in group]
        middle = mean(logs)
        squares += sum((log - middle) ** 2 for log in logs)
        freedom += len(logs) - 1
    inside = [width for group in groups for run in group if (width := within(run))]
    if freedom >= 2:
        return Noise(math.sqrt(squares / freedom), measured=True, repeated=True)
    return Noise(max(median(inside), 0.01), measured=True) if inside else Noise(UNKNOWN_NOISE, measured=False)


def measure(runs: Sequence[Run], isolating: Sequence[Run] = ()) -> MeasuredRange:
    """The range that completed runs cover, and every memory cap that any run tried.

    `isolating` runs show one stage alone: of them only the caps count under which the whole job ran.
    """
    usable = completed(runs)
    grouped = _grouped(usable)
    noise = noise_of(_on_one_machine(usable))
    inputs = {run.spec.workload.assumed_input for run in runs}
    whole = [run for run in isolating if run.spec.workload.assumed_input in inputs]
    return MeasuredRange(
        vcpus=tuple(sorted(known(run.configuration.vcpus for run in usable))),
        memory_bytes=tuple(sorted(known(run.configuration.memory_bytes for run in usable))),
        batch_size=tuple(sorted(known(run.configuration.batch_size for run in usable))),
        gpus=_gpus(usable),
        disks=_disks(usable),
        rates=tuple(_measured_rate(key, grouped[key], noise) for key in sorted(grouped, key=_order)),
        trials=trials([*runs, *whole]),
        memory_limited=any(run.spec.limits.memory_bytes is not None for run in runs if not is_batch_search(run)),
        search=searched_floor(runs),
        failed_vcpus=_failed_vcpus(runs),
        did_not_fit=_did_not_fit(runs),
        overfilled=overfilled_accelerators(runs),
    )


def on_usual_host(measured: MeasuredRange, observations: Sequence[Observation], feed: Feed) -> MeasuredRange:
    """With what the observations of that feed say of each rate on the host as it usually was."""
    seen = {each.configuration: each for each in observations if each.feed == feed}
    rates = (
        replace(rate, log_usual=found.log_rate, deviation=found.deviation)
        if (found := seen.get(rate.configuration)) is not None
        else rate
        for rate in measured.rates
    )
    return replace(measured, rates=tuple(rates))


def _gpus(runs: Sequence[Run]) -> tuple[Gpus, ...]:
    """The usual first: that of the most runs, of these the one with the fewest accelerators."""
    counted = Counter(Gpus(run.configuration.gpu, run.configuration.gpu_count) for run in runs)
    return tuple(sorted(counted, key=lambda each: (-counted[each], each.count or 0, each.gpu or "")))


def _did_not_fit(runs: Sequence[Run]) -> tuple[Configuration, ...]:
    """Each configuration that ran out of memory, unless a run that needed no less completed."""
    held = [run.configuration for run in runs if run.outcome is Outcome.COMPLETED]
    killed = dict.fromkeys(run.configuration for run in runs if run.outcome is Outcome.OUT_OF_MEMORY)
    return tuple(each for each in killed if not any(needs_no_less(other, each) for other in held))


def _failed_vcpus(runs: Sequence[Run]) -> tuple[float, ...]:
    failed = known(run.configuration.vcpus for run in ordinary(runs) if run.outcome in FAULTS)
    return tuple(sorted(failed - known(run.configuration.vcpus for run in completed(runs))))


def _measured_rate(configuration: Configuration, group: Sequence[Run], noise: Noise) -> MeasuredRate:
    rate = measured_rate([rate_of(run) for run in group])
    # An interval that reaches 0 says nothing of how far ln rate may be off below.
    rate = rate if rate.low > 0 else replace(rate, low=min(rate_of(run).value for run in group))
    named = {run.evidence.bottleneck for run in group if run.evidence is not None and not _serial_or_disturbed(run)}
    named.discard(Bottleneck.AMBIGUOUS)  # accounting that names nothing contradicts nothing
    evidence = (named.pop() if len(named) == 1 else Bottleneck.AMBIGUOUS) if named else None
    return MeasuredRate(configuration, rate, len(group), noise_at(group, noise), evidence, _busy(evidence, group))


def _serial_or_disturbed(run: Run) -> bool:
    """Whether one busy core may be a serial part as well as what others on the host left of the CPUs."""
    serial = run.evidence is not None and run.evidence.bottleneck is Bottleneck.SERIAL
    return serial and beside_others(run)


def _busy(resource: Bottleneck | None, group: Sequence[Run]) -> float | None:
    """The median busy share of that resource; of a serial part, that of the vCPUs."""
    if resource is None or resource is Bottleneck.AMBIGUOUS:
        return None
    name = Bottleneck.CPU.value if resource is Bottleneck.SERIAL else resource.value
    shares = [run.evidence.busy[name] for run in group if run.evidence is not None and name in run.evidence.busy]
    return median(shares) if shares else None


def _disks(runs: Sequence[Run]) -> tuple[MeasuredDisk, ...]:
    grouped: dict[str | None, list[Run]] = defaultdict(list)
    for run in runs:
        grouped[run.configuration.disk].append(run)
    return tuple(_disk(name, group) for name, group in grouped.items())


def _disk(name: str | None, group: Sequence[Run]) -> MeasuredDisk:
    checks = [run.disk for run in group if run.disk is not None]
    if not checks:
        return MeasuredDisk(name, DiskRates())
    known = [check.rates for check in checks]
    rates = {field.name: median_of([getattr(each, field.name) for each in known]) for field in fields(DiskRates)}
    tier = checks[0].tier
    return MeasuredDisk(name, DiskRates(**rates), tier.disk_class, tier.catalog_name, tier.emulated is not None)
