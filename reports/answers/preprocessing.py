"""How long a whole data set takes to preprocess: that is how preprocessing is published."""

from __future__ import annotations

from typing import Any

from sizer.model.feeds import CPU_LABEL
from sizer.records.configuration import Configuration, Estimate
from sizer.records.kinds import PREPROCESSING
from sizer.records.prediction import Spec
from sizer.records.units import format_number, format_seconds
from sizer.words.language import _, beside, span, with_interval
from sizer.words.page import configuration_line, data_in_words, decoders_in_words

from .. import results
from ..subject import Subject

IMAGENET_IMAGES = 1_281_167
"""Training images of ILSVRC 2012, the ImageNet of the literature (Russakovsky et al. 2015, table 2)."""


def applies(subject: Subject) -> bool:
    return any(run.spec.workload.kind == PREPROCESSING for run in subject.runs)


def times(subject: Subject) -> dict[str, Any] | None:
    """A row for each measured configuration: the time for the study's own data set and for ImageNet's images."""
    rows = results.by_configuration(subject.runs)
    if not applies(subject) or not rows:
        return None
    data = next((run.data_set for run in subject.runs if run.data_set is not None), None)
    return {
        "data": data_in_words(data),
        "decoders": decoders_in_words(subject.runs),
        "rows": [
            {
                "where": configuration_line(row.configuration, subject.study),
                "is_answer": is_answer(row.configuration, subject),
                "own": time_for(data.samples, row.throughput) if data is not None else (_("unknown"), ""),
                "imagenet": time_for(IMAGENET_IMAGES, row.throughput),
            }
            for row in rows
        ],
    }


def time_for(samples: int, throughput: Estimate) -> tuple[str, str]:
    """'7,010 s (6,820–7,210)' and '1 h 57 min'; the ends of the interval are those of the throughput.

    Below a minute the seconds say it all, and the second text is empty.
    A throughput that may be 0 leaves the longest time open.
    """
    if throughput.value <= 0:
        return _("unknown"), ""
    middle, shortest = samples / throughput.value, samples / throughput.high
    if throughput.low <= 0:
        text = _("{middle} s (from {shortest})", middle=format_number(middle), shortest=format_number(shortest))
        return text, format_seconds(middle)
    longest = samples / throughput.low
    interval = span(shortest, longest)
    text = f"{format_number(middle)} s"
    text = beside(text, interval) if "–" in interval else text
    if middle < 60:
        return text, ""
    return text, with_interval(*map(format_seconds, (middle, shortest, longest)))


def is_answer(configuration: Configuration, subject: Subject) -> bool:
    """Whether a measured configuration is the recommended spec, on the axes that the spec names."""
    spec = subject.answer.spec if subject.answer is not None else None
    return (
        spec is not None
        and spec.vcpus in (None, configuration.vcpus)
        and spec.memory_bytes in (None, configuration.memory_bytes)
        and spec.disk in (None, configuration.disk)
        and spec.batch_size in (None, configuration.batch_size)
        and _same_accelerators(spec, configuration, subject)
    )


def _same_accelerators(spec: Spec, configuration: Configuration, subject: Subject) -> bool:
    """A spec without any says nothing of them, unless machines were compared: then it is one where the CPU computes."""
    if (spec.gpu, spec.gpu_count) != (None, 0):
        count = configuration.gpu_count if configuration.gpu is None else max(1, configuration.gpu_count or 0)
        return (spec.gpu, spec.gpu_count) == (configuration.gpu, count)
    compared = subject.answer is not None and bool(subject.answer.alternatives)
    return not compared or configuration.gpu in (None, CPU_LABEL)
