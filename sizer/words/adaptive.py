"""Sentences about an adaptive plan: why a run was made, what the first runs are, why no further one is made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sizer.adaptive.chosen import NextRun, PlanEnd
from sizer.records.adaptive import PlanEndKind, RunReason, RunReasonKind
from sizer.records.units import format_bytes, format_seconds
from sizer.words.language import _, _n
from sizer.words.names import clauses, disk_name, either, listed
from sizer.words.runs import run_in_words
from sizer.words.units import percent, vcpus_in_words


def reason_in_words(why: RunReason) -> str:
    """What was open when the run was chosen."""
    return _REASONS[why.kind](why)


def chosen_in_words(run: str, why: RunReason) -> str:
    """A run with why it is made: `train, 4 vCPUs: between 2 and 8 vCPUs the answer is open`."""
    known = {"run": run, "reason": reason_in_words(why)}
    return _("{run}, again: {reason}", **known) if why.again else _("{run}: {reason}", **known)


def start_to_come(most: int, seconds: float, finished: int, others: bool = False) -> str:
    """Of a dry run, after the next runs of an adaptive plan: how many may be made; `others` where searches or passes
    are among them."""
    how = (
        _(
            "then one run after another, each chosen by what it would tell, until every answer is settled, and what is "
            "searched for after that"
        )
        if others
        else _("then one run after another, each chosen by what it would tell, until every answer is settled")
    )
    time = format_seconds(seconds)
    if not finished:
        return _n(
            "{how}: {count} run in all at the most, about {time}",
            "{how}: {count} runs in all at the most, about {time}",
            most,
            how=how,
            time=time,
        )
    return _n(
        "{how}: {count} run more at the most, about {time}; {finished} finished",
        "{how}: {count} runs more at the most, about {time}; {finished} finished",
        most,
        how=how,
        time=time,
        finished=finished,
    )


def plan_ended(end: PlanEnd, emulated: Collection[str] = ()) -> str:
    """Why an adaptive plan makes no further run, which answers are still open, what failed in every run, and which run
    a larger bound would have room for."""
    failed = _("no run of {names} completed", names=_named(end.failed))
    left = [name for name in end.open if name not in end.failed]
    if end.kind is PlanEndKind.NOTHING_LEFT and end.open and not left:
        return clauses([failed, _("no further one is made after {made}", made=_made(end))])
    still = [_("still open: {left}", left=_named(left))] if left else []
    then = [_("the next would be {run}", run=_next_in_words(end.then, emulated))] if end.then is not None else []
    return clauses([_ended(end), *still, *([failed] if end.failed else []), *then])


def _ended(end: PlanEnd) -> str:
    if end.kind is PlanEndKind.SETTLED:
        return _("every answer is settled after {made}", made=_made(end))
    if end.kind is PlanEndKind.NOTHING_LEFT:
        return _("no single run that is left would tell much after {made}", made=_made(end))
    if end.kind is PlanEndKind.RUNS:
        return _n(
            "{count} run is made, as many as were allowed",
            "{count} runs are made, as many as were allowed",
            end.runs,
        )
    if end.runs == 0:
        return _("the budget has no room for a first run")
    return _("the budget has no room for another run after {made}", made=_made(end))


def _made(end: PlanEnd) -> str:
    return _n("{count} run of {time}", "{count} runs of {time} together", end.runs, time=format_seconds(end.seconds))


def _named(workloads: Sequence[str]) -> str:
    return listed([f"`{name}`" for name in workloads])


def chosen_runs(end: PlanEnd, emulated: Collection[str] = (), to_go_on: bool = False) -> str:
    """The same as a sentence about a study; `to_go_on` before the command that does."""
    how = plan_ended(end, emulated)
    if to_go_on:
        return _("Its runs were chosen one after another: {how}. To go on:", how=how)
    return _("Its runs were chosen one after another: {how}.", how=how)


def plan_goes_on(chosen: NextRun, emulated: Collection[str]) -> str:
    """Of an adaptive plan that has not ended, before the command that goes on with it."""
    said = _next_in_words(chosen, emulated)
    return _("Not finished: runs are chosen one after another, and the next is {run}. To go on:", run=said)


def _next_in_words(chosen: NextRun, emulated: Collection[str]) -> str:
    run = run_in_words(chosen.spec, emulated)
    return run if chosen.why is None else chosen_in_words(run, chosen.why)


def _between_vcpus(why: RunReason) -> str:
    low, high = f"{why.figures['low']:g}", vcpus_in_words(why.figures["high"])
    return _("between {low} and {high} the answer is open", low=low, high=high)


def _between_memory(why: RunReason) -> str:
    low, high = format_bytes(why.figures["low"]), format_bytes(why.figures["high"])
    return _("between {low} and {high} of memory the answer is open", low=low, high=high)


def _between_disks(why: RunReason) -> str:
    return _("whether the answer is disk {disks} is open", disks=either([disk_name(name) for name in why.names]))


def _not_seen(why: RunReason) -> str:
    return {
        "vcpus": _("no run with these vCPUs completed yet"),
        "memory": _("no run had this memory yet"),
        "disk": _("no run was on this disk yet"),
        "batch_size": _("no run had this batch size yet"),
        "gpu_count": _("no run had so many accelerators yet"),
    }[why.names[0]]


def _not_sure(why: RunReason) -> str:
    if "vcpus" not in why.figures:
        return _("the answer is not sure enough: {probability}", probability=percent(why.figures["probability"]))
    return _(
        "that {vcpus} are enough is not sure enough: {probability}",
        vcpus=vcpus_in_words(why.figures["vcpus"]),
        probability=percent(why.figures["probability"]),
    )


def _host_again(why: RunReason) -> str:
    return _("to see whether the host has changed in {runs} runs", runs=f"{why.figures['runs']:g}")


def _host_open(why: RunReason) -> str:
    return _("how slow the host was meanwhile leaves the answer of {name} open", name=_named(why.names))


_REASONS: dict[RunReasonKind, Callable[[RunReason], str]] = {
    RunReasonKind.START: lambda _why: _("the first runs show the most, the least and the middle"),
    RunReasonKind.ONLY_ONE: lambda _why: _("it is the only configuration"),
    RunReasonKind.NOT_SEEN: _not_seen,
    RunReasonKind.BETWEEN_VCPUS: _between_vcpus,
    RunReasonKind.BETWEEN_MEMORY: _between_memory,
    RunReasonKind.BETWEEN_DISKS: _between_disks,
    RunReasonKind.OWN_RUN: lambda _why: _("the answer itself was not measured yet"),
    RunReasonKind.NOT_SURE: _not_sure,
    RunReasonKind.NOT_COMPARED: lambda _why: _("the answer is the best of what was measured, and this was not yet"),
    RunReasonKind.NOT_FITTED: lambda _why: _("the runs so far do not carry an answer"),
    RunReasonKind.HOST_AGAIN: _host_again,
    RunReasonKind.HOST_OPEN: _host_open,
}
