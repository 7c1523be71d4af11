"""The disks and GPUs of a study file, with the figures that it or a catalogue gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sizer.records.device import GIVEN_IN_STUDY, HOST_DISK, BatchRate, Device, DiskRates
from sizer.records.kinds import IMPORTED, KINDS
from sizer.records.messages import InputError
from sizer.records.study import DiskTier, Workload
from sizer.records.units import MB
from sizer.study.axes import read_size
from sizer.study.document import Document, Key
from sizer.study.json_schema import expected
from sizer.study.options import check_sources

if TYPE_CHECKING:
    from sizer.catalog.catalog import Catalog
    from sizer.catalog.rate_estimate import RateEstimate


def read_disks(document: Document, figures: Catalog | None) -> tuple[DiskTier, ...]:
    """The disk tiers of the file; raises InputError for a tier that the catalogue does not have."""
    tiers = []
    for name, entry in document.data.get("disks", {}).items():
        key: Key = ("disks", name)
        if name == HOST_DISK:
            raise document.input_error(
                key,
                "`{host_disk}` means the host's own disk; give the tier another name.",
                host_disk=HOST_DISK,
            )
        if isinstance(entry, str):
            tiers.append(DiskTier(name, path=document.locate(entry)))
        else:
            tiers.append(_emulated_tier(document, key, name, entry, figures))
    return tuple(tiers)


def _emulated_tier(document: Document, key: Key, name: str, entry: dict[str, Any], figures: Catalog | None) -> DiskTier:
    size = read_size(document, (*key, "size"), entry["size"]) if "size" in entry else None
    emulate = entry["emulate"]
    if isinstance(emulate, str):
        assert size is not None, "the schema asks for a size beside a name"
        if figures is None:
            raise document.input_error(
                key, "the catalogue has no figures for {emulate}; write its read_mbps.", emulate=emulate
            )
        with document.errors_at(key):
            offer = figures.disk(emulate)
            rates = _in_whole_bytes(offer.rates(size))
            check_figures(emulate, [*_figures(rates), ("label", emulate), ("disk_class", offer.disk_class)])
        return DiskTier(name, None, rates, offer.disk_class, emulate, size)
    return DiskTier(name, None, _rates(emulate), emulate.get("class"), emulate.get("name"), size)


def _figures(rates: DiskRates) -> list[tuple[str, object]]:
    """Each rate with the definition of the schema that it has to keep to."""
    rules = {name: ("iops", 1) if name.endswith("iops") else ("mbps", MB) for name in vars(rates)}
    return [(rules[name][0], count / rules[name][1]) for name, count in vars(rates).items() if count is not None]


def check_figures(offer: str, figures: list[tuple[str, object]]) -> None:
    """Raise InputError where a catalogue's figure is none that a study file may hold: it is written into one."""
    for rule, value in figures:
        must = expected(rule, value)
        if must is not None:
            raise InputError(
                "in the catalogue, {offer} has {value}, but a study file accepts only {must}; use another catalogue.",
                offer=offer,
                value=repr(value),
                must=must,
            )


def _rates(emulate: dict[str, Any]) -> DiskRates:
    """A tier's write limits equal its read limits unless given."""
    read_iops, read_mbps = emulate.get("read_iops"), emulate["read_mbps"]
    write_iops, write_mbps = emulate.get("write_iops", read_iops), emulate.get("write_mbps", read_mbps)
    return _in_whole_bytes(DiskRates(read_iops, read_mbps * MB, write_iops, write_mbps * MB))


def _in_whole_bytes(rates: DiskRates) -> DiskRates:
    """A file holds MB/s; only whole bytes come back from there as they were."""

    whole = {
        name: count if count is None else float(round(count) if name.endswith("bytes_per_second") else count)
        for name, count in vars(rates).items()
    }
    return DiskRates(**whole)


