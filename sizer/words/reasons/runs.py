"""Why there is no model or no prediction, what the runs say against an answer, and what one more would settle."""

from __future__ import annotations

from sizer.records.prediction import ReasonCode as Code
from sizer.words.reasons.templates import Sentences, first_of
from sizer.words.reasons.templates import marked as _

SENTENCES: Sentences = {
    # Why there is no model, or no prediction.
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
        _("`{workload}` was not measured on [[{gpu}, only on {gpus_measured}]][[{disk}, only on {disks_measured}]].")
    ),
    Code.NOT_IN_TABLE: first_of(_("The table has no `{column}` for `{workload}`, so other sizes cannot be predicted.")),
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
            "The table's rates are only relative to one another, so no time and no rate can be asked of them; leave "
            "out --samples, --within and --at-least, or import rates in samples per second."
        )
    ),
    Code.FACTOR_NOT_POSITIVE: first_of(_("A speed-up or a factor must be above 0, for example 2.")),
    Code.NO_GPU_TO_SPEED_UP: first_of(_("`{workload}` was measured without a GPU, so there is none to speed up.")),
    Code.STEP_NOT_SEPARATE: first_of(
        _("`{workload}` computes its step on the CPU that also decodes, and no run separates the two.")
    ),
    # What the runs say against an answer.
    Code.ONLY_MEASURED_SIZES: first_of(
        _("No axis was measured at three values, so only what was measured is compared.")
    ),
    Code.RATE_CONTRADICTED: first_of(
        _(
            "In {mistold} of {completed} runs the log most likely tells a rate of batches, so neither samples a "
            "second nor what they cost are known: give `batches` in place of `rate` in the pattern.",
            correct="batches",
        ),
        _(
            "In {mistold} of {completed} runs the log most likely has a line of each of several processes, so neither "
            "samples a second nor what they cost are known: let one of them print, or let the pattern read a counter "
            "(`step`), too.",
            correct="counter",
        ),
        _(
            "In {mistold} of {completed} runs the log tells another rate than its lines come at, so neither samples a "
            "second nor what they cost are known: check the unit of the pattern's groups."
        ),
    )
    + first_of(_("They are not all wrong alike, so another spec may be the answer.", alike=False)),
    Code.JOBS_MIXED: first_of(
        _(
            "Rows of one configuration differ by a factor of up to {ratio}, and in {columns}: they may be different "
            "jobs."
        )
    ),
    Code.RUNS_APART: first_of(
        _(
            "One rate looks like a slip: with {fewer} instead of {machine} it was {factor} as fast; check both.",
            slower=True,
        ),
        _("One rate looks like a slip: {machine} is {factor} as fast as in proportion to {fewer}; check both."),
        _(
            "Runs of {machine} are {factor} apart: one of them is a slip, and no answer is reliable until it is "
            "corrected."
        ),
    ),
    Code.RUNS_DOUBTFUL: first_of(_("In {doubtful} of {completed} runs the rate is {doubts}.")),
    Code.RUNS_FAILED: first_of(_("{failed} of {runs} runs gave no rate ({outcomes}).")),
    Code.RUNS_STARVED: first_of(
        _(
            "In {starved} of {completed} runs others had a part of the vCPUs, so the rate is a lower bound: measure "
            "on a quiet host."
        ),
        _(
            "Others used the CPUs of this host in every run of `{workload}`, so no rate shows what it needs; measure "
            "on a quiet host."
        ),
    ),
    Code.MEASURED_BESIDE_OTHERS: first_of(
        _(
            "Measured there were {measured_rate} while something else used {cores} cores of the host; {rate} are what "
            "the fitted curve, which rests on all runs, makes of it."
        )
    ),
    Code.RUN_WOULD_SETTLE: first_of(
        _("Of all runs, one more with {spec} would tell most."),
        _("The rate still rises at the most measured; if it no longer does at {larger}, the knee is found."),
        _("The study's plan has runs that are not made yet."),
    ),
}
