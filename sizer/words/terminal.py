"""What the terminal says: events, interrupts and doubts while sizer works; this host, its disks and the catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any

from sizer.catalog.machines import RETIRED, SOLD, DiskTier, InstanceType
from sizer.files.codec import FormatError, from_json
from sizer.files.own_folder import user_name
from sizer.host.findings import BusyBy, Check, Finding, FindingKind
from sizer.host.lock import MeasuringProcess
from sizer.host.stored_host import Virtualization
from sizer.limits.topology import CpuCounts
from sizer.records.answer import Doubt, DoubtKind, InstanceOffer
from sizer.records.device import HostSpeed
from sizer.records.prediction import ReasonCode
from sizer.records.run import DiskCheck, Failure
from sizer.records.units import MB, format_bytes, format_price
from sizer.storage.announcements import Announcement, AnnouncementKind, Leftover, LeftoverKind
from sizer.storage.disk_check import deviations
from sizer.words.failures import last_line, not_made_ready
from sizer.words.language import (
    N_,
    QUANTITIES,
    Sentence,
    Templates,
    _,
    _n,
    amount,
    capital,
    clauses,
    in_words,
    row,
    vcpus_in_words,
)
from sizer.words.names import day_of_price, price_an_hour

if TYPE_CHECKING:  # what looks at a machine brings NVML, psutil and the metadata of packages
    from sizer.host.machine import Host

warning_said = Sentence("warning: {sentence}")
nothing_fits = Sentence("no instance type fits")
nothing_changed = Sentence("nothing changed")
note_said = Sentence("note: {sentence}")
problem_said = Sentence("left out: {problem:plain}")

_K = DoubtKind
_WILL_NOT_RUN = N_("will not run: {problem}")
_DOUBTS: Templates[DoubtKind, str] = {
    _K.USER: _WILL_NOT_RUN,
    _K.INTERPRETER: _WILL_NOT_RUN,
    _K.FRAMEWORK: "will not run: sizer has no program on {what}; measure your own with `kind: command`, "
    "which reads its log",
    _K.GPU: "this host has no GPU {what}; use cpu or an emulated one",
    _K.NO_DRIVER: "this host has no GPU {what}, since NVIDIA's driver is not installed or does not "
    "answer; type `nvidia-smi` to see why, or use cpu or an emulated one",
    _K.NO_NVML: "NVML is not here, so nothing will be known of its GPU's use, memory, power and clocks; "
    "a container has it with NVIDIA_DRIVER_CAPABILITIES=compute,utility",
    _K.HIDDEN_GPU: "CUDA_VISIBLE_DEVICES={where} leaves it no GPU {what}; change or unset it, or use "
    "cpu or an emulated one",
    _K.UNSEEN_GPU: "its framework does not see the GPU {what}, which the driver has; install a build of "
    "it for GPUs into {where} (docs/accelerators.md), or use cpu or an emulated one",
    _K.PROGRAM: "the program {what} was not found; give its path",
    _K.SETUP: "{what}, the program of its `setup`, was not found; give its path",
    _K.BEFORE: "{what}, the program of its `before`, was not found; give its path",
    _K.NO_FOLDER: "its command starts in an empty temporary folder, where {what} is not; give `cwd: {where}`",
    _K.NOT_PASSED: "{what} of its `pass_env` is not set here; set it, or leave it out",
}


def doubt_in_words(doubt: Doubt) -> str:
    """Why the runs of a workload may fail although every limit can be set."""
    why = _(_DOUBTS[doubt.kind], **vars(doubt))
    return _(
        "workload[[several?s]] {doubt.workloads:coded}: {why}", doubt=doubt, why=why, several=len(doubt.workloads) > 1
    )


# Before and after runs.
report_written = Sentence("report: {path}")
interrupted = Sentence("interrupted; continue with: sizer resume {folder:path}")
runs_failed = Sentence(
    "some runs failed; after fixing the cause, measure them again with: sizer resume {folder:path} --retry"
)


def setup_failed(workload: str, failure: Failure) -> str:
    """Why the runs of a workload are refused, with the last words of its `setup`."""
    why, line = not_made_ready(failure.cause), last_line(failure.last_lines)
    return _("  workload `{workload}`: {why}[[; its last words: {line}]]", workload=workload, why=why, line=line)


def waiting_for_run(seconds: float | None) -> str:
    """After the first Ctrl-C: a run goes on for so many seconds, 0 or less where it takes longer than expected; None
    between two runs."""
    return _(
        "finishing the current [[run?run]][[!run?step]][[ (about {time:time})]][[longer? (longer than "
        "expected)]]; Ctrl-C again stops it now",
        run=seconds is not None,
        time=max(seconds or 0.0, 0.0),
        longer=seconds is not None and seconds <= 0,
    )


# A table that is imported.
unknown_columns = Sentence("warning: {table}: sizer does not use {columns}; kept in each run and by export")
unknown_columns_ignored = Sentence("warning: {table}: unknown and ignored: {columns}")
table_imported = Sentence("{runs:runs} of {workloads:workloads} imported into {folder}")
_STEPS: Templates[str, str] = {
    "reading": "reading the table, {time:time} so far",
    "storing": "storing the runs, about {share:share} done, {time:time} so far",
    "fitting": "fitting `{workload}`, {number} of {of} workloads, about {share:share} done, {time:time} so far",
    "recommending": "choosing machines, about {share:share} done, {time:time} so far",
    "reporting": "writing the report, about {share:share} done, {time:time} so far",
}


def step_in_words(stage: str, share: float, seconds: float, workload: str, number: int, of: int) -> str:
    """How far an import is: what it does, about how much is done, and since when."""
    message = _STEPS.get(stage, _STEPS["reporting"])
    return _(message, share=share, time=round(seconds), workload=workload, number=number, of=of)


# A run that goes on.
progress_begun = Sentence("[{number}/{total}] {run}, {time:time} left")
progress_chosen = Sentence("[{number}, {total} at most] {run}")
no_step_yet = Sentence(
    "  no step seen after {time:time}; it is given up after {end:time} if none comes, or earlier if it does nothing"
)
reading_yet = Sentence(
    "  after {time:time} it still reads its data into memory, {read:bytes} of {whole:bytes}; it is "
    "given up after {end:time} if no step comes"
)
reading_now = Sentence("reading {read:bytes} of {whole:bytes}")
progress_line = Sentence(
    "[{bar}] {finished}/{total}, {time:time} left | [[{rate}]][[!rate?warming up]] | {run} | "
    "{used[0]:.2f} cores | {used[1]:transfer} read, {used[2]:transfer} written"
)
"""`rate` is None before it is known, `used` are the cores and the bytes read and written a second."""
reference_again = Sentence("{run}, the reference again")
ended_line = Sentence("  {run}: {result}")

# The runs of a study, as `sizer status` lists them.
status_line = Sentence("{id}  {run}[[several? ×{times}]]: {result}")
being_measured = Sentence("{run}: being measured now")
to_be_run = Sentence("{run}: not run yet")
being_measured_again = Sentence("{result}; being measured again now")
to_be_run_again = Sentence("{result}; will be run again")
study_summary = Sentence(
    "{finished} of {planned} runs finished[[, and {followed} of searches]][[ ({outcomes})]]; "
    "[[{warned}]][[!warned?none]] with a warning[[; {older} stored of an older form of the study]][[; "
    "{left} to go, about {seconds:time}]][[held?; being measured now]]"
)
"""The last line of status; `followed` are the runs of searches and passes, which nobody plans."""

# This host, as doctor says it, and what stands in the catalogue.
looking_at_host = Sentence("checking this host, which takes a few seconds")


def host_line(host: Host) -> str:
    """This machine in a line."""
    return _(
        "{host.cpu_model}, {topology}, {host.memory_bytes:bytes}; {host.distribution}, {host.kernel}",
        host=host,
        topology=topology_in_words(host.topology),
    )


def topology_in_words(counts: CpuCounts) -> str:
    """`2 sockets, 2 NUMA nodes, 4 cores, 8 CPUs with hyperthreads`."""
    return _(
        "{sockets}, {nodes}, {cores}, {cpus} [[threads?with]][[!threads?without]] hyperthreads",
        sockets=_n("{count} socket", "{count} sockets", counts.sockets),
        nodes=_n("{count} NUMA node", "{count} NUMA nodes", counts.nodes),
        cores=_n("{count} core", "{count} cores", counts.cores),
        cpus=_n("{count} CPU", "{count} CPUs", counts.cpus),
        threads=counts.cpus > counts.cores,
    )


def virtualization_in_words(virtualization: Virtualization) -> str:
    """`container in a virtual machine (KVM)`."""
    if virtualization.hypervisor is None:
        return _("container") if virtualization.container else _("no virtual machine")
    return _("[[container?container in a ]]virtual machine ({hypervisor})", **vars(virtualization))


def speed_in_words(speed: HostSpeed) -> str:
    """`index 0.89 (0.81 to 0.93; AWS c6i = 1)`; empty where no probe came to its end."""
    if not speed.probes or not speed.processor.rates:
        return ""
    index, (low, high) = speed.processor.index, speed.interval
    return _("index {index:.2f} ({low:.2f} to {high:.2f}; AWS c6i = 1)", index=index, low=low, high=high)


def _gpu_in_words(gpu: Mapping[str, Any]) -> str:
    """`NVIDIA H200, 140 GiB`, of one in host.json."""
    memory = gpu.get("memory_bytes")
    return row([str(gpu.get("name")), *([amount(memory)] if memory else [])])


def host_label(key: str) -> str:
    """What a key of host.json is called; one that only a later version knows, as it is spelt."""
    key = key.removesuffix("_bytes")
    labels = {
        "cpu_model": _("CPU"),
        "cpus": _("CPUs usable"),
        "topology": _("Topology"),
        "hyperthreads": _("Hyperthreads"),
        "memory": _("Memory"),
        "swap": _("Swap"),
        "kernel": _("Kernel"),
        "distribution": _("Distribution"),
        "virtualization": _("Virtualization"),
        "limits": _("Limits by"),
        "gpus": _("GPUs"),
        "speed": _("Speed of the CPU"),
        "fio": "fio",
        "sizer": "sizer",
        "packages": _("Packages"),
        "imported": _("Imported"),
        "runs": _("Runs"),
    }
    return labels.get(key, capital(key.replace("_", " ")))


def host_fact(key: str, value: Any) -> str:
    """What host.json says of it."""
    with suppress(FormatError):
        if key == "topology" and isinstance(value, Mapping):
            return topology_in_words(from_json(CpuCounts, value, key))
        if key == "virtualization" and isinstance(value, Mapping):
            return virtualization_in_words(from_json(Virtualization, value, key))
        if key == "speed" and isinstance(value, Mapping):
            return speed_in_words(from_json(HostSpeed, value, key))
        if key == "gpus" and isinstance(value, list):
            return row(_gpu_in_words(gpu) for gpu in value)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if key.endswith("_bytes") and isinstance(value, (int, float)):
        return amount(value)
    if isinstance(value, Mapping):
        return row(f"{str(name).replace('_', ' ')} {host_fact(str(name), item)}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return clauses(host_fact(key, item) for item in value)
    return str(value)


def check_lines(check: Check) -> list[str]:
    """What doctor found, and the command that helps."""
    first = _(
        "[[check.ok?ok  ]][[!check.ok?NO  ]]{check.name}: {found}", check=check, found=finding_in_words(check.finding)
    )
    see = check.name == "load"
    fix = _("[[see?      to see which]][[!see?      to fix it]][[, type: {check.fix}]]", check=check, see=see)
    return [first, fix] if check.fix and not check.ok else [first]


_F = FindingKind
_FINDINGS: Templates[FindingKind, str] = {
    **dict.fromkeys((_F.CONTROL, _F.VERSION, _F.OTHER), "{text}"),
    _F.CPUS: "{count} of this host's {whole} can be used",
    _F.NO_SWAP: "none",
    _F.SWAP_KEPT: "{bytes:bytes}, which runs are kept out of",
    _F.SWAP_USED: "{bytes:bytes}, which runs may use",
    _F.PRESSURE: "what runs wait for is accounted",
    _F.NO_PRESSURE: "not accounted for runs of this user here",
    _F.FRAMEWORK: "{text} in {path}; sees [[{gpus:and}]][[!gpus?no GPU]]",
    _F.PACKAGE: "{text} in {path}",
    _F.NOT_INSTALLED: "not installed[[ in {path}]]",
    _F.MISSING: "{path} is missing",
    _F.ROOT_ONLY: "for root alone",
    _F.PRESENT: "{path}",
    _F.NO_IMPORT: "cannot be imported in {path}: {text}",
    _F.SPEED: "speed index {index:.2f} ({low:.2f} to {high:.2f}; AWS c6i = 1)[[; by its name it would "
    "be {by_name:times_over}]]; each of {count} busy vCPUs does {per_vcpu:share} of one alone",
    _F.SPEED_UNKNOWN: "not probed, as a sizer measures on this host now",
    _F.QUIET: "nothing else uses this host",
    _F.BUSY: "{busy}",
}


def finding_in_words(finding: Finding) -> str:
    """What a check found."""
    busy = busy_host_in_words(finding.load) if finding.kind is FindingKind.BUSY else ""
    return _(_FINDINGS[finding.kind], **vars(finding), busy=busy)


def busy_host_in_words(busy: BusyBy) -> str:
    """That this host is busy, by what, and what becomes of it."""
    programs = row(f"{name} {cores:.2f}" for name, cores in busy.programs)
    reasons = (
        _("[[other programs use {busy.other_cores:.2f} cores]][[ ({programs})]]", busy=busy, programs=programs),
        _("[[the hypervisor gives {busy.stolen_cores:.2f} cores to others]]", busy=busy),
    )
    return _(
        "this host is busy: {what:and}; runs that it disturbs are marked `contended` or `stolen`, and a "
        "quiet host measures better",
        what=[*filter(None, reasons)],
    )


def measured_beside(other: MeasuringProcess) -> str:
    """That another user's sizer measures, too, and what becomes of it."""
    return _(
        "a sizer of {user} measures on this host, too[[ (process {other.pid}: {command})]], and this one "
        "does not wait for it; runs that it disturbs are marked `contended`",
        user=_("another user") if other.user is None else in_words(user_name(other.user)),
        other=other,
        command=other.command or "?",
    )


