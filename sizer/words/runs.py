"""Sentences about runs: what was run, how it ended, what bound it, what its isolating runs and its searches are for.

What was emulated is never named without saying so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from sizer.plan.following import BatchSearch, Following, ObstacleKind, PassResult, Search
from sizer.plan.run_order import Spread
from sizer.recommend.case import CONTRADICTED, DOUBTS
from sizer.records.frameworks import LOG_FORMATS, placeholders_in
from sizer.records.kinds import COMMAND
from sizer.records.messages import printable
from sizer.records.prediction import Bottleneck, Spec
from sizer.records.run import Evidence, EvidenceKind, LimitedBy, LimitedByKind, Meter, MeterKind, Run, WarningKind
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import RunSpec
from sizer.words import names
from sizer.words.failures import failure_line
from sizer.words.language import N_, Sentence, Templates, _, _n, around, row
from sizer.words.names import Terms, outcome_in_words
from sizer.words.warnings import warning_line, warning_name, warning_names

LONGEST_CAUSE = 160
"""Characters of a failed program's last line that are shown; its log has the rest. What sizer says is never cut."""

# What bound a run.
_BUSY: Templates[str, str] = {
    Bottleneck.CPU.value: "the vCPUs",
    Bottleneck.SERIAL.value: "one core",
    Bottleneck.DISK_BANDWIDTH.value: "the disk's read bandwidth",
    Bottleneck.DISK_IOPS.value: "the disk's IOPS",
    Bottleneck.DISK_WRITE.value: "the disk's writes",
    Bottleneck.ACCELERATOR.value: "the accelerator",
}
_EVIDENCE: Templates[EvidenceKind, str] = {
    EvidenceKind.SERIAL: "{cores:.2f} of {vcpus:g} vCPU busy, and nothing else is full",
    EvidenceKind.IMPORTED: "given by {text}, not accounted by sizer",
    EvidenceKind.OTHER: "{text}",
    EvidenceKind.BUSIEST: "{shares} busy",
    EvidenceKind.REREADS: "{shares} busy reading what the page cache could not keep",
    EvidenceKind.SEVERAL: "several are busy: {shares}",
    EvidenceKind.NONE_FULL: "nothing is fully busy: {shares}",
}


def evidence_in_words(evidence: Evidence) -> str:
    """What the bottleneck was named by: `the disk's IOPS 97 % busy`."""
    shares = row(
        _("{resource} {share:share}", resource=_(_BUSY[name]) if name in _BUSY else name, share=share)
        for name, share in evidence.figures.items()
    )
    values = {"text": evidence.text or "", "shares": shares or _("no accounting")}
    return _(_EVIDENCE[evidence.kind], **(evidence.figures | values))


in_so_many_runs = Sentence("in {count} of {runs} runs {evidence}")
"""What some repeats show and others do not: `in 1 of 2 runs the vCPUs 97 % busy`."""


# Runs that isolate a stage.
STAGES: Templates[str, tuple[str, str, str, str]] = {
    "step": (
        "Step",
        "isolating the step",
        "the step alone: nothing is read or decoded",
        "how fast the step can be, and what a batch costs beside its samples",
    ),
    "pipeline": (
        "Input pipeline",
        "isolating the input pipeline",
        "the input pipeline without the disk: the data is in memory",
        "how the input scales with vCPUs",
    ),
    "disk": (
        "Disk",
        "isolating the disk",
        "the disk alone: the data is read as the loader reads it, and not used",
        "what this disk gives for this way of reading",
    ),
    "cache": (
        "Page cache",
        "isolating the page cache",
        "what the page cache serves where memory holds half of the data",
        "how many reads of a later epoch memory saves",
    ),
}
"""Of the stage that a run isolates: its title, that it does so, what that shows, and what the model learns from it."""


def stage_in_words(stage: str) -> tuple[str, str, str, str]:
    """The same in the reader's language."""
    title, isolating, shown, learnt = map(_, STAGES[stage])
    return title, isolating, shown, learnt


def stages_in_words(stage: str) -> str:
    """A line of a dry run: what its runs that isolate a stage are for."""
    _title, isolating, shown, _learnt = stage_in_words(stage)
    return _("runs {isolating} show {shown}", isolating=isolating, shown=shown)


def remark_in_words(spec: RunSpec) -> str:
    """`isolating the disk`, `search for the memory floor`; '' of a run of the workload as asked for."""
    if spec.purpose is Purpose.FLOOR_SEARCH:
        return _("search for the memory floor")
    if spec.purpose is Purpose.BATCH_SEARCH:
        return _("search for the largest batch")
    return stage_in_words(spec.stage)[1] if spec.stage is not None else ""


# Searches and passes, which follow from runs.


