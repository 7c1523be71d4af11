"""What one run's figures rest on: groups of label, value and remark, without what was not accounted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sizer.records import Bottleneck, DiskRates, MemoryGrowth, Run, WarningKind

from . import formatting, results, words

Fact = tuple[str, str, str]
"""Label, value, and what must be known of it."""

STALLS = {"cpu_stall": "CPU", "memory_stall": "memory", "io_stall": "disk"}


def groups(run: Run) -> list[dict[str, Any]]:
    """The groups that have anything to say, each a title and its facts."""
    parts = {
        "Rate": rate(run),
        "Waiting": waiting(run),
        "Processor": processor(run),
        "Memory": memory(run),
        "Page cache": page_cache(run),
        "Disk": disk(run),
    }
    found = {title: list(facts) for title, facts in parts.items()}
    return [{"title": title, "facts": facts} for title, facts in found.items() if facts]


def rate(run: Run) -> Iterator[Fact]:
    """The throughput with its interval, in how far it held, and how it was taken."""
    unit, throughput = run.sample_unit, run.throughput
    if throughput is not None and results.measured(run):
        yield "Throughput", formatting.rate_interval(throughput, unit), formatting.half_width(throughput)
    if run.rate_change is not None:
        before, after = run.rate_change.before, run.rate_change.after
        told = f"{formatting.rate_interval(before, unit)}, then {formatting.rate_interval(after, unit)}"
        yield "Two rates", told, f"fell after {formatting.format_seconds(run.rate_change.seconds)}"
    if run.first_epoch_throughput is not None:
        yield "First epoch", formatting.format_rate(run.first_epoch_throughput, unit), _against(run)
    if run.latency_p50 is not None:
        p99 = f", p99 {formatting.milliseconds(run.latency_p99)}" if run.latency_p99 is not None else ""
        yield "Latency of a batch", f"median {formatting.milliseconds(run.latency_p50)}{p99}", ""
    if run.warm_up_seconds is not None:
        yield "Warm-up", formatting.format_seconds(run.warm_up_seconds), ""
    if run.measured_seconds is not None:
        yield (
            "Measured",
            formatting.format_seconds(run.measured_seconds),
            words.STOPPED.get(run.stopped or "", run.stopped or ""),
        )
    if run.overhead is not None:
        yield "sizer's own use", formatting.small_percent(run.overhead), ""


def waiting(run: Run) -> Iterator[Fact]:
    """For input by the loop's own clock, and for each resource by the kernel's pressure accounting."""
    used, throughput = run.demand, run.throughput
    if used is None or throughput is None:
        return
    if used.input_wait is not None:
        each = formatting.a_sample(formatting.brief(used.input_wait), run.sample_unit)
        yield "For input", f"{formatting.percent(used.input_wait * throughput.value)} of the time", each
    stalls = {name: getattr(used, field) for field, name in STALLS.items()}
    known = [(name, each * throughput.value) for name, each in stalls.items() if each is not None]
    if known:
        yield (
            "Stalled",
            ", ".join(formatting.unbroken(f"{name} {formatting.percent(each)}") for name, each in known),
            "",
        )


def processor(run: Run) -> Iterator[Fact]:
    """Core-seconds and what stood in their way; the accelerator's time."""
    used, throughput = run.demand, run.throughput
    if used is not None and throughput is not None and used.core_seconds is not None:
        cores = formatting.format_number(used.core_seconds * throughput.value)
        each = formatting.a_sample(f"{formatting.format_number(used.core_seconds * 1000)} core-ms", run.sample_unit)
        vcpus = run.configuration.vcpus
        whole = f" of {formatting.format_vcpus(vcpus)}" if vcpus is not None else ""
        yield "Cores used", f"{cores}{whole}", each
    if run.throttled is not None:
        yield "Throttled", f"{formatting.percent(run.throttled)} of quota periods", ""
    if run.other_cores is not None:
        yield "Others on this host", f"{run.other_cores:.2f} cores", ""
    if run.stolen_cores is not None:
        yield "Stolen by the hypervisor", f"{run.stolen_cores:.2f} cores", ""
    if used is not None and used.accelerator_seconds is not None:
        device = words.bottleneck(Bottleneck.ACCELERATOR, run.spec.workload.computes_on)
        busy = formatting.a_sample(formatting.brief(used.accelerator_seconds), run.sample_unit)
        yield formatting.capital(device), busy, ""