study_file_written = Sentence("{path} written; edit it, then type: sizer run {path:path} --dry-run")
"""After init."""


def catalog_valid(path: str | None, entries: int) -> str:
    """A catalogue that validate accepts; None is the one that comes with sizer."""
    name = path or _("the bundled catalogue")
    return _n("{path}: {count} entry, valid", "{path}: {count} entries, all valid", entries, path=name)


def offer_line(offer: InstanceOffer, unit: str) -> str:
    """An instance type that fits a recommendation, with the rate there where that is another."""
    return _(
        "{offer.provider} {offer.instance_type}: [[{offer.throughput:rate/unit} there, ]]{price} "
        "([[{offer.region}, ]]{day}, {offer.source})",
        offer=offer,
        unit=unit,
        price=price_an_hour(offer.usd_per_hour, foreign=offer.foreign),
        day=day_of_price(offer.as_of, date.today()),
    )


def moved_rates_line(offers: Sequence[InstanceOffer]) -> str:
    """From where the rates of these were moved; empty where none was."""
    moved = next((note for offer in offers for note in offer.notes if note.code is ReasonCode.TRANSFERRED), None)
    return _(
        "[[The rates there are transferred from {machines:and}, by how fast one busy thread of each CPU is.]]",
        machines=() if moved is None else moved.texts("measured_on"),
    )


