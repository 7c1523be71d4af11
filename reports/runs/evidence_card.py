"""What one run's figures rest on: groups of label, value and remark, without what was not accounted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sizer.records.configuration import Bottleneck
from sizer.records.device import DiskRates, GpuUse
from sizer.records.run import MemoryGrowth, MeterKind, Run, WarningKind
from sizer.records.units import format_bytes, format_number, format_seconds
from sizer.words.language import (
    _,
    a_sample,
    amount,
    brief,
    capital,
    half_width,
    milliseconds,
    percent,
    rate_in_words,
    rate_interval,
    row,
    signed_bytes,
    small_share,
    transfer,
    unbroken,
    vcpus_in_words,
    volume,
)
from sizer.words.language import whole as whole_text
from sizer.words.names import resource_name
from sizer.words.page import memory_size, stopped_in_words
from sizer.words.runs import meter_in_words
from sizer.words.warnings import clock_reason_in_words, warning_name

from .. import results

Fact = tuple[str, str, str]
"""Label, value, and what must be known of it."""


def groups(run: Run) -> list[dict[str, Any]]:
    """The groups that have anything to say, each a title and its facts."""
    parts = (
        (_("Rate"), rate(run)),
        (_("Waiting"), waiting(run)),
        (_("Processor"), processor(run)),
        *gpu_groups(run),
        (_("Memory"), memory(run)),
        (_("Page cache"), page_cache(run)),
        (_("Disk"), disk(run)),
        (_("Options"), options(run)),
    )
    found = [(title, list(facts)) for title, facts in parts]
    return [{"title": title, "facts": facts} for title, facts in found if facts]


def rate(run: Run) -> Iterator[Fact]:
    """The throughput with its interval, in how far it held, and how it was taken."""
    unit, throughput = run.sample_unit, run.throughput
    if throughput is not None and results.measured(run):
        once = any(warning.kind is WarningKind.ONE_READING for warning in run.warnings)
        remark = warning_name(WarningKind.ONE_READING) if once else half_width(throughput)
        yield _("Throughput"), rate_interval(throughput, unit), remark
    if run.meter is not None and run.meter.kind is not MeterKind.EVENTS:
        yield _("Steps counted"), meter_in_words(run.meter), ""
    if run.rate_change is not None:
        before, after = (rate_interval(each, unit) for each in (run.rate_change.before, run.rate_change.after))
        remark = _("fell after {time}", time=format_seconds(run.rate_change.seconds))
        yield _("Two rates"), _("{before}, then {after}", before=before, after=after), remark
    if run.first_epoch_throughput is not None:
        yield _("First epoch"), rate_in_words(run.first_epoch_throughput, unit), _against(run)
    if run.latency_p50 is not None:
        yield _("Latency of a batch"), _latency(run.latency_p50, run.latency_p99), ""
    if run.warm_up_seconds is not None:
        yield _("Warm-up"), format_seconds(run.warm_up_seconds), ""
    if run.measured_seconds is not None:
        yield _("Measured"), format_seconds(run.measured_seconds), stopped_in_words(run.stopped or "")
    if run.overhead is not None:
        yield _("sizer's own use"), small_share(run.overhead), ""


def _latency(median: float, p99: float | None) -> str:
    middle = milliseconds(median)
    if p99 is None:
        return _("median {median}", median=middle)
    return _("median {median}, p99 {p99}", median=middle, p99=milliseconds(p99))


def waiting(run: Run) -> Iterator[Fact]:
    """For input by the loop's own clock, and for each resource by the kernel's pressure accounting."""
    used, throughput = run.demand, run.throughput
    if used is None or throughput is None:
        return
    if used.input_wait is not None:
        each = a_sample(brief(used.input_wait), run.sample_unit)
        share = percent(used.input_wait * throughput.value)
        yield _("For input"), _("{share} of the time", share=share), each
    stalls = ((_("CPU"), used.cpu_stall), (_("memory"), used.memory_stall), (_("disk"), used.io_stall))
    known = [(name, stall * throughput.value) for name, stall in stalls if stall is not None]
    if known:
        shares = (unbroken(f"{name} {percent(share)}") for name, share in known)
        yield _("Stalled"), row(shares), ""


def processor(run: Run) -> Iterator[Fact]:
    """Core-seconds and what kept the run from them; the accelerator's time."""
    used, throughput = run.demand, run.throughput
    if used is not None and throughput is not None and used.core_seconds is not None:
        cores = format_number(used.core_seconds * throughput.value)
        each = a_sample(_("{number} core-ms", number=format_number(used.core_seconds * 1000)), run.sample_unit)
        vcpus = run.configuration.vcpus
        yield _("Cores used"), _of(cores, vcpus_in_words(vcpus) if vcpus is not None else ""), each
    if run.peak_threads:
        yield _("Threads"), _("up to {count}", count=run.peak_threads), ""
    if run.throttled is not None:
        yield _("Throttled"), _("{share} of quota periods", share=percent(run.throttled)), ""
    if run.other_cores is not None:
        yield _("Others on this host"), _("{cores} cores", cores=f"{run.other_cores:.2f}"), ""
    if run.stolen_cores is not None:
        yield _("Stolen by the hypervisor"), _("{cores} cores", cores=f"{run.stolen_cores:.2f}"), ""
    if used is not None and used.accelerator_seconds is not None:
        device = resource_name(Bottleneck.ACCELERATOR, run.spec.workload.computes_on)
        busy = a_sample(brief(used.accelerator_seconds), run.sample_unit)
        yield capital(device), busy, ""


