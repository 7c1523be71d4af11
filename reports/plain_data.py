"""A fitted model as plain data, from which another program computes what `predict` does: `model.js` of the page.

It gets few of the posterior's draws and what they were learnt from, and solves the same equation for each. The
constants travel with them, so that each has one definition.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, fields, replace
from typing import Any

from sizer.model import equation, posterior, prediction
from sizer.model.equation import Rows, build_rows, disk_is_free
from sizer.model.model import (
    CPU_LABEL,
    Feed,
    MemoryTrial,
    Observation,
    Posterior,
    WorkloadFacts,
    WorkloadModel,
    batch_of,
    name_of_disk,
)
from sizer.model.posterior import KEPT
from sizer.model.refusals import ENOUGH, memory_matters
from sizer.records.device import HOST_DISK
from sizer.records.prediction import Configuration
from sizer.records.units import GIB

DRAWS = 64
"""Of the posterior's KEPT. Half of the rates are within 0.1 % of what all say, half of an interval's ends within 4 % of
its width."""
DRAW_DIGITS = 5
SCALE_DECIMALS = 1
"""Of ln of the misfits' scale."""
RATE_DIGITS = 7
"""Of a rate of what was measured, of which the page shows three."""
DIGITS = 9


def _rounded(values: Iterable[float], digits: int = DIGITS) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values]


CONSTANTS: dict[str, Any] = {
    "GIB": GIB,
    "HOST_DISK": HOST_DISK,
    "CPU_LABEL": CPU_LABEL,
    "LOG_SHARPNESS": equation.LOG_SHARPNESS,
    "SUPPOSED": equation.SUPPOSED,
    "SPREAD": _rounded(equation.spread(DRAWS)[:, 0]),
    "LEAST_FREE": equation.LEAST_FREE,
    "LENGTHS": posterior.LENGTHS,
    "APART": posterior.APART,
    "OWN": posterior.OWN,
    "SLOWEST": prediction.SLOWEST,
    "FURTHER": prediction.FURTHER,
    "ENDS": (prediction.LOW, prediction.HIGH),
    "NOISE": [_rounded(prediction._noise(DRAWS, part)) for part in range(prediction.NOISE_VALUES)],
    "CLOSE": prediction.CLOSE,
    "CPU_LIKE": sorted(bottleneck.value for bottleneck in prediction.CPU_LIKE),
    "DISK_LIKE": sorted(quantity.value for quantity in prediction.DISK_LIKE),
}
"""By the name that each has where it is defined and explained; SPREAD and NOISE are the values of each draw."""

PLACE = tuple(field.name for field in fields(Configuration))
"""In which order a place says the values of a configuration."""

FACTS = (
    *("read_bytes", "read_ios", "written_bytes", "write_ios", "data_bytes", "sequential", "hit_blend", "accelerator"),
    *("mixed_with_cpu", "reference_batch", "highest_rate", "scaling_loss"),
)
"""What the equation needs of the facts as they are."""
ROW = ("paired", "cores", "least_memory", "supposed", "decode_shift", "accelerator_shift")
"""Of the rows what is the same in all, without a what-if."""
COLUMNS = ("vcpus", "memory_bytes", "gpus", "speed_up", "missed", "is_free", "reads", "decodes", "computes", "steps")
"""Of the rows what each has of its own, beside its disk, the label of its accelerator, its batch size and its feed."""