def instance_line(offer: InstanceType, today: date) -> str:
    """An instance type of the catalogue; of one that nobody can rent, since when, in the place of its price."""
    gpus = f"{offer.gpu_count or '?'} x {offer.gpu}" if offer.gpu else ""
    return _(
        "{offer.name}: {size}; [[older?previous generation; ]]{price} ([[{offer.region}, ]]{day}, {offer.source})",
        offer=offer,
        older=offer.status == SOLD[1] and offer.retired is None,
        size=row([vcpus_in_words(offer.vcpus), format_bytes(offer.memory_bytes) if offer.memory_bytes else "", gpus]),
        price=_instance_price(offer),
        day=offer.as_of if offer.as_of and offer.price_per_hour is None else day_of_price(offer.as_of, today),
    )


def change_line(before: InstanceType | DiskTier | None, after: InstanceType | DiskTier | None) -> str:
    """What became of an instance type or a disk tier between two catalogues."""
    entry = before or after
    return _(
        "{entry.name}[[ in {region}]]: [[{old}]][[!old?new]], now [[{new}]][[!new?gone]]",
        entry=entry,
        region=getattr(entry, "region", None),
        old=_state(before),
        new=_state(after),
    )


def _state(entry: InstanceType | DiskTier | None) -> str:
    if entry is None:
        return ""
    return _instance_price(entry, spot=True) if isinstance(entry, InstanceType) else _disk_figures(entry)