def read_device(
    document: Document, key: Key, entry: Any, workload: Workload, batch_sizes: Sequence[int], figures: Catalog | None
) -> Device:
    """The device of a workload; raises InputError for a GPU without a published rate for its mode and network.

    Of several batch sizes each has its own rate, and the device that of the middle one. A rate that the study file
    gives is that of all of them, unless its `batch_rates` say otherwise.
    """
    if isinstance(entry, str):
        return Device("cuda", int(entry.removeprefix("cuda:"))) if entry.startswith("cuda:") else Device()
    emulate = entry["emulate"]
    gpu, loss = emulate.get("gpu"), emulate.get("scaling_loss")
    scaling = (None, None) if loss is None else (float(loss), emulate.get("scaling_source", GIVEN_IN_STUDY))
    given = "samples_per_second" in emulate or "batch_rates" in emulate
    if gpu is None and not given:
        raise document.input_error(
            (*key, "emulate"), "an emulated GPU needs `gpu`, such as P100, or `samples_per_second`."
        )
    check_sources(document, (*key, "emulate"), emulate)
    _check_interval(document, (*key, "emulate"), emulate)
    if given:
        return _as_given(document, key, emulate, batch_sizes, scaling)
    if workload.kind == IMPORTED:
        return Device("emulated", 0, gpu)
    if workload.mode is not None and workload.mode != KINDS[workload.kind].mode:
        raise document.input_error(
            key,
            "no rate of {gpu} is published for `mode: {mode}` of {kind}; write its samples_per_second.",
            gpu=gpu,
            mode=workload.mode,
            kind=workload.kind,
        )
    if figures is None:
        raise document.input_error(key, "the catalogue has no rate for {gpu}; write its samples_per_second.", gpu=gpu)
    sizes = tuple(sorted(batch_sizes)) or (None,)
    with document.errors_at(key):
        found = [_published(figures, workload, gpu, size, tuple(sorted(batch_sizes))) for size in sizes]
    middle = found[len(found) // 2]
    rates = [_rate(size, each) for size, each in zip(sizes, found, strict=True) if size is not None]
    device = Device("emulated", 0, middle.gpu, None, None, *scaling)
    return replace(device.with_rate(_rate(1, middle)), batch_rates=_apart(rates))


def _as_given(
    document: Document,
    key: Key,
    emulate: dict[str, Any],
    batch_sizes: Sequence[int],
    scaling: tuple[float | None, str | None],
) -> Device:
    """With the rates of the study file; without one for all, that of the middle batch size is.

    Raises InputError for two rates of one batch size.
    """
    source = emulate.get("source", GIVEN_IN_STUDY)
    for index, each in enumerate(emulate.get("batch_rates", ())):
        _check_interval(document, (*key, "emulate", "batch_rates", index), each)
    given = (_given_rate(each, source) for each in emulate.get("batch_rates", ()))
    rates = sorted(given, key=lambda each: each.batch_size)
    for one, other in pairwise(rates):
        if one.batch_size == other.batch_size:
            raise document.input_error(
                (*key, "emulate", "batch_rates"),
                "`batch_rates` has two rates for a batch of {size}; remove one of them.",
                size=one.batch_size,
            )
    device = Device("emulated", 0, emulate.get("gpu"), None, source, *scaling)
    device = replace(device, batch_rates=tuple(rates))
    if "samples_per_second" in emulate:
        return device.with_rate(_given_rate({**emulate, "batch_size": 1}, source))
    middle = device.at_batch(sorted(batch_sizes)[len(batch_sizes) // 2])
    return replace(middle, batch_rates=device.batch_rates)


def _given_rate(each: dict[str, Any], source: str) -> BatchRate:
    """As the study file says it."""
    low, high = (None if each.get(name) is None else float(each[name]) for name in ("low", "high"))
    rate = float(each["samples_per_second"])
    return BatchRate(int(each["batch_size"]), rate, each.get("source", source), low, high, each.get("basis"))


def _check_interval(document: Document, key: Key, each: dict[str, Any]) -> None:
    """Raise InputError for an interval that has one end, or that does not hold its rate."""
    rate, low, high = (each.get(name) for name in ("samples_per_second", "low", "high"))
    if low is None and high is None:
        return
    if low is None or high is None or rate is None or not low <= rate <= high:
        raise document.input_error(
            (*key, "low" if low is not None else "high"),
            "`low` and `high` are the ends of an interval that holds `samples_per_second`; write both beside it, or "
            "neither.",
        )


def _published(
    figures: Catalog, workload: Workload, gpu: str, batch_size: int | None, batch_sizes: tuple[int, ...]
) -> RateEstimate:
    """The catalogue's figure for one batch size; raises InputError where it has none that a study file may hold."""
    figure = figures.accelerator_rate(
        KINDS[workload.kind].rate_mode or "",
        workload.network or "",
        gpu,
        precision=workload.rate_precision,
        batch_size=batch_size,
        framework=workload.framework,
        batch_sizes=batch_sizes,
    )
    rates = [("rate", rate) for rate in (figure.samples_per_second, figure.low, figure.high)]
    check_figures(gpu, [("label", figure.gpu), *rates, ("source", figure.source)])
    return figure


def _rate(batch_size: int, figure: RateEstimate) -> BatchRate:
    """With the catalogue's own words for what it follows from."""
    rate, basis = figure.samples_per_second, figure.basis.value
    return BatchRate(batch_size, rate, figure.source, figure.low, figure.high, basis)


def _apart(rates: Sequence[BatchRate]) -> tuple[BatchRate, ...]:
    """Those that differ; none where one rate is that of all batch sizes."""
    return tuple(rates) if len({each.samples_per_second for each in rates}) > 1 else ()


def with_scaling(
    document: Document,
    key: Key,
    device: Device,
    counts: Sequence[int],
    kind: str,
    network: str | None,
    figures: Catalog | None,
) -> Device:
    """The emulated device with what several of it lose to each other, by the study file or else by the catalogue.

    Raises InputError where the file does not say it and the catalogue does not know the GPU.
    """
    several = [count for count in counts if count > 1]
    if device.kind != "emulated" or not several or device.scaling_loss is not None or kind == IMPORTED:
        return device
    mode = KINDS[kind].rate_mode or ""
    if figures is None or device.gpu is None:
        raise document.input_error(
            key,
            "what several of an emulated GPU lose to each other is not known; write it into `emulate`, such as "
            "{example}.",
            example="scaling_loss: 0.05",
        )
    with document.errors_at(key):
        found = figures.scaling_loss(mode, network or "", device.gpu, several)
        check_figures(device.gpu, [("source", found.source)])
    return replace(device, scaling_loss=found.loss, scaling_source=found.source)