def few_draws(after: Posterior) -> Posterior:
    """The same with DRAWS of its draws, evenly chosen and rounded: a model that has it predicts what the page does.

    Misfits get few scales, as the page factorises a matrix for each.
    """
    scale = after.names.index("misfit")
    vectors = [_rounded(vector, DRAW_DIGITS) for vector in after.vectors[:: KEPT // DRAWS]]
    for vector in vectors:
        vector[scale] = round(vector[scale], SCALE_DECIMALS)
    return replace(after, vectors=tuple(map(tuple, vectors)))


def as_data(model: WorkloadModel) -> dict[str, Any]:
    """All that `predict` needs of a workload that has a posterior, as lists, dicts, numbers and text.

    The keys are the fields' names.
    """
    facts, after = model.facts, model.posterior
    assert after is not None, "only fitted models are asked"
    fed = [observation for observation in after.seen if not observation.starved]
    rows = build_rows(facts, model.measured, [observation.configuration for observation in fed], seen=fed)
    few = few_draws(after)
    return {
        "refused": model.refused is not None,
        "sizes_alone": memory_matters(model) and len(model.measured.memory_bytes) < ENOUGH,
        "facts": {**{name: getattr(facts, name) for name in FACTS}, **_of_the_feed(facts)},
        "measured": _measured(model),
        "names": few.names,
        "draws": few.vectors,
        "row": {name: getattr(rows, name) for name in ROW},
        "seen": _seen(rows, fed),
        "noise": few.noise,
    }


def _of_the_feed(facts: WorkloadFacts) -> dict[str, Any]:
    """What follows from how the runs were fed that predictions are about; `missed` is of each read that a cache does
    not keep."""
    fed, warm = facts.feed, facts.feed.input == "cached" or facts.feed.cache == "warm"
    return {
        "feed": _feed_name(fed),
        "reads": fed.input != "synthetic",
        "accounted": facts.core_seconds is not None,
        "missed": 0.0 if warm else facts.read_amplification if facts.natural else 1.0,
        "may_hit": facts.natural and bool(facts.data_bytes),
    }


def _seen(rows: Rows, seen: Sequence[Observation]) -> dict[str, Any]:
    """What the posterior is of, by columns; -inf is None."""
    columns = {name: getattr(rows, name).tolist() for name in COLUMNS}
    columns |= {
        name: [None if value == -math.inf else value for value in _rounded(getattr(rows, name))]
        for name in ("read", "write")
    }
    columns |= {
        "disk": [rows.disks[number] for number in rows.disk],
        "label": [rows.labels[number] for number in rows.accelerator],
        "batch": [max(1, batch_of(observation.configuration)) for observation in seen],
        "feed": [_feed_name(observation.feed) for observation in seen],
        "log_rate": _rounded(observation.log_rate for observation in seen),
        "deviation": _rounded(observation.deviation for observation in seen),
    }
    return _table(columns, len(seen))


def _table(columns: Mapping[str, Sequence[Any]], count: int) -> dict[str, Any]:
    """A table of so many rows by its columns; of one that is the same in all rows its value, once."""
    once = {name: values[0] for name, values in columns.items() if len(set(values)) == 1}
    return {"count": count, **columns, **once}


def _feed_name(feed: Feed) -> str:
    return f"{feed.input} {feed.cache}"


def _measured(model: WorkloadModel) -> dict[str, Any]:
    """`range` are the ends of the axes outside of which a rate is extrapolated."""
    facts, measured = model.facts, model.measured
    varied = len(measured.memory_bytes) > 1
    axes = {
        "vcpus": measured.vcpus,
        "batch_size": measured.batch_size,
        "gpu_count": measured.counts,
        "memory_bytes": measured.memory_bytes if facts.may_cache else (),
    }
    return {
        "range": {axis: [values[0], values[-1]] for axis, values in axes.items() if values},
        "memory_bytes": measured.memory_bytes,
        "gpus": [[gpus.gpu, gpus.count] for gpus in measured.gpus],
        "disks": {
            name_of_disk(disk.name): {
                "is_free": disk_is_free(facts, measured, name_of_disk(disk.name)),
                "rates": astuple(disk.rates),
            }
            for disk in measured.disks
        },
        "rates": _table(_rates(model), len(measured.rates)),
        "shows": {
            "vcpus": len(measured.vcpus) > 1,
            "one_size": len(measured.vcpus) == 1,
            "disks": len(measured.disks) > 1 or varied,
            "accelerators": bool(facts.accelerator_rates),
        },
        "did_not_fit": [asdict(configuration) for configuration in measured.did_not_fit],
        "overfilled": [asdict(configuration) for configuration in measured.overfilled],
        **_trials(measured.trials),
    }


def _rates(model: WorkloadModel) -> dict[str, list[Any]]:
    """The measured configurations: rate, evidence, and what is predicted there where its own runs say it."""
    rates = model.measured.rates
    by_equation = model.refused is None and model.facts.core_seconds is not None
    ends = ("value", "low", "high")
    own = {name: _rounded((getattr(rate.of_new_run, name) for rate in rates), RATE_DIGITS) for name in ends}
    return {
        **{name: [getattr(rate.configuration, name) for rate in rates] for name in PLACE},
        "rate": [rate.throughput.value for rate in rates],
        "evidence": [rate.evidence.value if rate.evidence else None for rate in rates],
        **({name: [None] * len(rates) for name in ends} if by_equation else own),
    }


def _trials(trials: Sequence[MemoryTrial]) -> dict[str, list[list[Any]]]:
    """vCPUs, batch size and bytes of each: caps at which runs were killed or held, and the peaks that they needed.

    Those of searches are short, so their peaks count only where no other was accounted.
    """
    held = [trial for trial in trials if trial.completed]
    counted = [trial for trial in held if trial.anonymous_bytes]
    peaks = [trial for trial in counted if not trial.searched] or counted

    def distinct(rows: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
        return [list(row) for row in dict.fromkeys(rows)]

    return {
        "killed": distinct((t.vcpus, t.batch_size, t.memory_bytes) for t in trials if not t.completed),
        "held": distinct((t.vcpus, t.batch_size, t.memory_bytes) for t in held),
        "peaks": distinct((t.vcpus, t.batch_size, t.anonymous_bytes) for t in peaks),
    }