def _instance_price(offer: InstanceType, spot: bool = False) -> str:
    if offer.retired is not None:
        return _("retired {year}", year=offer.retired)
    if offer.status == RETIRED:
        return _("retired")
    if offer.status not in SOLD:
        return _("not listed any more")
    if offer.price_per_hour is None:
        return _("price unknown")
    prices = (offer.price_per_hour, offer.spot_per_hour if spot else None)
    price, of_spot = (None if one is None else format_price(one, offer.currency) for one in prices)
    return _("{price} an hour[[ ({spot} spot)]]", price=price, spot=of_spot)


def disk_offer_line(disk: DiskTier) -> str:
    """A disk tier of the catalogue."""
    return _("{disk.name}: {figures} ({disk.as_of}, {disk.source})", disk=disk, figures=_disk_figures(disk))


def _disk_figures(disk: DiskTier) -> str:
    return _(
        "{disk.disk_class}[[, up to {iops} IOPS]][[, up to {speed} MB/s]]; "
        "[[{disk.usd_per_gib_month:usd} per GiB and month]][[!disk.usd_per_gib_month?price unknown]][[, "
        "{confidence}]]",
        disk=disk,
        iops=None if disk.read_iops_max is None else f"{disk.read_iops_max:,.0f}",
        speed=None if disk.read_bytes_per_second_max is None else f"{disk.read_bytes_per_second_max / MB:,.0f}",
        confidence="" if disk.confidence == "documented" or disk.usd_per_gib_month is None else disk.confidence,
    )