def following_in_words(following: Following, runs: Sequence[Run]) -> str:
    """What a search found, or a two-epoch pass showed, or why it did not."""
    name = following.base.workload.name
    if isinstance(following, Search):
        return f"`{name}`: {names.floor_in_words(following.result(runs))}"
    if isinstance(following, BatchSearch):
        return f"`{name}`: {names.largest_in_words(following.result(runs))}"
    return _pass_in_words(following.result(runs), name)


def _pass_in_words(result: PassResult, workload: str) -> str:
    obstacle, outcome = result.obstacle, result.outcome
    return _(
        "two epochs of `{workload}` with half of its data in memory[[ were not measured: "
        "{why}]][[unneeded?: not needed, another run shows the same]][[: {ended}]][[, {hits:share} of its "
        "reads were served from memory]]",
        workload=workload,
        why="" if obstacle is None else _(_OBSTACLES[obstacle], figure=result.figure),
        unneeded=obstacle is None and outcome is None,
        ended=outcome_in_words(outcome) if obstacle is None and outcome is not None else "",
        hits=result.hit_rate if obstacle is None and outcome is not None else None,
    )


_OBSTACLES: Templates[ObstacleKind, str] = {
    ObstacleKind.MEMORY_UNKNOWN: "no run shows how much memory it needs",
    ObstacleKind.SMALL_DATA: "its data set of {figure:bytes} is too small",
    ObstacleKind.SMALL_HOST: "this host has too little memory for half of {figure:bytes}",
    ObstacleKind.LONG: "they would take {figure:time}",
    ObstacleKind.NOT_MADE: "the run was not made",
}


_SPREAD = Sentence(
    "the reference configuration was measured {of.count:often}: {of.low:rate/of.unit} to "
    "{of.high:rate/of.unit}, a spread of {of.share:tenths}"
)


def spread_in_words(spread: Spread) -> str:
    """`the reference configuration was measured 4 times: 655 to 742 images/s, a spread of 13.3 %`."""
    return _SPREAD(of=spread)


def host_lines(drift: Spread | None, beside_others: int, runs: int) -> list[str]:
    """How far the host drifted, beside how many of the completed runs of the study something else used its CPUs, and
    what measures better; nothing of a host that was quiet."""
    lines = [
        "" if drift is None else _("The host drifted: {spread}.", spread=spread_in_words(drift)),
        _(
            "[[Something else used CPUs of the host beside {count} of {runs} runs of the study.]]",
            count=beside_others,
            runs=runs,
        ),
    ]
    better = _("A quiet host, or more repeats of each configuration, measures better.")
    return [*filter(None, lines), better] if any(lines) else []


# What was run.


def run_in_words(spec: RunSpec, emulated: Collection[str] = ()) -> str:
    """`train 2 vCPUs, 8 GiB, disk nvme, batch 32`, with only what is limited; `emulated` names such disks.

    Of a command whose batch size nobody has told, none is named.
    """
    limits, workload = spec.limits, spec.workload
    has_batch = workload.kind != COMMAND or spec.batch_size > 1 or "batch_size" in placeholders_in(workload.run_words)
    limited = Spec(limits.vcpus, limits.memory_bytes, limits.disk)
    device = workload.computes_on
    gpu = None if device.kind == "cpu" or (device.gpu is None and spec.gpu_count) else device.label
    had = Spec(None, batch_size=spec.batch_size if has_batch else None, gpu=gpu, gpu_count=spec.gpu_count or 0)
    terms = Terms(workload.name, device=workload.computes_on, emulated_disks=frozenset(emulated))
    parts = [
        *(names.spec_parts(limited, terms) or [_("no limits")]),
        *names.spec_parts(had, terms),
        stage_in_words(spec.stage)[1] if spec.stage is not None else "",
    ]
    return f"{workload.name} {row(parts)}"


def imported_run_in_words(run: Run) -> str:
    """The same of a run that was measured elsewhere, with its accelerators, and without what its table does not say."""
    limits, had, disk = run.spec.limits, run.configuration, run.disk
    emulated = {limits.disk or ""} if disk is not None and disk.tier.emulated is not None else set()
    spec = replace(names.spec_of(had), vcpus=limits.vcpus, memory_bytes=limits.memory_bytes, disk=limits.disk)
    name = run.spec.workload.name
    return f"{name} {names.spec_name(spec, Terms(name, emulated_disks=frozenset(emulated)))}".strip()


# How it ended.
FRAMEWORKS = {"torch": "PyTorch", "mxnet": "MXNet"}
"""What the hook calls a framework, and how it is written."""


def meter_in_words(meter: Meter) -> str:
    """What counted a run's steps, where they were not told by its own events: `by its log (tqdm)`."""
    if meter.kind is MeterKind.HOOK:
        return _("by the hook in {framework}", framework=FRAMEWORKS.get(meter.source or "", meter.source))
    form = meter.source if meter.source in LOG_FORMATS else None
    return _("by its log[[ ({format})]][[!format?, with the study's pattern]]", format=form)


