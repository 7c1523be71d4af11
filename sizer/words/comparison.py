"""Two studies beside each other, A and B, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sizer.model.comparison import Comparison, DemandChange, RateChange, StudyDifference
from sizer.records.device import HostSpeed
from sizer.records.prediction import Estimate
from sizer.records.run import DiskCheck
from sizer.records.run_kinds import Outcome
from sizer.words import names
from sizer.words.language import N_, QUANTITIES, Sentence, Templates, _, clauses, rate_in_words, row
from sizer.words.names import Terms, outcome_in_words
from sizer.words.terminal import host_fact, host_label, speed_in_words

study_line = Sentence(
    "{letter}: {study.folder:path}, {study.runs:runs}[[ of {study.days:and}]][[ on {study.cpu}]]"
    "[[, sizer {study.sizer}]]"
)
difference_line = Sentence("  {label}: {before} in A, {after} in B")
_whence = Sentence(
    "[[different?What differs below may come from what differs above.]]"
    "[[!different?Hosts, programs, disks and workloads are the same, as far as both studies say.]]"
)


def whence(comparison: Comparison) -> str:
    """Whether what differs may come from how the studies differ; empty where nothing was measured in both."""
    return _whence(different=comparison.study_differences) if comparison.differences else ""


_KINDS: Templates[str, str] = {
    "package": "Version of {name}",
    "disk": "Disk {name}",
    "workload": "Workload {name}",
}


def difference_cells(difference: StudyDifference) -> tuple[str, str, str]:
    """What differs, and what it is in A and in B."""
    kind, name = _KINDS.get(difference.kind), difference.name
    label = _(kind, name=name) if kind else host_label(name)
    return label, _value(name, difference.before), _value(name, difference.after)


def _value(name: str, value: Any) -> str:
    if value is None or value in ("", [], {}):
        return _("nothing said")
    if isinstance(value, DiskCheck):
        nature = _("emulated") if value.tier.emulated is not None else _("real")
        return row([nature, value.tier.catalog_name or "", names.rates_in_words(value.rates)])
    if isinstance(value, HostSpeed):
        return speed_in_words(value)
    return host_fact(name.rpartition(" ")[2], value)


# One thing that was measured.
_VERDICTS: Templates[str, str] = {
    "failed": "Failed",
    "slower": "Slower",
    "unclear": "No clear difference",
    "faster": "Faster",
    "ran": "Runs now",
}
_DEMANDS: Mapping[str, tuple[str, str]] = {
    "core_seconds": (N_("CPU time"), "brief"),
    "read_bytes": (N_("bytes read"), "volume"),
    "read_ios": (N_("reads"), "number"),
    "written_bytes": (N_("bytes written"), "volume"),
    "accelerator_seconds": (N_("accelerator time"), "brief"),
    "input_wait": (N_("wait for input"), "brief"),
}
"""What a demand is called, and the quantity that it is."""
rate_line = Sentence("{verdict}: {what}[[: {before} in A, {after} in B]][[: {change:signed}]]")
_demand = Sentence("{demand} a sample {before} in A, {after} in B: {change:signed}")
_bound = Sentence("bound by {one:resource/device} in A and by {other:resource/device} in B")


def verdict_name(change: RateChange) -> str:
    """`Slower`."""
    return _(_VERDICTS[change.verdict])


def change_name(change: RateChange) -> str:
    """`train at 2 vCPUs, disk nvme, batch 32`, `train, mean of 6 configurations`, or the workload alone."""
    place, count = change.configuration, change.configurations
    if place is None:
        several = count if count > 1 else None
        return _("{workload}[[, mean of {count:configurations}]]", workload=change.workload, count=several)
    emulated = frozenset({place.disk or ""} if change.disk_emulated else ())
    terms = Terms(change.workload, change.unit, change.device, emulated)
    where = row([change.machine or "", *names.spec_parts(names.spec_of(place), terms)])
    return _("{workload}[[ at {where}]]", workload=change.workload, where=where)


def rates_of(change: RateChange) -> tuple[str, str]:
    """The rates of A and of B, or how their runs ended; empty of a mean."""
    one, other = change.outcomes
    return _rate(change.before, one, change.unit), _rate(change.after, other, change.unit)


def _rate(rate: Estimate | None, outcome: Outcome | None, unit: str) -> str:
    return rate_in_words(rate.value, unit) if rate else outcome_in_words(outcome) if outcome else ""


def change_line(change: RateChange) -> str:
    """`Slower: train at 2 vCPUs: 219 images/s in A, 201 images/s in B: -8.2 % (-10 % to -6.1 %)`."""
    return rate_line(verdict_name(change), change_name(change), *rates_of(change), change.change)


def moved_line(change: RateChange) -> str:
    """What moved with the rate: `bound by CPU in A and by disk IOPS in B; CPU time a sample 12 ms in A, ...`."""
    one, other = change.bottlenecks
    if change.verdict == "unclear":
        return ""
    binding = _bound(one, change.device, other) if one and other and one is not other else ""
    return clauses([binding, *map(_moved, change.moved)])


def _moved(moved: DemandChange) -> str:
    label, quantity = _DEMANDS[moved.what]
    written = QUANTITIES[quantity]
    return _demand(_(label), written(moved.before), written(moved.after), moved.change)


_nothing_shared = Sentence("A and B have no configuration in common, so no rates can be compared.")
_intervals = Sentence(
    "All intervals hold together with 95 %: where one includes 0, the difference may be chance."
    "[[ {studies:and} measured nothing several times, so how far runs differ by chance is supposed.]]"
)
_only_in = Sentence("Only in {letter}: {what:some}")


def notes(comparison: Comparison) -> list[str]:
    """How the intervals are to be read, and what one study alone has."""
    supposed = [letter for letter, unrepeated in zip("AB", comparison.unrepeated, strict=True) if unrepeated]
    only = (("A", comparison.only_before), ("B", comparison.only_after))
    return [
        _intervals(supposed) if comparison.differences else _nothing_shared(),
        *(_only_in(letter, [*map(change_name, absent)]) for letter, absent in only if absent),
    ]
