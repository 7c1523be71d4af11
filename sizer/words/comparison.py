"""Two studies beside each other, A and B, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sizer.model.comparison import Compared, Comparison, Moved, Unlike
from sizer.records.configuration import Estimate
from sizer.records.run import DiskCheck
from sizer.records.units import format_number
from sizer.words import names
from sizer.words.language import (
    N_,
    Sentence,
    _,
    brief,
    clauses,
    gain,
    listed,
    paragraph,
    rate_in_words,
    row,
    volume,
    with_interval,
)
from sizer.words.names import Terms, outcome_in_words, resource_name
from sizer.words.terminal import host_fact, host_label


@dataclass(frozen=True)
class Described:
    """A study as it is named before all figures: its folder, how many runs, the days of the first and the last, and by
    which CPU and version of sizer, as far as it says so; something else used its CPUs beside so many of the runs."""

    folder: str
    name: str
    runs: int
    first: str | None = None
    last: str | None = None
    cpu: str | None = None
    sizer: str | None = None
    beside_others: int = 0


study_line = Sentence(
    "{letter}: {study.folder:path}, {study.runs:runs}[[ of {study.first}]][[several? to {study.last}]]"
    "[[ on {study.cpu}]][[, sizer {study.sizer}]]"
    "[[; something else used its CPUs beside {study.beside_others:runs}]]"
)


def study_in_words(letter: str, study: Described) -> str:
    """`A: before, 24 runs of 2026-11-21 on AMD EPYC 7763, sizer 0.3.0`."""
    return study_line(letter=letter, study=study, several=study.first != study.last)


_KINDS: Mapping[str, str] = {
    "package": N_("Version of {name}"),
    "disk": N_("Disk {name}"),
    "workload": N_("Workload {name}"),
    "measure": N_("Each run: {name}"),
}
_BESIDE_ALL = N_("What is different may come from what is unlike above.")
_ALIKE = N_("Hosts, programs, disks and workloads are alike, as far as both studies say.")
_NO_HOST = N_("Of the host that measured {studies} nothing is said.")
ITS_INTERVALS = N_("All intervals hold together with 95 %: where one includes 0, the difference may be chance.")
_NOT_REPEATED = N_("{studies} measured nothing several times, so how far its runs differ by chance is supposed.")


def unlike_cells(unlike: Unlike) -> tuple[str, str, str]:
    """What is unlike, and what it is in A and in B."""
    label = _(_KINDS[unlike.kind], name=unlike.name) if unlike.kind in _KINDS else host_label(unlike.name)
    return label, _value(unlike.name, unlike.before), _value(unlike.name, unlike.after)


def unlike_line(unlike: Unlike) -> str:
    """`CPU: AMD EPYC 7763 in A, Intel Xeon 8370C in B`."""
    label, before, after = unlike_cells(unlike)
    return _("  {label}: {before} in A, {after} in B", label=label, before=before, after=after)


def _value(name: str, value: Any) -> str:
    if value is None or value in ("", [], {}):
        return _("nothing said")
    if isinstance(value, DiskCheck):
        nature = _("emulated") if value.tier.emulated is not None else _("real")
        return row([nature, value.tier.catalog_name or "", names.rates_in_words(value.rates)])
    return host_fact(name.rpartition(" ")[2], value)


def unlike_sentences(unlike: Sequence[Unlike], studies: Sequence[Described]) -> str:
    """What that means for the figures."""
    silent = [letter for letter, study in zip("AB", studies, strict=True) if study.cpu is None]
    missing = [_(_NO_HOST, studies=listed(silent))] if silent else []
    return paragraph([*missing, _(_BESIDE_ALL if unlike else _ALIKE)])


def cautions(comparison: Comparison) -> list[str]:
    """How intervals are to be read, and which of them rest on what is supposed."""
    studies = [letter for letter, unrepeated in zip("AB", comparison.unrepeated, strict=True) if unrepeated]
    return [_(ITS_INTERVALS), *([_(_NOT_REPEATED, studies=listed(studies))] if studies else [])]


# One thing that was measured.
_VERDICTS: Mapping[str, str] = {
    "failed": N_("Failed"),
    "slower": N_("Slower"),
    "unclear": N_("No clear difference"),
    "faster": N_("Faster"),
    "ran": N_("Runs now"),
}
_STAGES: Mapping[str, str] = {
    "step": N_("step alone"),
    "pipeline": N_("input pipeline alone"),
}


def verdict_name(compared: Compared) -> str:
    """`Slower`."""
    return _(_VERDICTS[compared.verdict])


def compared_name(compared: Compared) -> str:
    """`train at 2 vCPUs, disk nvme, batch 32`, or the workload alone."""
    place, disk = compared.configuration, {compared.configuration.disk} if compared.configuration else set()
    if place is None:
        return compared.workload
    terms = _terms(compared, frozenset(filter(None, disk)))
    several = place.gpu is not None or (place.gpu_count or 0) > 1
    spec = names.spec_of(place) if several else replace(names.spec_of(place), gpu_count=0)
    stage = _(_STAGES.get(compared.stage, compared.stage)) if compared.stage else ""
    where = row([compared.machine or "", *names.spec_parts(spec, terms), stage])
    return _("{workload}[[ at {where}]]", workload=compared.workload, where=where)


def _terms(compared: Compared, disks: frozenset[str] = frozenset()) -> Terms:
    emulated = disks if compared.disk_emulated else frozenset()
    return Terms(compared.workload, compared.unit, compared.device, emulated)


def rates_of(compared: Compared) -> tuple[str, str]:
    """The rates of A and of B, or how their runs ended."""
    pairs = zip((compared.before, compared.after), compared.outcomes, strict=True)
    return tuple(  # type: ignore[return-value]
        rate_in_words(rate.value, compared.unit) if rate else outcome_in_words(outcome) if outcome else ""
        for rate, outcome in pairs
    )


def signed(share: float) -> str:
    """`-8.2 %`, `+12 %`, and above 300 % `a factor of 7.9`."""

    def written(value: float) -> str:
        digits = 1 if abs(value) < 0.0995 else 0
        return _("{number} %", number=f"{100 * value:+.{digits}f}" if abs(value) >= 0.0005 else "0")

    return gain(share, written)


def change_in_words(change: Estimate) -> str:
    """`-8.2 % (-10 % to -6.1 %)`."""
    return with_interval(*map(signed, (change.value, change.low, change.high)))


def compared_line(compared: Compared) -> str:
    """`Slower: train at 2 vCPUs: 219 images/s in A, 201 images/s in B: -8.2 % (-10 % to -6.1 %)`."""
    before, after = rates_of(compared)
    return _(
        "{verdict}: {what}: {before} in A, {after} in B[[: {change}]]",
        verdict=verdict_name(compared),
        what=compared_name(compared),
        before=before,
        after=after,
        change=change_in_words(compared.change) if compared.change else "",
    )


def mean_of(compared: Compared, count: int) -> str:
    """`train, mean of 6 configurations`."""
    return _("{workload}, mean of {count:configurations}", workload=compared.workload, count=count)


def mean_line(compared: Compared, count: int) -> str:
    """`Slower: train, mean of 6 configurations: -8.2 % (-10 % to -6.1 %)`."""
    return _(
        "{verdict}: {what}: {change}",
        verdict=verdict_name(compared),
        what=mean_of(compared, count),
        change=change_in_words(compared.change) if compared.change else "",
    )


_MOVED: Mapping[str, str] = {
    "core_seconds": N_("CPU time"),
    "read_bytes": N_("bytes read"),
    "read_ios": N_("reads"),
    "written_bytes": N_("bytes written"),
    "accelerator_seconds": N_("accelerator time"),
    "input_wait": N_("wait for input"),
}


def moved_line(compared: Compared) -> str:
    """What moved with the rate: `bound by CPU in A and by disk IOPS in B; CPU time a sample 12 ms in A, ...`."""
    before, after = compared.bottlenecks
    binding = ""
    if before is not None and after is not None and before is not after:
        one, other = (resource_name(its, compared.device) for its in (before, after))
        binding = _("bound by {one} in A and by {other} in B", one=one, other=other)
    return clauses([binding, *map(_moved, compared.moved)])


def _moved(moved: Moved) -> str:
    written = volume if moved.what.endswith("bytes") else format_number if moved.what.endswith("ios") else brief
    return _(
        "{demand} a sample {before} in A, {after} in B: {change}",
        demand=_(_MOVED[moved.what]),
        before=written(moved.before),
        after=written(moved.after),
        change=change_in_words(moved.change),
    )


only_in = Sentence("Only in {letter}: {what:some}")


def only_line(letter: str, absent: Sequence[Compared]) -> str:
    """What the other study has nothing of; empty where there is nothing."""
    return only_in(letter=letter, what=[compared_name(its) for its in absent]) if absent else ""


nothing_shared = Sentence("A and B have no configuration in common, so no rates can be compared.")
