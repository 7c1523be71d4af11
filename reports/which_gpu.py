"""What GPUs that were asked about would do for each job: a row for each, with where its figures come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sizer.records.gpu_options import GpuOption
from sizer.words.accelerators import (
    bound_there,
    gpu_option_lines,
    gpus_compared,
    gpus_named,
    machine_and_cost,
    no_gpu_answer,
)
from sizer.words.language import paragraph, rate_interval, sentence

from .material import Material
from .subject import Subject


def contents(_material: Material, found: Sequence[Subject]) -> dict[str, Any] | None:
    """A group of rows for each workload; None where no GPU was asked about."""
    groups = [
        {
            "name": subject.name,
            "compared": paragraph(gpus_compared(subject.answer.gpus, subject.terms)),
            "rows": [_row(option, subject) for option in subject.answer.gpus],
        }
        for subject in found
        if subject.answer is not None and subject.answer.gpus
    ]
    return {"groups": groups, "several": len(found) > 1} if groups else None


def _row(option: GpuOption, subject: Subject) -> dict[str, Any]:
    _headline, *known = gpu_option_lines(option, subject.terms)
    if option.throughput is None:
        return {"gpu": option.gpu, "nothing": sentence(no_gpu_answer(option)), "known": known}
    return {
        "gpu": gpus_named(option),
        "nothing": "",
        "rate": rate_interval(option.throughput, subject.terms.unit),
        "bound": bound_there(option),
        "machine": machine_and_cost(option, subject.terms),
        "known": known,
    }