def gpu_groups(run: Run) -> list[tuple[str, Iterator[Fact]]]:
    """One group for each GPU."""
    names = [_("GPU")] if len(run.gpus) == 1 else [_("GPU {index}", index=each.index) for each in run.gpus]
    return [(name, gpu(run, each)) for name, each in zip(names, run.gpus, strict=True)]


def gpu(run: Run, used: GpuUse) -> Iterator[Fact]:
    """What its driver told of one GPU."""
    yield _("Name"), used.name, ""
    if used.busy is not None:
        yield _("A kernel running"), _("{share} of the time", share=percent(used.busy)), _("median")
    if used.peak_memory_bytes is not None:
        whole = amount(used.memory_bytes) if used.memory_bytes is not None else ""
        own = used.own_peak_memory_bytes
        remark = _("{size} of it its own", size=amount(own)) if own is not None else ""
        yield _("GPU memory"), _of(amount(used.peak_memory_bytes), whole), remark
    clocks = ((_("cores"), used.sm_hertz), (_("memory"), used.memory_hertz))
    known = [unbroken(f"{name} {format_number(hertz / 1e6)} MHz") for name, hertz in clocks if hertz is not None]
    if known:
        yield _("Clocks"), row(known), _("median")
    for reason, share in used.held_back.items():
        lowered = _("{share} of the time", share=percent(share))
        yield _("Clocks lowered"), lowered, clock_reason_in_words(reason)
    if used.watts is not None:
        joules = _("{number} J", number=format_number(used.joules)) if used.joules is not None else ""
        each = a_sample(joules, run.sample_unit) if joules else ""
        yield _("Power"), f"{format_number(used.watts)} W", each
    sides = ((_("PCIe, to it"), used.received_bytes), (_("PCIe, from it"), used.sent_bytes))
    for label, bytes_ in sides:
        if bytes_ is not None:
            remark = "" if used.pcie_counted else _("from 20 ms of each half second")
            yield label, a_sample(volume(bytes_), run.sample_unit), remark
    if used.others:
        yield _("Others on it"), row(used.others), _("{share} of the time", share=percent(used.shared))


