"""What one run's figures rest on: groups of label, value and remark, without what was not accounted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from sizer.records.device import DiskRates, GpuUse
from sizer.records.prediction import Bottleneck
from sizer.records.run import MemoryGrowth, MeterKind, Run, WarningKind
from sizer.records.units import format_bytes, format_number, format_seconds
from sizer.words import language as words
from sizer.words.language import _
from sizer.words.names import resource_name
from sizer.words.page import memory_size, stopped_in_words
from sizer.words.runs import meter_in_words
from sizer.words.verdict import Fact
from sizer.words.warnings import clock_reason_in_words, warning_name

from .. import results


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
    cards = [(title, list(facts)) for title, facts in parts]
    return [{"title": title, "facts": facts} for title, facts in cards if facts]


Known = TypeVar("Known")


def fact(label: str, value: Known | None, write: Callable[[Known], str], remark: str = "") -> Iterator[Fact]:
    """A figure in words; nothing where it is not known."""
    if value is not None:
        yield label, write(value), remark


def _of_quota(share: float) -> str:
    return _("{share} of quota periods", share=words.percent(share))


def _cores(number: float) -> str:
    return _("{cores} cores", cores=f"{number:.2f}")


def rate(run: Run) -> Iterator[Fact]:
    """The throughput with its interval, in how far it held, and how it was taken."""
    unit, throughput = run.sample_unit, run.throughput
    if throughput is not None and results.measured(run):
        once = any(warning.kind is WarningKind.ONE_READING for warning in run.warnings)
        remark = warning_name(WarningKind.ONE_READING) if once else words.half_width(throughput)
        yield _("Throughput"), words.rate_interval(throughput, unit), remark
    if run.meter is not None and run.meter.kind is not MeterKind.EVENTS:
        yield _("Steps counted"), meter_in_words(run.meter), ""
    if (fall := run.rate.rate_change) is not None:
        rates = _("{fall.before:rate/unit}, then {fall.after:rate/unit}", fall=fall, unit=unit)
        yield _("Two rates"), rates, _("fell after {fall.seconds:time}", fall=fall)
    if run.rate.first_epoch_throughput is not None:
        yield _("First epoch"), words.rate_in_words(run.rate.first_epoch_throughput, unit), _against(run)
    if run.rate.latency_p50 is not None:
        p99 = words.milliseconds(run.rate.latency_p99) if run.rate.latency_p99 is not None else None
        median = words.milliseconds(run.rate.latency_p50)
        yield _("Latency of a batch"), _("median {median}[[, p99 {p99}]]", median=median, p99=p99), ""
    yield from fact(_("Warm-up"), run.rate.warm_up_seconds, format_seconds)
    yield from fact(_("Measured"), run.rate.measured_seconds, format_seconds, stopped_in_words(run.rate.stopped or ""))
    yield from fact(_("sizer's own use"), run.conditions.overhead, words.small_share)


def waiting(run: Run) -> Iterator[Fact]:
    """For input by the loop's own clock, and for each resource by the kernel's pressure accounting."""
    used, throughput = run.demand, run.throughput
    if used is None or throughput is None:
        return
    if used.input_wait is not None:
        wait = words.a_sample(words.brief(used.input_wait), run.sample_unit)
        yield _("For input"), _of_the_time(used.input_wait * throughput.value), wait
    stalls = ((_("CPU"), used.cpu_stall), (_("memory"), used.memory_stall), (_("disk"), used.io_stall))
    stalled = [(name, stall * throughput.value) for name, stall in stalls if stall is not None]
    if stalled:
        shares = (words.unbroken(f"{name} {words.percent(share)}") for name, share in stalled)
        yield _("Stalled"), words.row(shares), ""


def processor(run: Run) -> Iterator[Fact]:
    """Core-seconds and what kept the run from them; the accelerator's time."""
    used, throughput = run.demand, run.throughput
    if used is not None and throughput is not None and used.core_seconds is not None:
        cores = format_number(used.core_seconds * throughput.value)
        cost = words.a_sample(_("{number} core-ms", number=format_number(used.core_seconds * 1000)), run.sample_unit)
        vcpus = run.configuration.vcpus
        yield _("Cores used"), _of(cores, words.vcpus_in_words(vcpus) if vcpus is not None else ""), cost
    if run.memory.peak_threads:
        yield _("Threads"), _("up to {count}", count=run.memory.peak_threads), ""
    host = run.conditions
    yield from fact(_("Throttled"), host.throttled, _of_quota)
    yield from fact(_("Others on this host"), host.other_cores, _cores)
    yield from fact(_("Stolen by the hypervisor"), host.stolen_cores, _cores)
    if used is not None and used.accelerator_seconds is not None:
        device = resource_name(Bottleneck.ACCELERATOR, run.spec.workload.computes_on)
        busy = words.a_sample(words.brief(used.accelerator_seconds), run.sample_unit)
        yield words.capital(device), busy, ""


def gpu_groups(run: Run) -> list[tuple[str, Iterator[Fact]]]:
    """One group for each GPU."""
    gpus = run.conditions.gpus
    names = [_("GPU")] if len(gpus) == 1 else [_("GPU {index}", index=used.index) for used in gpus]
    return [(name, gpu(run, used)) for name, used in zip(names, gpus, strict=True)]


