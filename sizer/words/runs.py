"""Sentences about runs: what was run, how it ended, what bound it, what its isolating runs are for.

What was emulated is never named without saying so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from sizer.plan.batch_search import BatchSearch
from sizer.plan.floor_search import Search
from sizer.plan.following import Following
from sizer.plan.reference_runs import Spread
from sizer.plan.two_epochs import Obstacle, ObstacleKind, PassResult
from sizer.recommend.quality import DOUBTS, MISTOLD
from sizer.records.configuration import Bottleneck
from sizer.records.kinds import COMMAND
from sizer.records.log_patterns import KNOWN_LOGS
from sizer.records.own_programs import placeholders_in
from sizer.records.plain_text import printable, typed_path
from sizer.records.run import (
    Evidence,
    EvidenceKind,
    LimitedBy,
    LimitedByKind,
    Meter,
    MeterKind,
    Run,
    RunWarning,
    WarningKind,
)
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import RunSpec
from sizer.records.units import format_bytes, format_number, format_seconds
from sizer.words.batch_sizes import largest_in_words
from sizer.words.failures import failure_line
from sizer.words.figures import around
from sizer.words.floors import floor_in_words
from sizer.words.language import _, _n
from sizer.words.names import accelerators_name, bound_in_words, disk_in_words, outcome_in_words, row
from sizer.words.storage import rates_in_words
from sizer.words.units import percent, rate_in_words, vcpus_in_words
from sizer.words.warnings import warning_line, warning_name, warning_names

LONGEST_CAUSE = 160
"""Characters of a failed program's last line that are shown; its log has the rest. What sizer says is never cut."""


def evidence_in_words(evidence: Evidence) -> str:
    """What the bottleneck was named by: `the disk's IOPS 97 % busy`."""
    figures = evidence.figures
    shares = row(_busy_resource(name, share) for name, share in figures.items()) or _("no accounting")
    if evidence.kind is EvidenceKind.SERIAL:
        cores, vcpus = f"{figures['cores']:.2f}", f"{figures['vcpus']:g}"
        return _("{cores} of {vcpus} vCPU busy, and nothing else is", cores=cores, vcpus=vcpus)
    if evidence.kind is EvidenceKind.IMPORTED:
        return _("given by {table}, not accounted by sizer", table=evidence.text)
    if evidence.kind is EvidenceKind.OTHER:
        return evidence.text or ""
    return {
        EvidenceKind.BUSIEST: _("{shares} busy", shares=shares),
        EvidenceKind.REREADS: _("{shares} busy reading what the page cache could not keep", shares=shares),
        EvidenceKind.SEVERAL: _("several are busy: {shares}", shares=shares),
        EvidenceKind.NONE_FULL: _("nothing is fully busy: {shares}", shares=shares),
    }[evidence.kind]


def in_so_many_runs(said: str, count: int, runs: int) -> str:
    """What some repeats show and others do not: `in 1 of 2 runs the vCPUs 97 % busy`."""
    return _("in {count} of {runs} runs {said}", count=count, runs=runs, said=said)


def _busy_resource(name: str, share: float) -> str:
    """`the vCPUs 97 %`."""
    resource = {
        Bottleneck.CPU.value: _("the vCPUs"),
        Bottleneck.SERIAL.value: _("one core"),
        Bottleneck.DISK_BANDWIDTH.value: _("the disk's read bandwidth"),
        Bottleneck.DISK_IOPS.value: _("the disk's IOPS"),
        Bottleneck.DISK_WRITE.value: _("the disk's writes"),
        Bottleneck.ACCELERATOR.value: _("the accelerator"),
    }.get(name, name)
    return _("{resource} {share}", resource=resource, share=percent(share))


def isolating_in_words(stage: str) -> str:
    """That a run isolates this stage."""
    return {
        "step": _("isolating the step"),
        "pipeline": _("isolating the input pipeline"),
        "disk": _("isolating the disk"),
        "cache": _("isolating the page cache"),
    }[stage]


def remark_in_words(spec: RunSpec) -> str:
    """`isolating the disk`, `search for the memory floor`; '' of a run of the workload as asked for."""
    if spec.purpose is Purpose.FLOOR_SEARCH:
        return _("search for the memory floor")
    if spec.purpose is Purpose.BATCH_SEARCH:
        return _("search for the largest batch")
    return isolating_in_words(spec.stage) if spec.stage is not None else ""