published_rate_line = Sentence(
    "{rate.gpu} {rate.mode} {rate.network}: {rate.samples_per_second:g} samples/s "
    "({rate.precision}[[, batch {rate.batch_size}]]) ({rate.as_of}, {rate.source})"
)
"""A published rate of an accelerator."""


# Data and disks.
_A = AnnouncementKind
_ANNOUNCEMENTS: Templates[AnnouncementKind, str] = {
    _A.EMBEDDED_DATA: "making the embedded data set in {folder}",
    _A.PACKED_DATA: "packing {source} as {name} in {folder}",
    _A.INDEX: "making an index of {source} in {folder}",
    _A.DAMAGED_DATA: "the data set in {folder} is not as it was made ({why}), so it is made anew",
    _A.OTHER_SIZER: "waiting for another sizer that makes data in {folder}",
    _A.DATA_MADE: "  {bytes:volume}",
    _A.PROGRAM: "  {name}",
    _A.EMULATED_DISK: "making the emulated disk in {folder}",
    _A.COPY: "copying {bytes:volume} to disk `{name}`",
    _A.DATA_LACKING: "  workload `{name}`: its data cannot be prepared: {why}",
    _A.SETTING_UP: "setting up workload `{name}`",
    _A.DISK_CHECKING: "checking disk `{name}` with fio",
    _A.DISK_UNUSABLE: "  disk `{name}` cannot be used: {why}",
    _A.RUNS_TAKEN_BACK: "{count:runs} of this study, measured before, could not be stored then; moved "
    "from {source} into {folder}",
    _A.NOTHING_LEFT: "{count:runs} finished already; to measure again, choose another folder with --out",
    _A.STOOD_STILL: "  sizer itself stood still for {seconds:.1f} s (stopped, suspended, or without CPU "
    "time); the run is made again",
    _A.VARIABLES_WITHHELD: "note: {names:and} of this shell not passed on to the program; if it reads "
    "them: --pass-env {typed}",
    _A.DISKS_NOT_READ: "warning: the command reads nothing from {names:and}[[source?: write "
    "{placeholder} in it in the place of the path of its data]][[!source? but what it writes to "
    "TMPDIR: give --data PATH and write {placeholder} in the command where that path stands]], or "
    "{scratch} where it writes",
    _A.RUNS_LEFT: "{count} of {of:runs} not finished; the answer is based on the others",
    _A.NOT_CONCLUDED: "the answer could not be written: {why}",
    _A.NOT_SHOWN: "the page that is being served could not be written: {why}",
}
_L = LeftoverKind
_LEFTOVERS: Templates[LeftoverKind, str] = {
    _L.PROGRAMS: "programs",
    _L.GROUPS: "control groups",
    _L.EMULATED_DISKS: "emulated disks",
    _L.DISK_FOLDERS: "folders on disks",
    _L.TEMPORARY_FOLDERS: "temporary folders",
    _L.DATA_SETS: "unfinished data sets",
}


