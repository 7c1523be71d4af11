"""What to do next, and why there is no answer."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from sizer.records.prediction import Action, ReasonCode, Refusal, Spec, Suggestion
from sizer.words.language import Templates, _, paragraph, vcpus_listed
from sizer.words.names import Terms, accelerators_name, gpu_name, spec_name
from sizer.words.reasons import reason_sentence

_ACTIONS: Templates[Action, Mapping[str, str]] = {
    Action.RENAME: {"": "Give each its own workload name."},
    Action.FINISH: {"": "Finish the study, or measure the whole job."},
    Action.MEASURE: {
        "spec": "Measure `{workload}` with {spec}.",
        "vcpus": "Measure `{workload}` at {vcpus}[[, on a larger host than the one that measured, which has "
        "{host:vcpus}]].",
        "memory": "Measure `{workload}` with {memory:bytes} of memory.",
        "batch": "Measure `{workload}` with a batch of {batch}.",
        "accelerators": "Measure `{workload}` with {accelerators}.",
        "disk": "Measure it there, or give the disk's rates with --disk-iops and --disk-mbps.",
        "input": "Also measure `{workload}` with `input: {input}`.",
        "accounting": "Measure a run of `{workload}` with disk accounting (read_bytes).",
        "machine": "Measure `{workload}` once on {machine}, and give the run with --calibrate.",
        "": "Measure `{workload}`[[ on {gpu}]].",
    },
    Action.REPEAT: {
        "batches": "Name the group `batches` in the pattern of `{workload}`, and measure it again.",
        "counter": "Let the pattern of `{workload}` read a counter (`step`), too, and measure it again.",
        "units": "Correct the units in the pattern of `{workload}`, and measure it again.",
        "batch_size": "Give `{workload}` the `batch_size` that its log tells, and measure it again.",
        "spec": "Repeat `{workload}` with {spec}.",
        "": "Repeat `{workload}`[[ at {vcpus}]].",
    },
    Action.RETRY: {
        "": "[[No run of `{workload}` at {vcpus} completed. ]]`sizer status` says how each run ended: fix "
        "the cause, and measure again with --retry."
    },
    Action.IMPORT: {
        "job_by": "Import the table again with `--job-by {job_by}`.",
        "other_sizes": "Measure `{workload}` at three vCPU values or more, or add a column `{column}` and "
        "import the table again.",
        "column": "Add a column `{column}` and import the table again.",
        "": "Import a table with runs of it that completed.",
    },
}
"""Of each action the first sentence whose figure is there."""


def suggestion_sentences(suggestion: Suggestion, terms: Terms) -> str:
    """What to do next, and what it would settle."""
    asked, why = suggestion, suggestion.why
    place = Spec(
        next(iter(asked.vcpus), None), asked.memory_bytes, asked.disk, asked.batch_size, asked.gpu, asked.gpu_count or 0
    )
    in_one = len(asked.vcpus) == 1 and (place != Spec(place.vcpus, gpu=asked.gpu) or asked.gpu_count is not None)
    values = {
        "workload": terms.workload,
        "spec": spec_name(place, terms) if in_one else "",
        "vcpus": vcpus_listed(asked.vcpus) if asked.vcpus else "",
        "host": asked.host_vcpus if asked.needs_larger_host else None,
        "memory": asked.memory_bytes,
        "batch": asked.batch_size,
        "accelerators": accelerators_name(None, asked.gpu_count) if asked.gpu_count else "",
        "gpu": gpu_name(asked.gpu) if asked.gpu is not None else "",
        "job_by": shlex.quote(asked.job_by) if asked.job_by else "",
        "other_sizes": asked.column and why,
        asked.repeat_how or "again": True,
    }
    values = vars(asked) | values
    message = next(text for figure, text in _ACTIONS[asked.action].items() if not figure or values.get(figure))
    further = "" if why is None or why.code is ReasonCode.NOT_IN_TABLE else reason_sentence(why, terms)
    return paragraph([_(message, **values), further])


def refusal_sentences(refusal: Refusal, terms: Terms) -> str:
    """Why there is no answer, and what would help."""
    suggestion = refusal.suggestion
    what_helps = "" if suggestion is None else suggestion_sentences(suggestion, terms)
    return paragraph([reason_sentence(refusal.reason, terms), what_helps])