def stage_shown(stage: str) -> str:
    """What a run that isolates this stage shows."""
    return {
        "step": _("the step alone: nothing is read or decoded"),
        "pipeline": _("the input pipeline without the disk: the data is in memory"),
        "disk": _("the disk alone: the data is read as the loader reads it, and not used"),
        "cache": _("what the page cache serves where memory holds half of the data"),
    }[stage]


def stage_learnt(stage: str) -> str:
    """What the model learns from such a run."""
    return {
        "step": _("how fast the step can be, and what a batch costs beside its samples"),
        "pipeline": _("how the input scales with vCPUs"),
        "disk": _("what this disk gives for this way of reading"),
        "cache": _("how many reads of a later epoch memory saves"),
    }[stage]


def stages_in_words(stage: str) -> str:
    """A line of a dry run: what its runs that isolate a stage are for."""
    return {
        "step": _("runs isolating the step show the step alone: nothing is read or decoded"),
        "pipeline": _(
            "runs isolating the input pipeline show the input pipeline without the disk: the data is in memory"
        ),
        "disk": _("runs isolating the disk show the disk alone: the data is read as the loader reads it, and not used"),
        "cache": _("runs isolating the page cache show what the page cache serves where memory holds half of the data"),
    }[stage]


def following_in_words(following: Following, runs: Sequence[Run]) -> str:
    """What a search found, or a two-epoch pass showed, or why it did not."""
    name = following.base.workload.name
    if isinstance(following, Search):
        return _("`{workload}`: {floor}", workload=name, floor=floor_in_words(following.found(runs)))
    if isinstance(following, BatchSearch):
        return _("`{workload}`: {largest}", workload=name, largest=largest_in_words(following.found(runs)))
    return _pass_in_words(following.result(runs), name)


def _pass_in_words(result: PassResult, workload: str) -> str:
    if result.obstacle is not None:
        return _(
            "two epochs of `{workload}` with half of its data in memory were not measured: {why}",
            workload=workload,
            why=_obstacle(result.obstacle),
        )
    if result.outcome is None:
        return _(
            "two epochs of `{workload}` with half of its data in memory: not needed, another run shows the same",
            workload=workload,
        )
    ended = outcome_in_words(result.outcome)
    if result.hit_rate is None:
        return _("two epochs of `{workload}` with half of its data in memory: {ended}", workload=workload, ended=ended)
    return _(
        "two epochs of `{workload}` with half of its data in memory: {ended}, {share} of its reads were served from "
        "memory",
        workload=workload,
        ended=ended,
        share=percent(result.hit_rate),
    )


def _obstacle(obstacle: Obstacle) -> str:
    figure = obstacle.figure
    return {
        ObstacleKind.MEMORY_UNKNOWN: _("no run shows how much memory it needs"),
        ObstacleKind.SMALL_DATA: _("its data set of {size} is too small", size=format_bytes(figure)),
        ObstacleKind.SMALL_HOST: _("this host has too little memory for half of {size}", size=format_bytes(figure)),
        ObstacleKind.LONG: _("they would take {time}", time=format_seconds(figure)),
        ObstacleKind.NOT_MADE: _("the run was not made"),
    }[obstacle.kind]


def spread_in_words(spread: Spread) -> str:
    """`the reference configuration was measured 4 times: 655 to 742 images/s, a spread of 13.3 %`."""
    return _n(
        "the reference configuration was measured {count} time: {low} to {high}, a spread of {spread}",
        "the reference configuration was measured {count} times: {low} to {high}, a spread of {spread}",
        spread.count,
        low=rate_in_words(spread.low, spread.unit),
        high=rate_in_words(spread.high, spread.unit),
        spread=percent(spread.share, 1),
    )


def host_lines(drift: Spread | None, beside_others: int, runs: int) -> list[str]:
    """How far the host drifted, beside how many of the completed runs of the study something else used its CPUs, and
    what measures better; nothing of a host that was quiet."""
    found = [] if drift is None else [_("The host drifted: {spread}.", spread=spread_in_words(drift))]
    if beside_others:
        told = _n(
            "Something else used CPUs of the host beside {count} of {runs} runs of the study.",
            "Something else used CPUs of the host beside {count} of {runs} runs of the study.",
            beside_others,
            runs=runs,
        )
        found.append(told)
    return [*found, _("A quiet host, or more repeats of each configuration, measures better.")] if found else []


