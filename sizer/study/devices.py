"""The GPUs that a study file emulates, with the rates that it or a catalogue gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from sizer.records.device import GIVEN_IN_STUDY, BatchRate, Device
from sizer.records.errors import InputError
from sizer.records.kinds import IMPORTED, KINDS
from sizer.records.study import Workload
from sizer.study.document import Document, Key
from sizer.study.tiers import AcceleratorFigure, Figures, check_figures
from sizer.study.without_effect import check_sources


def read_device(
    document: Document, key: Key, entry: Any, workload: Workload, batch_sizes: Sequence[int], figures: Figures | None
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
    try:
        found = [_published(figures, workload, gpu, size, tuple(sorted(batch_sizes))) for size in sizes]
    except InputError as error:
        raise document.input_error(key, error) from None
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
    figures: Figures, workload: Workload, gpu: str, batch_size: int | None, batch_sizes: tuple[int, ...]
) -> AcceleratorFigure:
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
    rate = float(figure.samples_per_second)
    ends = [("rate", float(each)) for each in (figure.low, figure.high)]
    check_figures(gpu, [("label", figure.gpu), ("rate", rate), *ends, ("source", figure.source)])
    return figure


def _rate(batch_size: int, figure: AcceleratorFigure) -> BatchRate:
    """With the catalogue's own words for what it follows from."""
    low, high = float(figure.low), float(figure.high)
    return BatchRate(batch_size, float(figure.samples_per_second), figure.source, low, high, figure.basis.value)


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
    figures: Figures | None,
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
    try:
        found = figures.scaling_loss(mode, network or "", device.gpu, several)
        check_figures(device.gpu, [("rate", 1.0), ("source", found.source)])
    except InputError as error:
        raise document.input_error(key, error) from None
    return replace(device, scaling_loss=float(found.loss), scaling_source=found.source)