def memory(run: Run) -> Iterator[Fact]:
    """The highest of each kind, which need not have been at one time, and whether it went on growing."""
    peaks = {
        "Highest": run.peak_memory_bytes,
        "Anonymous": run.peak_anonymous_bytes,
        "Page cache": run.peak_page_cache_bytes,
        "Kernel": run.peak_kernel_bytes,
        "Swap": run.peak_swap_bytes,
    }
    cap = f" of {words.memory(run.configuration)}" if run.configuration.memory_bytes is not None else ""
    for label, peak in peaks.items():
        if peak is not None:
            yield label, formatting.amount(peak) + (cap if label == "Highest" else ""), ""
    if run.memory_growth is not None:
        yield from _growth(run.memory_growth)


def page_cache(run: Run) -> Iterator[Fact]:
    """How much of the data lay in memory, and what that spared the disk."""
    if run.hit_rate is not None:
        yield "Hit rate", formatting.percent(run.hit_rate), ""
    resident = {"before": run.resident_bytes, "after": run.resident_after_bytes}
    known = [f"{formatting.amount(each)} {when}" for when, each in resident.items() if each is not None]
    if known:
        size = formatting.format_bytes(run.data_set.bytes) if run.data_set is not None and run.data_set.bytes else ""
        yield "Data resident", ", ".join(known), f"of {size}" if size else ""


def disk(run: Run) -> Iterator[Fact]:
    """Bytes and IOs, as a rate beside what the tier gives and a sample."""
    if run.demand is None or run.throughput is None:
        return
    given, used, rate_ = run.disk.rates if run.disk is not None else DiskRates(), run.demand, run.throughput.value
    sides = (
        ("Read", used.read_bytes, given.read_bytes_per_second, used.read_ios, given.read_iops),
        ("Written", used.written_bytes, given.write_bytes_per_second, used.write_ios, given.write_iops),
    )
    for label, volume, most, ios, most_ios in sides:
        if volume is not None:
            each = formatting.a_sample(formatting.volume(volume), run.sample_unit) if volume else ""
            yield (
                label,
                _of(formatting.transfer(volume * rate_), most, formatting.transfer) if volume else "nothing",
                each,
            )
        if ios:
            each = formatting.a_sample(formatting.format_number(ios), run.sample_unit)
            yield f"{label}, IOs", _of(f"{formatting.format_number(ios * rate_)}/s", most_ios, _per_second), each
    if used.asked_bytes is not None:
        yield "Asked for", formatting.a_sample(formatting.volume(used.asked_bytes), run.sample_unit), ""


def _of(text: str, most: float | None, spell: Any) -> str:
    return text if most is None else f"{text} of {spell(most)}"


def _per_second(value: float) -> str:
    return f"{formatting.format_number(value)}/s"


def _against(run: Run) -> str:
    """The first epoch beside the rate that counts, which `natural` takes from later epochs alone."""
    if run.throughput is None or not run.throughput.value or run.first_epoch_throughput is None:
        return ""
    ratio = formatting.format_number(run.first_epoch_throughput / run.throughput.value)
    later = run.spec.workload.cache == "natural" and all(
        warning.kind is not WarningKind.FIRST_EPOCH for warning in run.warnings
    )
    return f"{ratio} × {'the later epochs' if later else 'the throughput'}"


def _growth(growth: MemoryGrowth) -> Iterator[Fact]:
    slope = growth.anonymous_bytes_per_step
    interval = f"{formatting.signed_bytes(slope.low)} to {formatting.signed_bytes(slope.high)}"
    seen = f"{formatting.signed_bytes(slope.value)} a step" if not slope.low <= 0 <= slope.high else "none to be seen"
    yield "Anonymous growth", seen, f"{interval} over {formatting.count(growth.steps)} steps"
    if growth.rising:
        yield "At the end", "still rising", ""
    yield "Page cache growth", f"{formatting.signed_bytes(growth.page_cache_bytes_per_step)} a step", ""
