"""A fitted model in words: its parameters, what one sample costs, its predictions, and what the page asks of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from sizer.model.model import Parameter, Quantity, Source, WhatIf, WorkloadModel, name_of_disk
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import (
    Bottleneck,
    Configuration,
    Estimate,
    Prediction,
    Reason,
    ReasonCode,
    Refusal,
    reason,
)
from sizer.records.units import RELATIVE, format_number, format_price, rate_unit
from sizer.words import language, names
from sizer.words.language import Sentence, Templates, _, capital, clauses, paragraph, without_marks
from sizer.words.names import Terms, resource_name, terms_of
from sizer.words.reasons.phrasing import reason_sentence, refusal_sentences

# What its runs showed.


def model_summary(model: WorkloadModel) -> str:
    """What one sample costs, and where more vCPUs stop paying; empty for a model that was refused."""
    scaling = reason_sentence(model.scaling, terms_of(model)) if model.scaling is not None else ""
    return paragraph([_cost(model) if scaling else "", scaling])


def model_line(model: WorkloadModel) -> str:
    """A workload with what its runs showed, or why it has no model."""
    refused = model.refused
    summary = model_summary(model) if refused is None else refusal_sentences(refused, terms_of(model))
    return _("{workload}: {summary}", workload=model.name, summary=summary)


def _cost(model: WorkloadModel) -> str:
    facts = model.facts
    costs = (
        _("[[{facts.core_seconds:time} of CPU]]", facts=facts),
        _("[[{size:volume} of disk reading]]", size=facts.read_bytes if (facts.read_bytes or 0) > 1 else None),
        _("[[{size:volume} of disk writing]]", size=facts.written_bytes if (facts.written_bytes or 0) > 1 else None),
        _(
            "[[{time:time} of the {accelerator}]]",
            time=1 / facts.accelerator_rate if facts.accelerator_rate else None,
            accelerator=names.accelerator_name(facts.device),
        ),
    )
    return _("[[One {unit:unit} costs {costs:and}.]]", unit=model.sample_unit, costs=[*filter(None, costs)])


_Q = Quantity
_PARAMETERS: Templates[Quantity, str] = {
    _Q.CPU_TIME: "CPU time",
    _Q.BYTES_READ: "bytes read",
    _Q.READS: "reads",
    _Q.BYTES_WRITTEN: "bytes written",
    _Q.WRITES: "writes",
    _Q.WORKER_WAIT: "wait of a worker for {disk}",
    _Q.RATE_OF_ONE_VCPU: "parallel rate of one vCPU",
    _Q.STEP_CPU_TIME: "CPU time of the step alone",
    _Q.CONTENTION: "loss by each further vCPU",
    _Q.COHERENCE: "loss by each pair of vCPUs",
    _Q.HANDOVER: "cost as soon as there are several vCPUs",
    _Q.YIELD: "what the second hyperthread of a core adds",
    _Q.FRACTION_COST: "CPU time with a fraction of a vCPU, relative to a whole one",
    _Q.SERIAL_CEILING: "serial ceiling",
    _Q.ACCELERATOR_RATE: "{accelerator}",
    _Q.GPU_LOSS: "loss of several accelerators",
    _Q.LAUNCH_COST: "launch cost of a step, relative to a batch of {batch}",
    _Q.OVERLAP_EXPONENT: "overlap exponent",
    _Q.MEMORY_HELD: "memory that the job holds",
    _Q.MEMORY_OF_DATA: "memory that would hold all data",
    _Q.MEMORY_PRESSURE: "slowing where as much memory is free as is held",
    _Q.DISK_CAPACITY: "most from {disk}",
}
_SOURCES: Templates[Source, str] = {
    Source.ACCOUNTING: "accounting",
    Source.DATA_SET: "data set",
    Source.FIT: "fit",
}


def source_of(parameter: Parameter) -> str:
    """Where it comes from, and how likely it is there at all where that is a question."""
    source = _(_SOURCES[parameter.source])
    if parameter.probability is None:
        return source
    return _("{source}; there with {likely:share}", source=source, likely=parameter.probability)


def parameter_name(parameter: Parameter, model: WorkloadModel) -> str:
    """What a parameter of the model is."""
    return _(
        _PARAMETERS[parameter.quantity],
        batch=model.facts.reference_batch,
        disk=names.disk_in_words(parameter.of or ""),
        accelerator=parameter.of or names.accelerator_name(model.facts.device),
    )


def parameter_value(parameter: Parameter, model: WorkloadModel) -> str:
    """`0.00312 core-seconds an image`, `219 images/s`, `0.93`."""
    value, unit = format_number(parameter.value), model.sample_unit
    if parameter.unit == rate_unit(unit):
        return language.rate_in_words(parameter.value, unit)
    counted = {
        "core-seconds": _("{number} core-seconds", number=value),
        "seconds": f"{value} s",
        "bytes": f"{value} B",
        "IOs": f"{value} IO",
    }.get(parameter.unit.removesuffix(f"/{unit}"))
    return value if counted is None else language.a_sample(counted, unit)


def parameter_line(parameter: Parameter, model: WorkloadModel) -> str:
    """`CPU time: 0.00312 core-seconds an image (0.003 to 0.0032), accounting`."""
    low, value, high = map(format_number, (parameter.low, parameter.value, parameter.high))
    return _(
        "{name}: {value}[[ ({low} to {high})]], {source}",
        name=parameter_name(parameter, model),
        value=parameter_value(parameter, model),
        low="" if low == value == high else low,
        high=high,
        source=source_of(parameter),
    )


equation_sentence = Sentence(
    "A sample takes the p-norm of its seconds at each stage: p = 1 is one stage after the other, a "
    "large p that they overlap."
)
left_out_sentence = Sentence(
    "Each of {count} configurations was predicted by a fit to the others: half of the predictions "
    "were off by {middle:apart} or less, the worst by {worst:apart} ({where})."
)
"""How well configurations were predicted that the fit did not know; the errors are relative ones."""


# Predictions: one line each, the configurations that they are of, and what they assume.


def prediction_line(prediction: Prediction, configuration: str, terms: Terms) -> str:
    """`train at 2 vCPUs, 8 GiB: 219 images/s (205 images/s to 233 images/s), bound by the CPU, extrapolated`."""
    rate, lost = prediction.throughput, prediction.out_of_memory
    return _(
        "{one.workload} at {configuration}: [[lost?out of memory]][[rate?{rate} ({low} to {high}), "
        "{one.bottleneck:bound/terms.device}]][[beyond?, extrapolated]]",
        one=prediction,
        configuration=configuration,
        terms=terms,
        lost=lost,
        rate="" if lost else language.rate_in_words(rate.value, terms.unit),
        low=language.rate_in_words(rate.low, terms.unit),
        high=language.rate_in_words(rate.high, terms.unit),
        beyond=prediction.extrapolated and not lost,
    )


no_prediction_line = Sentence("{workload} at {configuration}: no prediction. {why}")
assumed_line = Sentence("{prediction}; assumed: {assumed}")


def elsewhere_table(forms: Sequence[Mapping[str, Any]], remarks: Sequence[Sequence[str]], terms: Terms) -> list[str]:
    """A line for each instance type of `predict --on --json`, in columns, then each remark with the types it is of."""
    rows = [_elsewhere_row(form, terms) for form in forms]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    types: dict[str, list[str]] = defaultdict(list)
    for form, texts in zip(forms, remarks, strict=True):
        for text in filter(None, texts):
            types[text].append(form["on"])
    return [*lines, *(_("{names}: {why}", names=language.row(names), why=text) for text, names in types.items())]


def _elsewhere_row(form: Mapping[str, Any], terms: Terms) -> tuple[str, ...]:
    lost, none = bool(form["out_of_memory"]), form["throughput"] is None
    rate = None if lost or none else Estimate(form["throughput"], form["low"], form["high"])
    price = "" if form["price_per_hour"] is None else format_price(form["price_per_hour"], form["currency"])
    day = names.day_of_price(form["as_of"], date.today())
    values = {**form, "rate": rate, "unit": terms.unit, "price": price, "day": day, "lost": lost, "none": none}
    values["beyond"] = form["extrapolated"] and not lost
    return (
        form["on"],
        _("[[lost?out of memory]][[none?no rate]][[{rate:rate/unit}]][[beyond?, extrapolated]]", **values),
        _("[[{price} an hour ({day})]][[!price?price unknown]]", **values),
        _("[[{usd_per_million_samples:usd} a million {unit:units}]]", **values),
    )


def what_if_disk_name(tier: str | None) -> str:
    """A disk that no run had: a tier of the catalogue, or None for one given by its figures."""
    return _("another disk") if tier is None else _("as if on {tier}", tier=tier)


def configuration_name(where: Configuration, model: WorkloadModel, terms: Terms, disk: str | None = None) -> str:
    """`2 vCPUs, 8 GiB, disk nvme, batch 32, 2 x V100`, without what a table lacks; `disk` is that of a what-if."""
    several = where.gpu is not None or (where.gpu_count or 0) > 1
    spec = names.spec_of(where if disk is None else replace(where, disk=None))
    parts = names.spec_parts(spec if several else replace(spec, gpu_count=0), replace(terms, device=model.facts.device))
    return language.row([*parts, disk or ""]) or _("the configuration that was measured")


def assumptions(what_if: WhatIf, model: WorkloadModel) -> str:
    """What a prediction assumes: `an accelerator 2 times as fast; a disk of 5,000 IOPS`; empty for nothing."""
    own, data, rates = model.facts.data_bytes, what_if.data_bytes_factor, what_if.disk_rates
    factors = {name: None if factor == 1 else factor for name, factor in vars(what_if).items()}
    return clauses(
        [
            _("[[an accelerator {gpu_speedup:number} times as fast]]", **factors),
            "" if rates is None else _what_if_disk(rates),
            _(
                "[[a data set {data_bytes_factor:number} times as large]][[ ({size:bytes})]][[cold?, none of it "
                "in the page cache, as in the runs, so its size makes no difference]]",
                **factors,
                size=own * data if own and data != 1 else None,
                cold=data != 1 and not model.facts.natural,
            ),
            _("[[a decoder that takes {decode_factor:number} times the CPU]]", **factors),
        ]
    )


def _what_if_disk(rates: DiskRates) -> str:
    speed = rates.read_bytes_per_second
    return _(
        "a disk of [[{iops:iops}]][[!iops?unlimited IOPS]] and [[{speed:transfer}]][[!speed?unlimited "
        "MB/s]][[alike?, for reads and writes alike]]",
        iops=rates.read_iops,
        speed=speed,
        alike=rates.write_iops is None,
    )


# The section of the page that computes what was not measured. The page fills in the placeholders itself.
_LABELS: Templates[str, str] = {
    "vcpus": "vCPUs",
    "memory_gib": "Memory",
    "disk": "Disk",
    "disk_mbps": "Disk throughput",
    "disk_iops": "Disk IOPS",
    "batch_size": "Batch size",
    "gpu": "Accelerator",
    "gpu_count": "Number of accelerators",
    "gpu_speedup": "Accelerator speed",
    "decode_speedup": "Decoder speed",
    "data_factor": "Data set size",
}
_FILLED_BY_PAGE: Templates[str, str] = {
    "interval": "{low} to {high}, 90 % for a new run",
    "ran": "Runs of just this gave {rate}.",
    "out_of_memory": "Out of memory: the job does not run in this.",
    "of_answer": "{share} % of the answer's rate, the upright line",
    "resource": "{resource} {share} %",
    "hour": "{price} an hour",
    "cheapest": "{machine}, the cheapest instance type of the catalogue that holds it; a disk is extra",
    "not_sold": "No instance type of the catalogue holds this.",
    "price_unknown": "What holds this has no known price in the catalogue.",
    "other_accelerator": "An accelerator of another speed has another price.",
    "kind_unknown": "The catalogue does not know this kind of accelerator.",
}
what_if_unfit = Sentence("From the address was left out what this page does not have: {parts}.")
another_disk = Sentence("another one, by its rates")
measured_disks_called = Sentence("measured")
tiers_called = Sentence("not measured, by their rates")
"""Of lists of disks: the option that is given by its rates, and what stands over those that were measured, or not."""


def what_if_labels() -> dict[str, str]:
    """What each control is called, by its name in the page's address."""
    return {name: _(label) for name, label in _LABELS.items()}