def announcement_in_words(announced: Announcement) -> str:
    """What takes a while, or went wrong."""
    placeholders = {"placeholder": "{data}", "scratch": "{scratch}"}
    return _(_ANNOUNCEMENTS[announced.kind], **vars(announced), **placeholders, typed=announced.typed)


def leftover_in_words(left: Leftover) -> str:
    """What a killed sizer left, and that it is gone, or why it cannot be removed."""
    return _(
        "[[removed {names:and}: {what} that a killed sizer left]][[!names?{what} that a killed sizer left "
        "cannot be removed: {why}]]",
        what=_(_LEFTOVERS[left.kind]),
        names=left.removed if left.error is None else (),
        why=left.error,
    )


checking_disk = Sentence("checking {name} with fio: {time:time}, plus the time to make its file")


def deviations_in_words(check: DiskCheck) -> str:
    """What a disk gives instead of what it declares; '' where it gives that."""
    parts = [
        _(
            "it [[reads?reads]][[!reads?writes]] {measured} where {declared} is declared",
            reads=name.startswith("read"),
            measured=disk_figure(name, measured),
            declared=disk_figure(name, declared),
        )
        for name, (measured, declared) in deviations(check).items()
    ]
    return _("[[{figures:and}; the measured figures are used]]", figures=parts)


def disk_deviates(check: DiskCheck) -> str:
    """A disk is not as fast as declared."""
    return _("  disk `{disk}`: {figures}", disk=check.tier.name, figures=deviations_in_words(check))


def disk_check_line(check: DiskCheck) -> str:
    """Whether a disk is as fast as declared."""
    return _(
        "{tier.name} [[tier.emulated?(emulated]][[!tier.emulated?(real]][[, {tier.size_bytes:bytes}]]): "
        "[[tier.emulated?{result}]][[!tier.emulated?measured]]",
        tier=check.tier,
        result=deviations_in_words(check) or _("as declared"),
    )


def disk_figure_line(name: str, measured: float | None, declared: float | None) -> str:
    """One measured figure of a disk, beside what its tier declares."""
    return _(
        "  [[reads?read]][[!reads?write]]: [[{measured}]][[!measured?not measured]][[, declared {declared}]]",
        reads=name.startswith("read"),
        measured="" if measured is None else disk_figure(name, measured),
        declared="" if declared is None else disk_figure(name, declared),
    )


def disk_figure(name: str, value: float) -> str:
    """`100 MB/s`, `2,000 IOPS`."""
    return QUANTITIES["iops" if name.endswith("iops") else "transfer"](value)
