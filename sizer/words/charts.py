"""What charts say: their ceilings, where the time of a sample goes, and what pointing at a place tells."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.device import Device
from sizer.records.kinds import LANGUAGE, PREPROCESSING
from sizer.records.prediction import Prediction
from sizer.records.study import Study
from sizer.records.units import format_bytes, format_seconds
from sizer.words.figures import brief, paragraph, rate_interval
from sizer.words.language import _, _n
from sizer.words.names import accelerators_name, clauses, gpu_name, listed, resource_name
from sizer.words.page import batch_named, configuration_line, study_disk
from sizer.words.units import a_sample, percent, rate_in_words, vcpus_in_words


def place_named(axis: str, configuration: Configuration, study: Study) -> str:
    """Where on an axis of a chart a configuration lies: `2 vCPUs`, `4 GiB`, `batch 32`; '' where it does not say."""
    value = configuration
    if axis == "vcpus" and value.vcpus is not None:
        return vcpus_in_words(value.vcpus)
    if axis == "memory_bytes" and value.memory_bytes is not None:
        return format_bytes(value.memory_bytes)
    if axis == "batch_size" and value.batch_size is not None:
        return batch_named(value.batch_size)
    return study_disk(value.disk, study) if axis == "disk" and value.disk is not None else ""


def ceiling_named(name: str, throughput: float, unit: str) -> str:
    """A line of what one resource would allow: `emulated P100 alone: 219 images/s`."""
    return _("{resource} alone: {rate}", resource=name, rate=rate_in_words(throughput, unit))


def ceilings_above(names: Sequence[str]) -> str:
    """What lies too high to be drawn."""
    return _("Above this picture: {ceilings}.", ceilings=clauses(names))


def disk_ceiling(throughput: float, memory_bytes: int | None, unit: str) -> str:
    """Beside what a tier gives: how many samples a second that is, at what a sample was seen to need of it.

    With a memory size where the page cache serves another share of the data with each.
    """
    rate = rate_in_words(throughput, unit)
    if memory_bytes is None:
        return _("enough for {rate}", rate=rate)
    return _("enough for {rate} with {memory} of memory", memory=format_bytes(memory_bytes), rate=rate)


def knee_named(share: float, place: str) -> str:
    """From where on more pays little."""
    return _("{share} of the highest, from {place}", share=percent(share), place=place)


def floor_named(killed: int, completed: int) -> str:
    """Where the memory floor lies: between a cap at which runs were killed and one at which they completed."""
    return _("memory floor: {low} to {high}", low=format_bytes(killed), high=format_bytes(completed))


def cache_fit_named(size: float) -> str:
    return _("data fit into memory: {size}", size=format_bytes(size))


def time_axis(unit: str, scale: str) -> str:
    """What the axis of a sample's time is called: `where the time goes, ms an image (model)`."""
    return _("where the time goes, {time} (model)", time=a_sample(scale, unit))


def time_part(part: str, seconds: float, whole: float, unit: str, place: str) -> str:
    """`CPU at 0.5 vCPU: 4.48 ms of 5.45 ms an image (82 %), by the model`."""
    return _(
        "{resource} at {place}: {time} of {whole} ({share}), by the model",
        resource=part,
        place=place,
        time=brief(seconds),
        whole=a_sample(brief(whole), unit),
        share=percent(seconds / whole),
    )


def stage_of_time(bottleneck: Bottleneck, device: Device, kind: str, part: str) -> str:
    """What takes the time of a sample, by its work; `part` of the CPU's is the `input`, the `step`, or '' for both."""
    if bottleneck is Bottleneck.CPU:
        return _cpu_work(kind, part)
    if bottleneck is Bottleneck.ACCELERATOR:
        return _("compute ({accelerator})", accelerator=resource_name(bottleneck, device))
    return {
        Bottleneck.DISK_BANDWIDTH: _("disk wait (bandwidth)"),
        Bottleneck.DISK_IOPS: _("disk wait (IOPS)"),
        Bottleneck.DISK_WRITE: _("disk writing"),
        Bottleneck.SERIAL: _("serial part, which no vCPU shortens"),
    }.get(bottleneck) or resource_name(bottleneck, device)


def _cpu_work(kind: str, part: str) -> str:
    """What the CPU does in a workload of this kind."""
    if part == "step" or kind in LANGUAGE:
        return _("compute (CPU)")
    if kind == PREPROCESSING:
        return _("decode, resize and encode (CPU)")
    if kind == "image_training":
        return _("decode and augment (CPU)") if part else _("decode, augment and compute (CPU)")
    if kind == "image_inference":
        return _("decode (CPU)") if part else _("decode and compute (CPU)")
    return _("CPU")


def stop_line(
    label: str, measured: Estimate | None, runs: int, modelled: Estimate | None, extrapolated: bool, unit: str
) -> str:
    """What is known of one series at one place: what was measured, what the model says."""
    parts = []
    if measured is not None:
        rate = rate_interval(measured, unit)
        parts.append(_n("measured {rate}, {count} run", "measured {rate}, {count} runs", runs, rate=rate))
    if modelled is not None:
        rate = rate_interval(modelled, unit)
        parts.append(_("extrapolated {rate}", rate=rate) if extrapolated else _("model {rate}", rate=rate))
    said = clauses(parts)
    return _("{series}: {said}", series=label, said=said) if label and said else said


