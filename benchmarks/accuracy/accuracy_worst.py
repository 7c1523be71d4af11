"""The worst of the simulated cases in words: which machine, what was said and what is true. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from accuracy_advised import Advised
from accuracy_draws import Case
from accuracy_simulated import CaseResult, HeldOut, Named

from sizer.model import batch_of, disk_of, memory_of, vcpus_of
from sizer.records import GIB
from sizer.records.configuration import Bottleneck, Configuration


def worst_lines(outcomes: Sequence[CaseResult], count: int) -> list[str]:
    """At most so many of each kind: errors inside, wrong bottlenecks, answers that lose rate; each with its machine."""
    if count < 1:
        return []
    cases = {outcome.case.number: outcome.case for outcome in outcomes}
    held = [each for outcome in outcomes for each in outcome.held_out if not each.beyond]
    named = [each for outcome in outcomes for each in outcome.named]
    advised = [outcome.advised for outcome in outcomes if outcome.advised and outcome.advised.spec]
    lines = ["", "Worst errors inside the range, the worst of each machine:"]
    by_machine: dict[int, HeldOut] = {}
    for each in sorted(held, key=lambda one: one.error):
        by_machine[each.case] = each
    ranked = sorted(by_machine.values(), key=lambda one: -one.error)[:count]
    for each in ranked:
        lines += [_error_line(each), f"    {machine_line(cases[each.case])}"]
    wrong = [e for e in named if e.clear and not e.right and e.named is not Bottleneck.AMBIGUOUS]
    lines += ["", f"Wrong bottlenecks ({len(wrong)}), one of each machine:"]
    for each_wrong in list({e.case: e for e in wrong}.values())[:count]:
        lines += [_named_line(each_wrong), f"    {machine_line(cases[each_wrong.case])}"]
    unclear = [e for e in named if e.clear and e.named is Bottleneck.AMBIGUOUS]
    lines += ["", f"Ambiguous though clear ({len(unclear)}), one of each machine:"]
    for each_wrong in list({e.case: e for e in unclear}.values())[:count]:
        lines += [_named_line(each_wrong), f"    {machine_line(cases[each_wrong.case])}"]
    losing = sorted((a for a in advised if a.rate_regret > 0 or a.cost_regret > 0.05), key=_loss, reverse=True)
    lines += ["", "Answers that lose rate, or cost more than they must:"]
    for answer in losing[:count]:
        lines += [_advice_line(answer), f"    {machine_line(cases[answer.case])}"]
    return [*lines, "", *_refused(outcomes), *_faults(outcomes), ""]


def _loss(answer: Advised) -> tuple[float, float]:
    return (answer.rate_regret if answer.status == "recommended" else 0.0, answer.cost_regret)


def _refused(outcomes: Sequence[CaseResult]) -> list[str]:
    return [f"refused: machine {o.case.number}: {o.refused}" for o in outcomes if o.refused][:5]


def _faults(outcomes: Sequence[CaseResult]) -> list[str]:
    return [f"FAULT: machine {o.case.number}: {o.fault}" for o in outcomes if o.fault]


def _error_line(each: HeldOut) -> str:
    off = 100 * (each.predicted / each.truth - 1)
    inside = "in" if each.low <= each.truth <= each.high else "OUTSIDE"
    best = min(each.others, key=lambda name: abs(each.others[name] - each.truth))
    return (
        f"  {each.case:4d} {place(each.configuration)}: {each.predicted:.4g} ({each.low:.4g} to {each.high:.4g}), "
        f"true {each.truth:.4g}: {off:+.1f} %, {inside} its interval; "
        f"best rival {best} {100 * (each.others[best] / each.truth - 1):+.1f} %"
    )


def _named_line(each: Named) -> str:
    shares = ", ".join(f"{kind} {share:.2f}" for kind, share in each.shares.items() if share > 0.02)
    low, high = each.relieved
    return (
        f"  {each.case:4d} {place(each.configuration)}: said {each.named.value}, true {each.truth} ({shares}; "
        f"vCPUs relieve {low:.2f} to {high:.2f} of computing)"
    )


def _advice_line(answer: Advised) -> str:
    assert answer.spec is not None
    spec = answer.spec
    size = f"{spec.vcpus:g} vCPU, {spec.memory_bytes or 0} B, {spec.disk}"
    return (
        f"  {answer.case:4d} {answer.status} {size}: misses the target's rate by {100 * answer.rate_regret:.1f} %, "
        f"costs {100 * answer.cost_regret:+.0f} %, twice the vCPUs would gain {100 * answer.gain:.0f} %"
    )


def place(configuration: Configuration) -> str:
    """`3 vCPU 12.5 GiB disk1 b32 x2`."""
    count = f" x{configuration.gpu_count}" if configuration.gpu_count else ""
    limits = f"{vcpus_of(configuration):g} vCPU {memory_of(configuration) / GIB:.2f} GiB {disk_of(configuration)}"
    return f"{limits} b{batch_of(configuration)}{count}"


def machine_line(case: Case) -> str:
    """What is unusual about the machine and its job."""
    cores, job, memory = case.machine.cores, case.machine.job, case.machine.memory
    most = case.axes.vcpus[-1]
    words = [
        "accounted" if case.accounted else "rates alone",
        f"vcpus {' '.join(f'{c:g}' for c in case.axes.vcpus)}",
        f"{len(case.measured)} measured x{case.repeats}",
        f"noise {100 * case.noise:.1f} %",
        f"{cores.law} {cores.strength:.3g} (power at most {cores.power(most):.3g})",
    ]
    if cores.physical < most:
        words.append(f"siblings yield {cores.sibling:.2f} above {cores.physical:g}")
    if job.lock:
        words.append(f"lock caps at {job.cpu / job.lock:.1f} cores")
    if job.latency and job.blocking:
        words.append(f"latency {job.latency / job.cpu:.2f} x CPU")
    if job.read_bytes:
        loader = f"blocking, {job.workers_a_core} a core" if job.blocking else f"{job.readers} readers"
        words.append(f"{loader}, depth {job.depth}, chunks {job.chunks}")
        limits = [
            min((r.read_bytes_per_second or 0) / job.read_bytes, (r.read_iops or 0) / job.read_ios)
            for r in case.machine.disks.values()
        ]
        words.append("disks give " + " ".join(f"{limit:.3g}/s" for limit in limits))
    if job.accelerator:
        words.append(f"accelerator {job.accelerator:.3g}/s at b{job.reference_batch}, launch {job.launch_share:.2f}")
    words.append(f"one core {1 / job.cpu:.3g}/s")
    if memory.natural:
        order = "in order" if memory.sequential else "shuffled"
        words.append(f"natural cache, {order}, data {memory.data_bytes / GIB:.1f} GiB, keep {memory.keep:.2f}")
    if job.written_bytes:
        words.append("writes")
    variability = job.variability
    words.append(f"cv {variability.disk:.1f}/{variability.cpu:.1f}")
    return ", ".join(words)