def result_in_words(run: Run, log: Path | None = None) -> str:
    """The outcome of a run and, if it has one, its rate; `log` is named where a cause is too long to be shown."""
    if run.outcome is not Outcome.COMPLETED or run.throughput is None:
        return _("{outcome} ({cause})", outcome=outcome_in_words(run.outcome), cause=_cause(run, log))
    kinds = {warning.kind for warning in run.warnings}
    one = WarningKind.ONE_READING in kinds
    # A hook, or a known format of a log, was found by itself: nobody has said so.
    meter = run.meter if run.meter and (run.meter.kind is MeterKind.HOOK or run.meter.source in LOG_FORMATS) else None
    shows_interval = not one and kinds.isdisjoint(CONTRADICTED) and run.throughput.has_interval
    return _(
        "{rate:rate/unit}[[one? (one reading)]][[ {interval}]][[, {bound}]][[, counted {meter}]]",
        rate=run.throughput.value,
        unit=printable(run.sample_unit),
        one=one,
        interval=around(run.throughput) if shows_interval else "",
        bound=names.bound_in_words(run.evidence.bottleneck, run.spec.workload.computes_on) if run.evidence else "",
        meter=meter_in_words(meter) if meter is not None else "",
    )


def result_and_warnings(run: Run, log: Path | None = None) -> str:
    """The same with the name of each warning: `219 images/s ±1.9 %, bound by the CPU (contended, short)`."""
    return _("{result}[[ ({warnings})]]", result=result_in_words(run, log), warnings=row(warning_names(run)))


def result_and_doubts(run: Run, log: Path | None = None) -> str:
    """The same with what makes the rate doubtful alone, and in full where it is known to be wrong."""
    doubtful = [warning for warning in run.warnings if warning.kind in DOUBTS]
    wrong = [warning for warning in run.warnings if warning.kind in CONTRADICTED]
    texts = [warning_name(warning.kind) for warning in doubtful if warning.kind is not WarningKind.ONE_READING]
    texts += [warning_line(warning, run.sample_unit) for warning in wrong]
    return _("{result}[[ ({warnings})]]", result=result_in_words(run, log), warnings=row(dict.fromkeys(texts)))


def _cause(run: Run, log: Path | None) -> str:
    """What happened and, if the log says more, its last line."""
    cause, whole = (printable(failure_line(run, longest)) for longest in (LONGEST_CAUSE, None))
    return _("{cause}[[; log: {path:path}]]", cause=cause, path=log if cause != whole else None)


# What it was limited by.


def limits_in_words(limited: LimitedBy) -> str:
    """`cgroup v1: cpuset 0-1 (1 core, 1 with both hyperthreads), memory 8 GiB without swap, disk not limited`."""
    if limited.kind is LimitedByKind.IMPORTED:
        return _("given by {table}, not set by sizer", table=limited.text)
    if limited.kind is LimitedByKind.OTHER:
        return limited.text or ""
    if limited.user is not None:
        return row([limits_in_words(replace(limited, user=None)), _(_RIGHTS, **vars(limited))])
    return _(
        "{backend}: {cpus}, [[memory {memory_bytes:bytes} without swap]][[!memory_bytes?memory not "
        "limited]], disk [[{at} ]][[{given}]][[!given?not limited]]",
        **(vars(limited) | {"cpus": _limited_cpus(limited)}),
        at=limited.device if limited.rates is not None else None,
        given=names.rates_in_words(limited.rates) if limited.rates is not None else "",
    )


_RIGHTS = N_(
    "run as {user}, [[{processes:number} processes]][[!processes?processes not limited]], mounts of "
    "[[own_mounts?its own]][[!own_mounts?the host]]"
)
AFFINITY = "affinity"
"""The backend that has no other way, so that its name says it."""


def _limited_cpus(limited: LimitedBy) -> str:
    if limited.cpus is None:
        return _("vCPUs not limited")
    if limited.backend == AFFINITY:
        return _("CPUs {cpus}", cpus=_cpus(limited))
    return _(
        "[[cpuset?cpuset]][[!cpuset?affinity to CPUs]] {cpus}[[, quota of {quota:g} vCPU]]",
        cpuset=limited.by_cpuset,
        cpus=_cpus(limited),
        quota=limited.quota_vcpus,
    )


def _cpus(limited: LimitedBy) -> str:
    """`0-1`, and with how many cores these are on a host with hyperthreads."""
    if limited.cores is None:
        return limited.cpus or ""
    return _n(
        "{cpus} ({count} core[[, {paired} with both hyperthreads]])",
        "{cpus} ({count} cores[[, {paired} with both hyperthreads]])",
        limited.cores,
        cpus=limited.cpus,
        paired=limited.paired_cores,
    )