def gpu_named(label: str) -> str:
    """A kind of accelerator: `V100`, `emulated P100`."""
    return gpu_name(label)


def accelerators_scaled(label: str, count: int, rate: Estimate, fewest: int, efficiency: float, unit: str) -> str:
    """`4 x V100: 1,420 images/s (1,400–1,440), 91 % of 4 times what 1 gives`."""
    named = {"accelerators": accelerators_name(label, count), "rate": rate_interval(rate, unit)}
    if count == fewest:
        return _("{accelerators}: {rate}", **named)
    return _(
        "{accelerators}: {rate}, {efficiency} of perfect scaling from {fewest}",
        **named,
        efficiency=percent(efficiency),
        fewest=fewest,
    )


def bound_by(bottleneck: Bottleneck, device: Device) -> str:
    """What binds in a word that a cell of a map has room for; the legend beside it says more.

    What was emulated is not called by its name, for which the word emulated would have to stand there, too.
    """
    if bottleneck is Bottleneck.ACCELERATOR:
        return device.gpu if device.gpu and device.kind != "emulated" else _("GPU")
    return {
        Bottleneck.CPU: _("CPU"),
        Bottleneck.SERIAL: _("serial"),
        Bottleneck.DISK_BANDWIDTH: _("disk"),
        Bottleneck.DISK_IOPS: _("IOPS"),
        Bottleneck.DISK_WRITE: _("writes"),
        Bottleneck.MEMORY: _("memory"),
        Bottleneck.AMBIGUOUS: _("unclear"),
    }[bottleneck]


def map_cell(prediction: Prediction, measured: Estimate | None, study: Study, device: Device, unit: str) -> str:
    """What pointing at a place of the map tells: the configuration, its rate by the model and as measured, what binds
    and how strongly."""
    where = configuration_line(prediction.configuration, study)
    told = [_("model {rate}", rate=rate_interval(prediction.throughput, unit))]
    if measured is not None:
        told.append(_("measured {rate}", rate=rate_interval(measured, unit)))
    if prediction.out_of_memory:
        return _("{configuration}: out of memory", configuration=where)
    return "\n".join([where, clauses(told), *_shares(prediction, device)])


def map_read(unit: str, fixed: str) -> str:
    """What the numbers of the map are, and what holds for all of its places; '' where nothing is said of that."""
    numbers = _(
        "The first number is {unit} by the model, the one beside a point the median of the runs there.", unit=unit
    )
    return paragraph([numbers, _("At {fixed}.", fixed=fixed) if fixed else ""])


def disks_not_told_apart(disks: Sequence[str], places: Sequence[str]) -> str:
    """Disks whose rates differ by chance alone; at these places, or wherever they were compared where none is named."""
    if places:
        named = clauses(places) if any(", " in place for place in places) else listed(places)
        return _("At {places} the runs do not tell {disks} apart.", places=named, disks=listed(disks))
    return _("The runs do not tell {disks} apart.", disks=listed(disks))


def _shares(prediction: Prediction, device: Device) -> list[str]:
    known = sorted(prediction.shares.items(), key=lambda item: -item[1])
    names = [resource_name(Bottleneck(name), device) for name, _share in known]
    named = [
        _("{resource} {share}", resource=name, share=percent(share))
        for name, (_key, share) in zip(names, known, strict=True)
        if share >= 0.05
    ]
    return [_("binds: {resources}", resources=listed(named))] if named else []


def chart_described(runs: int, failed: int, low: float, high: float, unit: str) -> str:
    """What a chart shows, for a reader who does not see it."""
    said = _n(
        "{count} measured run, from {low} to {high}.",
        "{count} measured runs, from {low} to {high}.",
        runs,
        low=rate_in_words(low, unit),
        high=rate_in_words(high, unit),
    )
    if failed:
        said = paragraph([said, _n("{count} run failed.", "{count} runs failed.", failed)])
    return said


_TIMES = ((180.0, 1.0), (3 * 3600.0, 60.0), (72 * 3600.0, 3600.0))
"""Up to which time an axis counts in what: seconds, minutes, hours; beyond, days."""


def time_of_measuring(longest: float) -> tuple[float, str]:
    """The unit of an axis of time that is so many seconds long, in seconds, and what the axis is called."""
    unit = next((unit for most, unit in _TIMES if longest <= most), 86400.0)
    return unit, {
        1.0: _("seconds of measuring"),
        60.0: _("minutes of measuring"),
        3600.0: _("hours of measuring"),
        86400.0: _("days of measuring"),
    }[unit]


def time_later(seconds: float) -> str:
    """Where a study went on after it stood still for so long: `2 h 03 min later`."""
    return _("{time} later", time=format_seconds(seconds))


def runs_over_time(points: int, runs: int, rests: int) -> str:
    """What a picture over time shows, for a reader who does not see it."""
    said = _n("{count} run", "{count} runs", runs)
    shown = _n("{runs}, {count} of them with its rate.", "{runs}, {count} of them with their rates.", points, runs=said)
    if rests:
        still = _n("The study stood still {count} time.", "The study stood still {count} times.", rests)
        shown = paragraph([shown, still])
    return shown
