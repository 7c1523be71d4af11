"""A fitted model as plain data, from which another program computes what `predict` does: `model.js` of the page.

Values of sliders are unknown here, so what depends on them stays to be computed; what does not is computed here. The
constants of the equations travel with them, so that each has one definition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, astuple, fields
from typing import Any

from sizer.model import (
    advice,
    attribution,
    ceilings,
    equation,
    interplay,
    intervals,
    machines_around,
    residual,
    scaling,
    stages,
    trend,
)
from sizer.model.edge import before_the_last_doubling
from sizer.model.feeds import CPU_LABEL, REPLAY
from sizer.model.model import NORMAL_90, Member, Residual, WorkloadModel
from sizer.records import GIB, HOST_DISK, Configuration

DRAW_DIGITS = 5
"""Of the draws, which say only how wide an interval is."""

CONSTANTS: dict[str, Any] = {
    "GIB": GIB,
    "HOST_DISK": HOST_DISK,
    "CPU_LABEL": CPU_LABEL,
    "NORMAL_90": NORMAL_90,
    "LEAST": scaling.LEAST,
    "LEAST_YIELD": scaling.LEAST_YIELD,
    "MOST_YIELD": scaling.MOST_YIELD,
    "LOG_SHARPNESS": equation.LOG_SHARPNESS,
    "LEVEL_KINDS": equation.LEVEL_KINDS,
    "UNBINDING": stages.UNBINDING,
    "ENOUGH": advice.ENOUGH,
    "REACHED": ceilings.REACHED,
    "FAR": ceilings.FAR,
    "UNKNOWN": ceilings.UNKNOWN,
    "CONTRADICTS": sorted(each.value for each in ceilings.CONTRADICTS),
    "CLOSE": attribution.CLOSE,
    "MAJORITY": attribution.MAJORITY,
    "SHOWN_BY_VCPUS": [each.value for each in attribution.SHOWN_BY_VCPUS],
    "FASTER": attribution.FASTER,
    "CPU_LIKE": sorted(each.value for each in attribution.CPU_LIKE),
    "DISK_LIKE": sorted(each.value for each in attribution.DISK_LIKE),
    "GAIN": trend.GAIN,
    "CLEAR": trend.CLEAR,
    "JITTER": residual.JITTER,
    "OTHER_KIND": residual.OTHER_KIND,
    "BEYOND": intervals.BEYOND,
    "MOST_NOISE": intervals.MOST_NOISE,
    "REACH": intervals.REACH,
    "UNMEASURED_PAIR": intervals.UNMEASURED_PAIR,
    "UNMEASURED_DISK": intervals.UNMEASURED_DISK,
    "REACH_OF_MACHINES": machines_around.REACH,
    "LEAST_NOISE": machines_around.LEAST_NOISE,
    "DOUBLING": machines_around.DOUBLING,
    "NAMES_APART": interplay.NAMES_APART,
    "AXIS_APART": interplay.AXIS_APART,
    "AXIS_UNSEEN": interplay.AXIS_UNSEEN,
}
"""By the name that each has where it is defined and explained."""


def as_data(model: WorkloadModel) -> dict[str, Any]:
    """All that `predict` needs of a workload, as lists, dicts, numbers and text; its keys are the fields' names."""
    facts, measured = model.facts, model.measured
    return {
        "name": model.name,
        "refused": model.refused is not None,
        "facts": {
            "accounted": facts.core_seconds is not None,
            "step_apart": facts.step_apart,
            "reads": facts.setting.input != "synthetic",
            "cached": facts.setting.input == "cached" or facts.setting.cache == "warm",
            "reads_disk": facts.setting.input == "disk" and facts.setting.cache != "warm",
            "computes": facts.setting.input != REPLAY,
            "natural": facts.natural,
            "read_bytes": facts.read_bytes,
            "read_ios": facts.read_ios,
            "written_bytes": facts.written_bytes,
            "write_ios": facts.write_ios,
            "data_bytes": facts.data_bytes,
            "sequential": facts.sequential,
            "hit_blend": facts.hit_blend,
            "read_amplification": facts.read_amplification,
            "accelerator": facts.accelerator,
            "accelerator_rates": list(facts.accelerator_rates),
            "scaling_loss": facts.scaling_loss,
            "mixed_with_cpu": facts.mixed_with_cpu,
            "reference_batch": facts.reference_batch,
            "highest_rate": facts.highest_rate,
        },
        "measured": _measured(model),
        "members": [_member(member) for member in model.members],
        "residual": _residual(model.residual) if model.residual is not None else None,
        "noise": model.noise,
        "misfit": model.misfit,
        "widening": model.widening,
        "noise_widening": model.noise_widening,
        "memory_matters": advice.memory_matters(model),
        "before_the_last_doubling": before_the_last_doubling(model) if measured.vcpus else None,
    }


def _measured(model: WorkloadModel) -> dict[str, Any]:
    measured = model.measured
    return {
        "vcpus": measured.vcpus,
        "memory_bytes": measured.memory_bytes,
        "batch_size": measured.batch_size,
        "gpus": [[gpus.gpu, gpus.count] for gpus in measured.gpus],
        "disks": [[disk.name, *astuple(disk.rates)] for disk in measured.disks],
        "rates": [
            [
                *_place(rate.configuration),
                *_rounded(astuple(rate.of_new_run), 9),
                rate.evidence.value if rate.evidence is not None else None,
            ]
            for rate in measured.rates
        ],
        "trials": _trials(model),
        "did_not_fit": [_place(each) for each in measured.did_not_fit],
        "overfilled": [_place(each) for each in measured.overfilled],
        "slower_with_more": sorted(measured.slower_with_more, key=str),
        "memory_on_disks": measured.memory_on_disks,
        "design": {"names": measured.design.names, "numbers": measured.design.numbers},
    }


def _trials(model: WorkloadModel) -> list[list[Any]]:
    """Distinct ones; none where all completed and the memory that they needed is not known, for then all sizes fit."""
    trials = model.measured.trials
    if all(trial.completed and not trial.anonymous_bytes for trial in trials):
        return []
    known = (
        (each.vcpus, each.batch_size, each.memory_bytes, each.completed, each.anonymous_bytes, each.searched)
        for each in trials
    )
    return [list(each) for each in dict.fromkeys(known)]


def _member(member: Member) -> dict[str, Any]:
    return {
        "structure": asdict(member.structure),
        "weight": member.weight,
        "names": member.names,
        "estimate": member.estimate,
        "draws": [_rounded(draw, DRAW_DIGITS) for draw in member.draws],
    }


def _residual(found: Residual) -> dict[str, Any]:
    return {
        "places": [_place(place) for place in found.places],
        "values": found.values,
        "variances": found.variances,
        "amplitude": found.amplitude,
        "length": found.length,
    }


PLACE = tuple(field.name for field in fields(Configuration))
"""In which order a place says the values of a configuration."""


def _place(configuration: Configuration) -> list[Any]:
    return [getattr(configuration, name) for name in PLACE]


def _rounded(values: Iterable[float], digits: int) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values]