def memory(run: Run) -> Iterator[Fact]:
    """The highest of each kind, which need not have been at one time, and whether it went on growing."""
    if run.peak_memory_bytes is not None:
        yield _("Highest"), _of(amount(run.peak_memory_bytes), memory_size(run.configuration)), ""
    peaks = (
        (_("Anonymous"), run.peak_anonymous_bytes),
        (_("Page cache"), run.peak_page_cache_bytes),
        (_("Kernel"), run.peak_kernel_bytes),
        (_("Swap"), run.peak_swap_bytes),
    )
    for label, peak in peaks:
        if peak is not None:
            yield label, amount(peak), ""
    if run.memory_growth is not None:
        yield from _growth(run.memory_growth)


def page_cache(run: Run) -> Iterator[Fact]:
    """How much of the data lay in memory, and what that spared the disk."""
    if run.hit_rate is not None:
        yield _("Hit rate"), percent(run.hit_rate), ""
    known = [_("{size} before", size=amount(run.resident_bytes))] if run.resident_bytes is not None else []
    if run.resident_after_bytes is not None:
        known.append(_("{size} after", size=amount(run.resident_after_bytes)))
    if known:
        size = format_bytes(run.data_set.bytes) if run.data_set is not None and run.data_set.bytes else ""
        yield _("Data resident"), row(known), _("of {size}", size=size) if size else ""


def disk(run: Run) -> Iterator[Fact]:
    """Bytes and IOs, as a rate beside what the tier gives and a sample."""
    if run.demand is None or run.throughput is None:
        return
    given, used, rate_ = run.disk.rates if run.disk is not None else DiskRates(), run.demand, run.throughput.value
    sides = (
        (_("Read"), used.read_bytes, given.read_bytes_per_second),
        (_("Read, IOs"), used.read_ios, given.read_iops),
        (_("Written"), used.written_bytes, given.write_bytes_per_second),
        (_("Written, IOs"), used.write_ios, given.write_iops),
    )
    for index, (label, each, most) in enumerate(sides):
        counts_bytes = index % 2 == 0
        if counts_bytes and each == 0:
            yield label, _("nothing"), ""
        elif each:
            spell, cost = (transfer, volume(each)) if counts_bytes else (_per_second, format_number(each))
            value = _of(spell(each * rate_), spell(most) if most is not None else "")
            yield label, value, a_sample(cost, run.sample_unit)
    if used.asked_bytes is not None:
        yield _("Asked for"), a_sample(volume(used.asked_bytes), run.sample_unit), ""


def options(run: Run) -> Iterator[Fact]:
    """What the program says it ran with, by the names that a study file has for it."""
    for name, value in run.stated.items():
        yield name, str(value).lower() if isinstance(value, bool) else str(value), ""


def _of(text: str, most: str) -> str:
    return _("{value} of {most}", value=text, most=most) if most else text


def _per_second(value: float) -> str:
    return f"{format_number(value)}/s"


def _against(run: Run) -> str:
    """The first epoch beside the rate that counts, which `natural` takes from later epochs alone."""
    if run.throughput is None or not run.throughput.value or run.first_epoch_throughput is None:
        return ""
    ratio = format_number(run.first_epoch_throughput / run.throughput.value)
    later = run.spec.workload.cache == "natural" and all(
        warning.kind is not WarningKind.FIRST_EPOCH for warning in run.warnings
    )
    return _("{ratio} × the later epochs", ratio=ratio) if later else _("{ratio} × the throughput", ratio=ratio)


def _growth(growth: MemoryGrowth) -> Iterator[Fact]:
    slope = growth.anonymous_bytes_per_step
    low, high = signed_bytes(slope.low), signed_bytes(slope.high)
    rises = not slope.low <= 0 <= slope.high
    seen = _("{size} a step", size=signed_bytes(slope.value)) if rises else _("none to be seen")
    over = _("{low} to {high} over {steps} steps", low=low, high=high, steps=whole_text(growth.steps))
    yield _("Anonymous growth"), seen, over
    if growth.rising:
        yield _("At the end"), _("still rising"), ""
    yield _("Page cache growth"), _("{size} a step", size=signed_bytes(growth.page_cache_bytes_per_step)), ""
