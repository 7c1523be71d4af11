"""What the section of the page says that computes what was not measured. The page fills in the placeholders itself."""

from __future__ import annotations

from sizer.model.coordinates import name_of_disk
from sizer.records.configuration import Bottleneck
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Reason, ReasonCode, Refusal, reason
from sizer.records.units import RELATIVE, format_bytes, format_number
from sizer.words.answers import refusal_sentences
from sizer.words.figures import capital, operations, transfer
from sizer.words.language import _, without_marks
from sizer.words.names import Terms, bound_in_words, disk_name, gpu_name, resource_name
from sizer.words.reasons import reason_sentence
from sizer.words.storage import rate_pair
from sizer.words.units import several_of, units_a_second


def what_if_labels() -> dict[str, str]:
    """What each control is called, by its name in the page's address."""
    return {
        "vcpus": _("vCPUs"),
        "memory_gib": _("Memory"),
        "disk": _("Disk"),
        "disk_mbps": _("Disk throughput"),
        "disk_iops": _("Disk IOPS"),
        "batch_size": _("Batch size"),
        "gpu": _("Accelerator"),
        "gpu_count": _("Number of accelerators"),
        "gpu_speedup": _("Accelerator speed"),
        "decode_speedup": _("Decoder speed"),
        "data_factor": _("Data set size"),
    }


def what_if_unfit() -> str:
    """What of the page's address did not fit, with a placeholder that the page fills in; the rest was used."""
    return _("From the address was left out what this page does not have: {parts}.")


def what_if_sentences(unit: str) -> dict[str, str]:
    """Of one workload, with placeholders that the page fills in: rates, prices, shares and names."""
    return {
        "rate": f"{{number}} {units_a_second(unit)}",
        "interval": _("{low} to {high}, 90 % for a new run"),
        "ran": _("Runs of just this gave {rate}."),
        "out_of_memory": _("Out of memory: the job does not run in this."),
        "of_answer": _("{share} % of the answer's rate, the upright line"),
        "resource": _("{resource} {share} %"),
        "hour": _("{price} an hour"),
        "million": "" if unit == RELATIVE else _("{price} a million {units}", price="{price}", units=several_of(unit)),
        "cheapest": _("{machine}, the cheapest instance type of the catalogue that holds it; a disk is extra"),
        "not_sold": _("No instance type of the catalogue holds this."),
        "price_unknown": _("What holds this has no known price in the catalogue."),
        "other_accelerator": _("An accelerator of another speed has another price."),
        "kind_unknown": _("The catalogue does not know this kind of accelerator."),
    }


def what_if_doubt(mistold: Reason | None, terms: Terms) -> str:
    """Why the rates are known to be wrong, and with them all that is computed here; empty where they are not."""
    if mistold is None:
        return ""
    with without_marks():
        return reason_sentence(mistold, terms)


def what_if_bottlenecks(device: Device) -> dict[str, tuple[str, str]]:
    """By bottleneck what binds, as a headline, and the resource's name: `Bound by the CPU`, `CPU`."""

    def headline(each: Bottleneck) -> str:
        return capital((resource_name if each is Bottleneck.AMBIGUOUS else bound_in_words)(each, device))

    return {each.value: (headline(each), resource_name(each, device)) for each in Bottleneck}


def what_if_refusals(memory_bytes: tuple[int, ...], refused: Refusal | None, terms: Terms) -> dict[str, str]:
    """Why there is no answer, by the code that the page's model has for it; `memory_bytes` are those measured."""
    found = (
        reason(ReasonCode.TOO_FEW_VALUES, axis="memory_gib", values=tuple(map(float, memory_bytes))),
        reason(ReasonCode.NO_GPU_TO_SPEED_UP),
    )
    not_fitted = refused or Refusal(reason(ReasonCode.NOT_FITTED))
    with without_marks():
        said = {each.code.value: reason_sentence(each, terms) for each in found}
        return {**said, ReasonCode.NOT_FITTED.value: refusal_sentences(not_fitted, terms)}


def times_as_fast(factor: float) -> str:
    """A stop of a slider of speed: `as measured`, `2 times as fast`, `0.5 times as fast`."""
    return _("as measured") if factor == 1 else _("{number} times as fast", number=format_number(factor))


def data_set_of(size: float, factor: float) -> str:
    """A stop of the slider of the data set: `8 GiB, as measured`, `32 GiB, 4 times as large`."""
    if factor == 1:
        return _("{size}, as measured", size=format_bytes(size))
    return _("{size}, {number} times as large", size=format_bytes(size), number=format_number(factor))


def measured_disk(name: str | None, emulated: bool) -> str:
    """A disk that runs were made on, as an option."""
    return disk_name(name_of_disk(name), emulated)


def tier_of_size(name: str, size: int, rates: DiskRates) -> str:
    """A tier of the catalogue as an option: `aws/gp3, 500 GiB: 125 MB/s, 3,000 IOPS`."""
    given = rate_pair(rates.read_bytes_per_second, rates.read_iops)
    return _("{disk}, {size}: {rates}", disk=name, size=format_bytes(size), rates=given)


def another_disk() -> str:
    """The option of a disk that is given by its rates."""
    return _("another one, by its rates")


def measured_disks_called() -> str:
    """Over the disks that were measured, in a list of disks."""
    return _("measured")


def tiers_called() -> str:
    """Over the tiers that were not, in a list of disks."""
    return _("not measured, by their rates")


def disk_stop(value: float, unit: str) -> str:
    """A stop of a slider of a disk's rate: `100 MB/s`, `2,000 IOPS`."""
    return transfer(value * 1e6) if unit == "disk_mbps" else operations(value)


def accelerator_option(gpu: str) -> str:
    """A kind of accelerator as an option."""
    return gpu_name(gpu)