def gpu(run: Run, used: GpuUse) -> Iterator[Fact]:
    """What its driver told of one GPU."""
    yield _("Name"), used.name, ""
    yield from fact(_("A kernel running"), used.busy, _of_the_time)
    if used.peak_memory_bytes is not None:
        whole = words.amount(used.memory_bytes) if used.memory_bytes is not None else ""
        own = used.own_peak_memory_bytes
        remark = _("{size} of it its own", size=words.amount(own)) if own is not None else ""
        yield _("GPU memory"), _of(words.amount(used.peak_memory_bytes), whole), remark
    clocks = ((_("cores"), used.sm_hertz), (_("memory"), used.memory_hertz))
    speeds = [words.unbroken(f"{name} {format_number(hertz / 1e6)} MHz") for name, hertz in clocks if hertz is not None]
    if speeds:
        yield _("Clocks"), words.row(speeds), _("median")
    for reason, share in used.held_back.items():
        yield _("Clocks lowered"), _of_the_time(share), clock_reason_in_words(reason)
    if used.watts is not None:
        joules = _("{number} J", number=format_number(used.joules)) if used.joules is not None else ""
        energy = words.a_sample(joules, run.sample_unit) if joules else ""
        yield _("Power"), f"{format_number(used.watts)} W", energy
    sampled = "" if used.pcie_counted else _("from 20 ms of each half second")
    for label, moved in ((_("PCIe, to it"), used.received_bytes), (_("PCIe, from it"), used.sent_bytes)):
        yield from fact(label, moved, lambda size: words.a_sample(words.volume(size), run.sample_unit), sampled)
    if used.others:
        yield _("Others on it"), words.row(used.others), _of_the_time(used.shared)


def memory(run: Run) -> Iterator[Fact]:
    """The highest of each kind, which need not have been at one time, and whether it went on growing."""
    cap = memory_size(run.configuration)
    yield from fact(_("Highest"), run.memory.peak_memory_bytes, lambda peak: _of(words.amount(peak), cap))
    yield from fact(_("Anonymous"), run.memory.peak_anonymous_bytes, words.amount)
    yield from fact(_("Page cache"), run.memory.peak_page_cache_bytes, words.amount)
    yield from fact(_("Kernel"), run.memory.peak_kernel_bytes, words.amount)
    yield from fact(_("Swap"), run.memory.peak_swap_bytes, words.amount)
    if run.memory.memory_growth is not None:
        yield from _growth(run.memory.memory_growth)


def page_cache(run: Run) -> Iterator[Fact]:
    """How much of the data lay in memory, and what that spared the disk."""
    host = run.conditions
    yield from fact(_("Hit rate"), host.hit_rate, words.percent)
    sizes = [_("{size} before", size=words.amount(host.resident_bytes))] if host.resident_bytes is not None else []
    if host.resident_after_bytes is not None:
        sizes.append(_("{size} after", size=words.amount(host.resident_after_bytes)))
    if sizes:
        size = format_bytes(run.data_set.bytes) if run.data_set is not None and run.data_set.bytes else ""
        yield _("Data resident"), words.row(sizes), _("of {size}", size=size) if size else ""


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
    for index, (label, figure, most) in enumerate(sides):
        counts_bytes = index % 2 == 0
        if counts_bytes and figure == 0:
            yield label, _("nothing"), ""
        elif figure:
            spell, cost = (
                (words.transfer, words.volume(figure)) if counts_bytes else (_per_second, format_number(figure))
            )
            value = _of(spell(figure * rate_), spell(most) if most is not None else "")
            yield label, value, words.a_sample(cost, run.sample_unit)
    yield from fact(_("Asked for"), used.asked_bytes, lambda size: words.a_sample(words.volume(size), run.sample_unit))


def options(run: Run) -> Iterator[Fact]:
    """What the program says it ran with, by the names that a study file has for it."""
    for name, value in run.declared.stated.items():
        yield name, str(value).lower() if isinstance(value, bool) else str(value), ""


def _of_the_time(share: float) -> str:
    return _("{share} of the time", share=words.percent(share))


def _of(text: str, most: str) -> str:
    return _("{value} of {most}", value=text, most=most) if most else text


def _per_second(value: float) -> str:
    return f"{format_number(value)}/s"


def _against(run: Run) -> str:
    """The first epoch beside the rate that counts, which `natural` takes from later epochs alone."""
    if run.throughput is None or not run.throughput.value or run.rate.first_epoch_throughput is None:
        return ""
    ratio = format_number(run.rate.first_epoch_throughput / run.throughput.value)
    later = run.spec.workload.cache == "natural" and all(
        warning.kind is not WarningKind.FIRST_EPOCH for warning in run.warnings
    )
    return _("{ratio} × the later epochs", ratio=ratio) if later else _("{ratio} × the throughput", ratio=ratio)


def _growth(growth: MemoryGrowth) -> Iterator[Fact]:
    slope = growth.anonymous_bytes_per_step
    low, high = words.signed_bytes(slope.low), words.signed_bytes(slope.high)
    rises = not slope.low <= 0 <= slope.high
    seen = _("{size} a step", size=words.signed_bytes(slope.value)) if rises else _("none to be seen")
    over = _("{low} to {high} over {steps} steps", low=low, high=high, steps=words.whole(growth.steps))
    yield _("Anonymous growth"), seen, over
    if growth.rising:
        yield _("At the end"), _("still rising"), ""
    yield _("Page cache growth"), _("{size} a step", size=words.signed_bytes(growth.page_cache_bytes_per_step)), ""