def what_if_sentences(unit: str) -> dict[str, str]:
    """Of one workload, with placeholders that the page fills in: rates, prices, shares and names."""
    return {
        **{name: _(message) for name, message in _FILLED_BY_PAGE.items()},
        "rate": f"{{number}} {language.units_a_second(unit)}",
        "million": "" if unit == RELATIVE else _("{price} a million {unit:units}", price="{price}", unit=unit),
    }


def what_if_doubt(mistold: Reason | None, terms: Terms) -> str:
    """Why the rates are known to be wrong, and with them all that is computed here; empty where they are not."""
    with without_marks():
        return "" if mistold is None else reason_sentence(mistold, terms)


def what_if_bottlenecks(device: Device) -> dict[str, tuple[str, str]]:
    """By bottleneck what binds, as a headline, and the resource's name: `Bound by the CPU`, `CPU`."""

    return {
        bottleneck.value: (
            capital(
                (resource_name if bottleneck is Bottleneck.AMBIGUOUS else names.bound_in_words)(bottleneck, device)
            ),
            resource_name(bottleneck, device),
        )
        for bottleneck in Bottleneck
    }


def what_if_refusals(memory_bytes: tuple[int, ...], refused: Refusal | None, terms: Terms) -> dict[str, str]:
    """Why there is no answer, by the code that the page's model has for it; `memory_bytes` are those measured."""
    reasons = (
        reason(ReasonCode.TOO_FEW_VALUES, axis="memory_gib", values=tuple(map(float, memory_bytes))),
        reason(ReasonCode.NO_GPU_TO_SPEED_UP),
    )
    not_fitted = refused or Refusal(reason(ReasonCode.NOT_FITTED))
    with without_marks():
        sentences = {reason.code.value: reason_sentence(reason, terms) for reason in reasons}
        return {**sentences, ReasonCode.NOT_FITTED.value: refusal_sentences(not_fitted, terms)}