def run_in_words(spec: RunSpec, emulated: Collection[str] = ()) -> str:
    """`train 2 vCPUs, 8 GiB, disk nvme, batch 32`, with only what is limited; `emulated` names such disks.

    Of a command whose batch size nobody has told, none is named.
    """
    limits = spec.limits
    parts = [vcpus_in_words(limits.vcpus)] if limits.vcpus is not None else []
    parts += [format_bytes(limits.memory_bytes)] if limits.memory_bytes is not None else []
    parts += [disk_in_words(limits.disk, limits.disk in emulated)] if limits.disk is not None else []
    parts = parts or [_("no limits")]
    parts += [_("batch {size}", size=spec.batch_size)] if _has_batch(spec) else []
    parts += [accelerators_name(None, spec.gpu_count, spec.workload.device)] if spec.gpu_count else []
    parts += [isolating_in_words(spec.stage)] if spec.stage is not None else []
    return _("{workload} {configuration}", workload=spec.workload.name, configuration=row(parts))


def _has_batch(spec: RunSpec) -> bool:
    return (
        spec.workload.kind != COMMAND or spec.batch_size > 1 or "batch_size" in placeholders_in(spec.workload.run_words)
    )


def imported_run_in_words(run: Run) -> str:
    """The same of a run that was measured elsewhere, with its accelerators, and without what its table does not say."""
    limits, had = run.spec.limits, run.configuration
    parts = [vcpus_in_words(limits.vcpus)] if limits.vcpus is not None else []
    parts += [accelerators_name(had.gpu, had.gpu_count)] if had.gpu or had.gpu_count else []
    parts += [format_bytes(limits.memory_bytes)] if limits.memory_bytes is not None else []
    parts += [disk_in_words(limits.disk, _is_emulated(run))] if limits.disk is not None else []
    parts += [_("batch {size}", size=had.batch_size)] if had.batch_size is not None else []
    if not parts:
        return run.spec.workload.name
    return _("{workload} {configuration}", workload=run.spec.workload.name, configuration=row(parts))


def _is_emulated(run: Run) -> bool:
    return run.disk is not None and run.disk.tier.emulated is not None


FRAMEWORKS = {"torch": "PyTorch", "mxnet": "MXNet"}
"""What the hook calls a framework, and how it is written."""


def meter_in_words(meter: Meter) -> str:
    """What counted a run's steps, where they were not told by its own events: `by its log (tqdm)`."""
    if meter.kind is MeterKind.HOOK:
        return _("by the hook in {framework}", framework=FRAMEWORKS.get(meter.source or "", meter.source))
    if meter.source in KNOWN_LOGS:
        return _("by its log ({format})", format=meter.source)
    return _("by its log, with the study's pattern")


def result_in_words(run: Run, log: Path | None = None) -> str:
    """The outcome of a run and, if it has one, its rate; `log` is named where a cause is too long to be shown."""
    if run.outcome is not Outcome.COMPLETED or run.throughput is None:
        return _("{outcome} ({cause})", outcome=outcome_in_words(run.outcome), cause=_cause(run, log))
    rate = rate_in_words(run.throughput.value, printable(run.sample_unit))
    kinds = {warning.kind for warning in run.warnings}
    if WarningKind.ONE_READING in kinds:
        rate = _("{rate} (one reading)", rate=rate)
    elif kinds.isdisjoint(MISTOLD) and run.throughput.has_interval:
        rate = _("{rate} {interval}", rate=rate, interval=around(run.throughput))
    bound = [bound_in_words(run.evidence.bottleneck, run.spec.workload.computes_on)] if run.evidence else []
    counted = [_counted(run.meter)] if run.meter is not None and _found_by_itself(run.meter) else []
    return row([rate, *bound, *counted])


def _found_by_itself(meter: Meter) -> bool:
    """Whether it is a hook or a known format of a log, which nobody has said."""
    return meter.kind is MeterKind.HOOK or meter.source in KNOWN_LOGS


def _counted(meter: Meter) -> str:
    return _("counted {meter}", meter=meter_in_words(meter))


def result_and_warnings(run: Run, log: Path | None = None) -> str:
    """The same with the name of each warning: `219 images/s ±1.9 %, bound by the CPU (contended, short)`."""
    result, names = result_in_words(run, log), warning_names(run)
    return _("{result} ({warnings})", result=result, warnings=row(names)) if names else result


