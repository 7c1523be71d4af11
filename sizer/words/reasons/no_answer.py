"""Why there is no model, or no prediction."""

from __future__ import annotations

from sizer.records import Reason, ReasonCode, format_bytes
from sizer.words.language import _, _n
from sizer.words.names import Terms, disk_in_words, gpu_name, listed, outcomes_counted, row
from sizer.words.reasons.figures import Sentences, size_of


def _no_run_completed(r: Reason, t: Terms) -> str:
    outcomes = outcomes_counted(r.texts("outcomes"), r.numbers("counts"))
    return _("Not enough data: no run of `{workload}` completed ({outcomes}).", workload=t.workload, outcomes=outcomes)


def _too_few_values(r: Reason, t: Terms) -> str:
    values, axis = r.numbers("values"), r.text("axis")
    count, known = len(values), {"workload": t.workload}
    if not values:
        return _(
            "The rows of `{workload}` differ in nothing that the model predicts; they are compared as they are.",
            **known,
        )
    if axis == "memory_gib":
        return _n(
            "Not enough data: `{workload}` was measured at {count} memory size ({values}), and three are needed.",
            "Not enough data: `{workload}` was measured at {count} memory sizes ({values}), and three are needed.",
            count,
            **known,
            values=row(format_bytes(value) for value in values),
        )
    plain = row(f"{value:g}" for value in values)
    if axis == "batch_size":
        return _n(
            "Not enough data: `{workload}` was measured at {count} batch size ({values}), and three are needed.",
            "Not enough data: `{workload}` was measured at {count} batch sizes ({values}), and three are needed.",
            count,
            **known,
            values=plain,
        )
    if axis == "gpu_count":
        return _n(
            "Not enough data: `{workload}` was measured at {count} accelerator count ({values}), and three are needed.",
            "Not enough data: `{workload}` was measured at {count} accelerator counts ({values}), "
            "and three are needed.",
            count,
            **known,
            values=plain,
        )
    return _n(
        "Not enough data: `{workload}` was measured at {count} vCPU value ({values}), and three are needed.",
        "Not enough data: `{workload}` was measured at {count} vCPU values ({values}), and three are needed.",
        count,
        **known,
        values=plain,
    )


def _between_memory_sizes(r: Reason, t: Terms) -> str:
    return _(
        "Not enough data: `{workload}` was measured with {count} memory sizes that differ in throughput, and three are "
        "needed to predict one between or beyond them.",
        workload=t.workload,
        count=len(r.numbers("values")),
    )


def _not_in_table(r: Reason, t: Terms) -> str:
    if r.text("column") == "vcpus":
        return _("The table has no `vcpus` for `{workload}`, so other counts cannot be predicted.", workload=t.workload)
    return _(
        "The table has no `{column}` for `{workload}`, so other sizes cannot be predicted.",
        column=r.text("column"),
        workload=t.workload,
    )


def _gpu_not_measured(r: Reason, t: Terms) -> str:
    return _(
        "`{workload}` was not measured on {gpu}, only on {measured}.",
        workload=t.workload,
        gpu=gpu_name(r.text("gpu") or "cpu"),
        measured=listed([gpu_name(name) for name in r.texts("measured")]),
    )


def _disk_not_measured(r: Reason, t: Terms) -> str:
    return _(
        "`{workload}` was not measured on {disk}, only on {measured}.",
        workload=t.workload,
        disk=disk_in_words(r.text("disk")),
        measured=listed([disk_in_words(name) for name in r.texts("measured")]),
    )


def _mixed_programs(r: Reason, t: Terms) -> str:
    known = {"workload": t.workload, "values": listed(r.texts("values"))}
    if r.text("field") == "kind":
        return _("The runs of `{workload}` are of several kinds: {values}.", **known)
    if r.text("field") == "framework":
        return _("The runs of `{workload}` use several frameworks: {values}.", **known)
    return _("The runs of `{workload}` use several networks: {values}.", **known)


_C = ReasonCode
SENTENCES: Sentences = {
    _C.NOT_FITTED: lambda r, t: _("`{workload}` has no model.", workload=t.workload),
    _C.NO_RUN_COMPLETED: _no_run_completed,
    _C.TOO_FEW_VALUES: _too_few_values,
    _C.BETWEEN_MEMORY_SIZES: _between_memory_sizes,
    _C.NOT_IN_TABLE: _not_in_table,
    _C.GPU_NOT_MEASURED: _gpu_not_measured,
    _C.DISK_NOT_MEASURED: _disk_not_measured,
    _C.MIXED_PROGRAMS: _mixed_programs,
    _C.HOST_BUSY: lambda r, t: _(
        "Others used the CPUs of this host in every run of `{workload}`, so no rate shows what it needs; measure on a "
        "quiet host.",
        workload=t.workload,
    ),
    _C.ONLY_STAGES: lambda r, t: _(
        "Not enough data: all stored runs of `{workload}` isolate one stage.", workload=t.workload
    ),
    _C.FACTOR_NOT_POSITIVE: lambda r, t: _("A speed-up or a factor must be above 0, for example 2."),
    _C.NO_GPU_TO_SPEED_UP: lambda r, t: _(
        "`{workload}` was measured without a GPU, so there is none to speed up.", workload=t.workload
    ),
    _C.STEP_NOT_SEPARATE: lambda r, t: _(
        "`{workload}` computes its step on the CPU that also decodes, and no run separates the two.",
        workload=t.workload,
    ),
    _C.READS_NOT_ACCOUNTED: lambda r, t: _(
        "The disk reads of `{workload}` were not measured, so another disk cannot be predicted from its rates.",
        workload=t.workload,
    ),
    _C.DATA_SIZE_UNKNOWN: lambda r, t: _(
        "The data set size of `{workload}` was not recorded, so it is not known how much of a larger one the page "
        "cache would hold. Measure it with its data, or import it with `dataset_gib`.",
        workload=t.workload,
    ),
    _C.DATA_SIZE_NOT_COMPARABLE: lambda r, t: _(
        "The data set size of `{workload}` was not recorded, so it cannot be compared with {size}. Say how many times "
        "as large it is with --data-factor.",
        workload=t.workload,
        size=size_of(r, "size"),
    ),
}
