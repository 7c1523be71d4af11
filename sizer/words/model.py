"""A fitted model in words: what its parameters are, what one sample costs, what a prediction assumes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sizer.model.model import Parameter, Quantity, Source, WhatIf, WorkloadModel
from sizer.records.device import DiskRates
from sizer.records.units import format_bytes, format_number, format_seconds, rate_unit
from sizer.words.figures import apart, paragraph, volume
from sizer.words.language import _
from sizer.words.names import accelerator_name, clauses, disk_in_words, listed, terms_of
from sizer.words.units import a_sample, one_of, percent, rate_in_words


def model_summary(model: WorkloadModel) -> str:
    """What one sample costs, and where more vCPUs stop paying; empty for a model that was refused."""
    from sizer.words.reasons import reason_sentence

    scaling = reason_sentence(model.scaling, terms_of(model)) if model.scaling is not None else ""
    return paragraph([_cost(model) if scaling else "", scaling])


def model_line(model: WorkloadModel) -> str:
    """A workload with what its runs showed, or why it has no model."""
    if model.refused is None:
        return _("{workload}: {summary}", workload=model.name, summary=model_summary(model))
    from sizer.words.answers import refusal_sentences

    why = refusal_sentences(model.refused, terms_of(model))
    return _("{workload}: {summary}", workload=model.name, summary=why)


def _cost(model: WorkloadModel) -> str:
    facts = model.facts
    costs = []
    if facts.core_seconds:
        costs.append(_("{time} of CPU", time=format_seconds(facts.core_seconds)))
    if facts.read_bytes and facts.read_bytes > 1:
        costs.append(_("{size} of disk reading", size=volume(facts.read_bytes)))
    if facts.written_bytes and facts.written_bytes > 1:
        costs.append(_("{size} of disk writing", size=volume(facts.written_bytes)))
    if facts.accelerator_rate:
        time, name = format_seconds(1 / facts.accelerator_rate), accelerator_name(facts.device)
        costs.append(_("{time} of the {accelerator}", time=time, accelerator=name))
    return _("One {sample} costs {costs}.", sample=one_of(model.sample_unit), costs=listed(costs)) if costs else ""


def source_name(source: Source) -> str:
    """Where a figure comes from."""
    return {Source.ACCOUNTING: _("accounting"), Source.DATA_SET: _("data set"), Source.FIT: _("fit")}[source]


def source_of(parameter: Parameter) -> str:
    """Where it comes from, and how likely it is there at all where that is a question."""
    source = source_name(parameter.source)
    if parameter.probability is None:
        return source
    return _("{source}; there with {likely}", source=source, likely=percent(parameter.probability))


def parameter_name(parameter: Parameter, model: WorkloadModel) -> str:
    """What a parameter of the model is."""
    of = parameter.of or ""
    known: dict[str, object] = {"batch": model.facts.reference_batch}
    if parameter.quantity is Quantity.ACCELERATOR_RATE:
        return of or accelerator_name(model.facts.device)
    if parameter.quantity in (Quantity.WORKER_WAIT, Quantity.DISK_CAPACITY):
        known["disk"] = disk_in_words(of)
    return _PARAMETERS[parameter.quantity](known)


def parameter_value(parameter: Parameter, model: WorkloadModel) -> str:
    """`0.00312 core-seconds an image`, `219 images/s`, `0.93`."""
    value, unit = format_number(parameter.value), model.sample_unit
    if parameter.unit == rate_unit(unit):
        return rate_in_words(parameter.value, unit)
    counted = {
        "core-seconds": _("{number} core-seconds", number=value),
        "seconds": f"{value} s",
        "bytes": f"{value} B",
        "IOs": f"{value} IO",
    }.get(parameter.unit.removesuffix(f"/{unit}"))
    return value if counted is None else a_sample(counted, unit)


def parameter_line(parameter: Parameter, model: WorkloadModel) -> str:
    """`CPU time: 0.00312 core-seconds an image (0.003 to 0.0032), accounting`."""
    low, value, high = map(format_number, (parameter.low, parameter.value, parameter.high))
    known = {
        "name": parameter_name(parameter, model),
        "value": parameter_value(parameter, model),
        "low": low,
        "high": high,
        "source": source_of(parameter),
    }
    if low == value == high:
        return _("{name}: {value}, {source}", **known)
    return _("{name}: {value} ({low} to {high}), {source}", **known)


_Q = Quantity
_PARAMETERS: Mapping[Quantity, Callable[[Mapping[str, object]], str]] = {
    _Q.CPU_TIME: lambda k: _("CPU time"),
    _Q.BYTES_READ: lambda k: _("bytes read"),
    _Q.READS: lambda k: _("reads"),
    _Q.BYTES_WRITTEN: lambda k: _("bytes written"),
    _Q.WRITES: lambda k: _("writes"),
    _Q.WORKER_WAIT: lambda k: _("wait of a worker for {disk}", **k),
    _Q.RATE_OF_ONE_VCPU: lambda k: _("parallel rate of one vCPU"),
    _Q.STEP_CPU_TIME: lambda k: _("CPU time of the step alone"),
    _Q.CONTENTION: lambda k: _("loss by each further vCPU"),
    _Q.COHERENCE: lambda k: _("loss by each pair of vCPUs"),
    _Q.HANDOVER: lambda k: _("cost as soon as there are several vCPUs"),
    _Q.YIELD: lambda k: _("what the second hyperthread of a core adds"),
    _Q.FRACTION_COST: lambda k: _("CPU time with a fraction of a vCPU, relative to a whole one"),
    _Q.SERIAL_CEILING: lambda k: _("serial ceiling"),
    _Q.GPU_LOSS: lambda k: _("loss of several accelerators"),
    _Q.LAUNCH_COST: lambda k: _("launch cost of a step, relative to a batch of {batch}", **k),
    _Q.OVERLAP_EXPONENT: lambda k: _("overlap exponent"),
    _Q.MEMORY_HELD: lambda k: _("memory that the job holds"),
    _Q.MEMORY_OF_DATA: lambda k: _("memory that would hold all data"),
    _Q.MEMORY_PRESSURE: lambda k: _("slowing where as much memory is free as is held"),
    _Q.DISK_CAPACITY: lambda k: _("most from {disk}", **k),
}


def assumptions(what_if: WhatIf, model: WorkloadModel) -> str:
    """What a prediction assumes: `an accelerator 2 times as fast; a disk of 5,000 IOPS`; empty for nothing."""
    parts = []
    if what_if.gpu_speedup != 1:
        parts.append(_("an accelerator {factor} times as fast", factor=format_number(what_if.gpu_speedup)))
    if what_if.disk_rates is not None:
        parts.append(_what_if_disk(what_if.disk_rates))
    if what_if.data_bytes_factor != 1:
        parts.append(_what_if_data(what_if.data_bytes_factor, model))
    if what_if.decode_factor != 1:
        parts.append(_("a decoder that takes {factor} times the CPU", factor=format_number(what_if.decode_factor)))
    return clauses(parts)


def _what_if_disk(rates: DiskRates) -> str:
    iops = None if rates.read_iops is None else format_number(rates.read_iops)
    speed = None if rates.read_bytes_per_second is None else format_number(rates.read_bytes_per_second / 1e6)
    if speed is None:
        disk = _("a disk of {iops} IOPS and unlimited MB/s", iops=iops)
    elif iops is None:
        disk = _("a disk of {speed} MB/s and unlimited IOPS", speed=speed)
    else:
        disk = _("a disk of {iops} IOPS and {speed} MB/s", iops=iops, speed=speed)
    return disk if rates.write_iops is not None else _("{disk}, for reads and writes alike", disk=disk)


def _what_if_data(factor: float, model: WorkloadModel) -> str:
    known = {"factor": format_number(factor)}
    own, natural = model.facts.data_bytes, model.facts.natural
    if own and natural:
        return _("a data set {factor} times as large ({size})", **known, size=format_bytes(own * factor))
    if natural:
        return _("a data set {factor} times as large", **known)
    if own:
        return _(
            "a data set {factor} times as large ({size}), none of it in the page cache, as in the runs, so its size "
            "makes no difference",
            **known,
            size=format_bytes(own * factor),
        )
    return _(
        "a data set {factor} times as large, none of it in the page cache, as in the runs, so its size makes no "
        "difference",
        **known,
    )


def equation_sentence() -> str:
    """How the stages make the rate."""
    return _(
        "A sample takes the p-norm of its seconds at each stage: p = 1 is one stage after the other, a large p that "
        "they overlap."
    )


def left_out_sentence(count: int, middle: float, worst: float, where: str) -> str:
    """How well configurations were predicted that the fit did not know; the errors are relative ones."""
    return _(
        "Each of {count} configurations was predicted by a fit to the others: half of the predictions were off by "
        "{middle} or less, the worst by {worst} ({where}).",
        count=count,
        middle=apart(middle),
        worst=apart(worst),
        where=where,
    )