def result_and_doubts(run: Run, log: Path | None = None) -> str:
    """The same with what makes the rate doubtful alone, and in full where it is known to be wrong."""
    doubts = [warning for warning in run.warnings if warning.kind in (*DOUBTS, *MISTOLD)]
    doubts.sort(key=lambda warning: warning.kind in MISTOLD)  # names before sentences
    said = [_doubt(warning, run.sample_unit) for warning in doubts if warning.kind is not WarningKind.ONE_READING]
    result, said = result_in_words(run, log), list(dict.fromkeys(said))
    return _("{result} ({warnings})", result=result, warnings=row(said)) if said else result


def _doubt(warning: RunWarning, unit: str) -> str:
    return warning_line(warning, unit) if warning.kind in MISTOLD else warning_name(warning.kind)


def status_line(run: Run, label: str, times: int, result: str) -> str:
    """A stored run, or so many alike, in the list of status."""
    known = {"id": run.id, "run": label, "times": times, "result": result}
    return _("{id}  {run} ×{times}: {result}", **known) if times > 1 else _("{id}  {run}: {result}", **known)


def ended_line(run: str, result: str) -> str:
    """A run that has just ended."""
    return _("  {run}: {result}", run=run, result=result)


def _cause(run: Run, log: Path | None) -> str:
    """What happened and, if the log says more, its last line."""
    cause, whole = (printable(failure_line(run, longest)) for longest in (LONGEST_CAUSE, None))
    if cause == whole or log is None:
        return cause
    return _("{cause}; log: {path}", cause=cause, path=typed_path(log))


def limits_in_words(limited: LimitedBy) -> str:
    """`cgroup v1: cpuset 0-1 (1 core, 1 with both hyperthreads), memory 8 GiB without swap, disk not limited`."""
    if limited.kind is LimitedByKind.IMPORTED:
        return _("given by {table}, not set by sizer", table=limited.text)
    if limited.kind is LimitedByKind.OTHER:
        return limited.text or ""
    if limited.user is not None:
        return _("{limits}, {rights}", limits=limits_in_words(replace(limited, user=None)), rights=_rights(limited))
    return _(
        "{backend}: {cpus}, {memory}, {disk}",
        backend=limited.backend,
        cpus=_limited_cpus(limited),
        memory=_("memory not limited")
        if limited.memory_bytes is None
        else _("memory {size} without swap", size=format_bytes(limited.memory_bytes)),
        disk=_limited_disk(limited),
    )


def _rights(limited: LimitedBy) -> str:
    return _(
        "run as {user}, {processes}, {mounts}",
        user=limited.user,
        processes=_("processes not limited")
        if limited.processes is None
        else _("{count} processes", count=format_number(limited.processes)),
        mounts=_("mounts of its own") if limited.own_mounts else _("mounts of the host"),
    )


AFFINITY = "affinity"
"""The backend that has no other way, so that its name says it."""


def _limited_cpus(limited: LimitedBy) -> str:
    if limited.cpus is None:
        return _("vCPUs not limited")
    known = {"cpus": _cpus(limited), "quota": f"{limited.quota_vcpus or 0:g}"}
    if limited.backend == AFFINITY:
        return _("CPUs {cpus}", **known)
    if limited.quota_vcpus is not None and limited.by_cpuset:
        return _("cpuset {cpus}, quota of {quota} vCPU", **known)
    if limited.quota_vcpus is not None:
        return _("affinity to CPUs {cpus}, quota of {quota} vCPU", **known)
    return _("cpuset {cpus}", **known) if limited.by_cpuset else _("affinity to CPUs {cpus}", **known)


def _cpus(limited: LimitedBy) -> str:
    """`0-1`, and with how many cores these are on a host with hyperthreads."""
    known = {"cpus": limited.cpus, "paired": limited.paired_cores}
    if limited.cores is None:
        return limited.cpus or ""
    if not limited.paired_cores:
        return _n("{cpus} ({count} core)", "{cpus} ({count} cores)", limited.cores, **known)
    return _n(
        "{cpus} ({count} core, {paired} with both hyperthreads)",
        "{cpus} ({count} cores, {paired} with both hyperthreads)",
        limited.cores,
        **known,
    )


def _limited_disk(limited: LimitedBy) -> str:
    if limited.rates is None:
        return _("disk not limited")
    rates = rates_in_words(limited.rates)
    if not rates:
        return _("disk {device} not limited", device=limited.device)
    return _("disk {device}: {rates}", device=limited.device, rates=rates)