def times_as_fast(factor: float) -> str:
    """A stop of a slider of speed: `as measured`, `2 times as fast`, `0.5 times as fast`."""
    return _("as measured") if factor == 1 else _("{number:number} times as fast", number=factor)


def data_set_of(size: float, factor: float) -> str:
    """A stop of the slider of the data set: `8 GiB, as measured`, `32 GiB, 4 times as large`."""
    larger = None if factor == 1 else factor
    return _("{size:bytes}, [[{number:number} times as large]][[!number?as measured]]", size=size, number=larger)


def measured_disk(name: str | None, emulated: bool) -> str:
    """A disk that runs were made on, as an option."""
    return names.disk_name(name_of_disk(name), emulated)


def tier_of_size(name: str, size: int, rates: DiskRates) -> str:
    """A tier of the catalogue as an option: `aws/gp3, 500 GiB: 125 MB/s, 3,000 IOPS`."""
    given = names.rate_pair(rates.read_bytes_per_second, rates.read_iops)
    return _("{disk}, {size:bytes}: {rates}", disk=name, size=size, rates=given)


def disk_stop(value: float, unit: str) -> str:
    """A stop of a slider of a disk's rate: `100 MB/s`, `2,000 IOPS`."""
    return language.transfer(value * 1e6) if unit == "disk_mbps" else language.operations(value)
