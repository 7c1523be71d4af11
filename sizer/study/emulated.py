"""The disks and GPUs of a study file, with the figures that it or a catalogue gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sizer.records.device import GIVEN_IN_STUDY, BatchRate, Device, DiskRates
from sizer.records.kinds import IMPORTED
from sizer.records.messages import InputError
from sizer.records.study import DiskTier, Workload
from sizer.records.units import MB
from sizer.study.axes import read_size
from sizer.study.document import Document, Entry
from sizer.study.json_schema import expected, networks_of

if TYPE_CHECKING:
    from sizer.catalog.catalog import Catalog
    from sizer.catalog.rate_estimate import RateEstimate


def read_disks(document: Document, figures: Catalog | None) -> tuple[DiskTier, ...]:
    """The disk tiers of the file; raises InputError for a tier that the catalogue does not have."""
    disks = document.entry("disks")
    return tuple(
        DiskTier(name, path=document.locate(tier)) if isinstance(tier, str) else _emulated_tier(disks.at(name), figures)
        for name, tier in disks.data.items()
    )


def _emulated_tier(entry: Entry, figures: Catalog | None) -> DiskTier:
    """A tier with the figures of the file, where writes are as reads unless given, or of the catalogue."""
    name, emulate = str(entry.key[-1]), entry["emulate"]
    size = read_size(entry.document, (*entry.key, "size"), entry["size"]) if "size" in entry else None
    if isinstance(emulate, dict):
        bought = next((key for key in ("iops", "mbps") if key in entry), None)
        if bought is not None:
            raise entry.input_error(
                bought,
                "`{key}` is what one buys of a tier of the catalogue; write read_{key} into `emulate`.",
                key=bought,
            )
        read_iops, read = emulate.get("read_iops"), MB * emulate["read_mbps"]
        write = MB * emulate["write_mbps"] if "write_mbps" in emulate else read
        rates = _in_whole_bytes(DiskRates(read_iops, read, emulate.get("write_iops", read_iops), write))
        return DiskTier(name, None, rates, emulate.get("class"), emulate.get("name"), size)
    if figures is None or size is None:
        raise entry.input_error("", "the catalogue has no figures for {emulate}; write its read_mbps.", emulate=emulate)
    with entry.errors_at():
        offer = figures.disk(emulate)
        mbps = entry.get("mbps")
        rates = _in_whole_bytes(offer.rates(size, entry.get("iops"), None if mbps is None else MB * mbps))
        limited = {field: rate for field, rate in vars(rates).items() if rate is not None}
        written = [("iops", rate) if field.endswith("iops") else ("mbps", rate / MB) for field, rate in limited.items()]
        check_figures(emulate, [*written, ("label", emulate), ("disk_class", offer.disk_class)])
    return DiskTier(name, None, rates, offer.disk_class, emulate, size)


def check_figures(offer: str, figures: Sequence[tuple[str, object]]) -> None:
    """Raise InputError where a catalogue's figure is none that a study file may hold, by a definition of the schema: it
    is written into one."""
    for rule, value in figures:
        must = expected(rule, value)
        if must is not None:
            raise InputError(
                "in the catalogue, {offer} has {value}, but a study file accepts only {must}; use another catalogue.",
                offer=offer,
                value=repr(value),
                must=must,
            )


def _in_whole_bytes(rates: DiskRates) -> DiskRates:
    """A file holds MB/s; only whole bytes come back from there as they were."""
    limited = {name: rate for name, rate in vars(rates).items() if rate is not None}
    return DiskRates(**{name: float(rate if name.endswith("iops") else round(rate)) for name, rate in limited.items()})


def read_devices(
    entry: Entry, workload: Workload, batch_sizes: Sequence[int], counts: Sequence[int], figures: Catalog | None
) -> tuple[Device, ...]:
    """The device of a workload, or those of its list, with what several lose to each other where `counts` has such.

    Raises InputError where two have one name, or one has no figures; see below."""
    listed = entry.get("device")
    numbers: Sequence[int | None] = range(len(listed)) if isinstance(listed, list) else (None,)
    devices: dict[str, Device] = {}
    for number in numbers:
        device = _read_device(entry, number, workload, batch_sizes, figures)
        if device.kind != "cpu":
            device = _with_scaling(entry, device, counts, workload, figures)
        if device.label in devices:
            raise entry.input_error(
                "device",
                "two devices of the list are named `{name}`; remove one of them, or give it another `gpu`.",
                name=device.gpu or device.label,
            )
        devices[device.label] = device
    return tuple(devices.values())


def _read_device(
    entry: Entry, number: int | None, workload: Workload, batch_sizes: Sequence[int], figures: Catalog | None
) -> Device:
    """The device of a workload, of a list that of this number; raises InputError for a GPU without a published rate
    for its mode and network.

    Of several batch sizes each has its own rate, and the device that of the middle one. A rate that the study file
    gives is that of all of them, unless its `batch_rates` say otherwise.
    """
    listed = entry.get("device", "cpu")
    named, where = (listed, ("device",)) if number is None else (listed[number], ("device", number))
    if isinstance(named, str):
        return Device("cuda", int(named.removeprefix("cuda:"))) if named.startswith("cuda:") else Device()
    emulate = entry.at(*where, "emulate")
    _check_interval(emulate)
    gpu, loss = emulate.get("gpu"), emulate.get("scaling_loss")
    source = None if loss is None else emulate.get("scaling_source", GIVEN_IN_STUDY)
    device = Device("emulated", 0, gpu, scaling_loss=None if loss is None else float(loss), scaling_source=source)
    if "samples_per_second" in emulate or "batch_rates" in emulate:
        return _as_given(emulate, device, batch_sizes)
    if workload.kind == IMPORTED:
        return device
    if figures is None:
        raise entry.input_error("device", "the catalogue has no rate for {gpu}; write its samples_per_second.", gpu=gpu)
    sizes = sorted(batch_sizes)
    with entry.errors_at(*where):
        estimates = [_published(figures, workload, gpu, size, tuple(sizes)) for size in sizes]
    rates = [
        BatchRate(size, estimate.samples_per_second, estimate.source, estimate.low, estimate.high, estimate.basis.value)
        for size, estimate in zip(sizes, estimates, strict=True)
    ]
    middle = len(rates) // 2
    apart = len({rate.samples_per_second for rate in rates}) > 1
    device = replace(device, gpu=estimates[middle].gpu, batch_rates=tuple(rates) if apart else ())
    return device.with_rate(rates[middle])


def _as_given(emulate: Entry, device: Device, batch_sizes: Sequence[int]) -> Device:
    """With the rates of the study file; without one for all, that of the middle batch size is."""
    source = emulate.get("source", GIVEN_IN_STUDY)
    entries = [emulate.at("batch_rates", index) for index in range(len(emulate.get("batch_rates", ())))]
    rates = sorted((_given_rate(entry, source) for entry in entries), key=lambda rate: rate.batch_size)
    for one, other in pairwise(rates):
        if one.batch_size == other.batch_size:
            raise emulate.input_error(
                "batch_rates",
                "`batch_rates` has two rates for a batch of {size}; remove one of them.",
                size=one.batch_size,
            )
    device = replace(device, source=source, batch_rates=tuple(rates))
    if "samples_per_second" in emulate:
        return device.with_rate(_given_rate(emulate, source))
    return replace(device.at_batch(sorted(batch_sizes)[len(batch_sizes) // 2]), batch_rates=device.batch_rates)


def _given_rate(entry: Entry, source: str) -> BatchRate:
    """As the study file says it; of any batch where it names none."""
    _check_interval(entry)
    low, high = (None if entry.get(name) is None else float(entry[name]) for name in ("low", "high"))
    rate = float(entry["samples_per_second"])
    return BatchRate(int(entry.get("batch_size", 1)), rate, entry.get("source", source), low, high, entry.get("basis"))


def _check_interval(entry: Entry) -> None:
    """Raise InputError for an interval that has one end, or that does not hold its rate."""
    rate, low, high = (entry.get(name) for name in ("samples_per_second", "low", "high"))
    ends: tuple[Any, ...] = tuple(end for end in (low, rate, high) if end is not None)
    if (low, high) != (None, None) and (len(ends) < 3 or list(ends) != sorted(ends)):
        raise entry.input_error(
            "low" if low is not None else "high",
            "`low` and `high` are the ends of an interval that holds `samples_per_second`; write both beside it, or "
            "neither.",
        )


def _published(
    figures: Catalog, workload: Workload, gpu: str, batch_size: int, batch_sizes: tuple[int, ...]
) -> RateEstimate:
    """The catalogue's figure for one batch size; raises InputError where it has none that a study file may hold."""
    figure = figures.accelerator_rate(
        workload.rate_mode or "",
        workload.network or "",
        gpu,
        precision=workload.rate_precision,
        batch_size=batch_size,
        framework=workload.framework,
        batch_sizes=batch_sizes,
        networks=networks_of(workload.kind),
    )
    rates = [("rate", rate) for rate in (figure.samples_per_second, figure.low, figure.high)]
    check_figures(gpu, [("printed", figure.gpu), *rates, ("source", figure.source)])
    return figure


def _with_scaling(
    entry: Entry, device: Device, counts: Sequence[int], workload: Workload, figures: Catalog | None
) -> Device:
    """The emulated device with what several of it lose to each other, by the study file or else by the catalogue.

    Raises InputError where the file does not say it and the catalogue does not know the GPU.
    """
    several = [count for count in counts if count > 1]
    is_given = device.kind != "emulated" or device.scaling_loss is not None or workload.kind == IMPORTED
    if is_given or not several:
        return device
    if figures is None or device.gpu is None:
        raise entry.input_error(
            "device",
            "what several of an emulated GPU lose to each other is not known; write it into `emulate`, such as "
            "{example}.",
            example="scaling_loss: 0.05",
        )
    with entry.errors_at("device"):
        loss, source = figures.scaling_loss(workload.rate_mode or "", workload.network or "", device.gpu, several)
        check_figures(device.gpu, [("source", source)])
    return replace(device, scaling_loss=loss, scaling_source=source)
