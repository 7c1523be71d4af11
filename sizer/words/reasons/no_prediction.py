"""Why there is no model, or no prediction."""

from __future__ import annotations

from sizer.records import ReasonCode as Code
from sizer.words.reasons.templates import Sentences, first_of
from sizer.words.reasons.templates import marked as _

SENTENCES: Sentences = {
    Code.NOT_FITTED: first_of(_("`{workload}` has no model.")),
    Code.NO_RUN_COMPLETED: first_of(
        _("What {numbers} accelerators make is not known: no run with as many completed ({outcomes})."),
        _("Not enough data: no run of `{workload}` completed ({outcomes})."),
        _("Not enough data: all stored runs of `{workload}` isolate one stage."),
    ),
    Code.TOO_FEW_VALUES: first_of(
        _("Not enough data: `{workload}` was measured with `{axis}` {values} alone, and three values are needed."),
        _("The rows of `{workload}` differ in nothing that the model predicts; they are compared as they are."),
    ),
    Code.NOT_MEASURED: first_of(
        _("`{workload}` was not measured on {gpu}, only on {gpus_measured}."),
        _("`{workload}` was not measured on {disk}, only on {disks_measured}."),
    ),
    Code.NOT_IN_TABLE: first_of(
        _("The table has no `{column}` for `{workload}`, so other sizes cannot be predicted."),
    ),
    Code.NOT_RECORDED: first_of(
        _(
            "The data set size of `{workload}` was not recorded, so it cannot be compared with {data}. Say how many "
            "times as large it is with --data-factor."
        ),
        _(
            "The data set size of `{workload}` was not recorded, so it is not known how much of a larger one the page "
            "cache would hold. Measure it with its data, or import it with `dataset_gib`.",
            column="dataset_gib",
        ),
        _("The disk reads of `{workload}` were not measured, so another disk cannot be predicted from its rates."),
    ),
    Code.MIXED_PROGRAMS: first_of(_("The runs of `{workload}` are of several programs: {programs}.")),
    Code.RELATIVE_HAS_NO_TIME: first_of(
        _(
            "The table's rates are only relative to one another, so no time and no rate can be asked of them; "
            "leave out --samples, --within and --at-least, or import rates in samples per second."
        ),
    ),
    Code.FACTOR_NOT_POSITIVE: first_of(_("A speed-up or a factor must be above 0, for example 2.")),
    Code.NO_GPU_TO_SPEED_UP: first_of(
        _("`{workload}` was measured without a GPU, so there is none to speed up."),
    ),
    Code.STEP_NOT_SEPARATE: first_of(
        _("`{workload}` computes its step on the CPU that also decodes, and no run separates the two."),
    ),
}
