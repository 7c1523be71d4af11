"""Every run as one line, which opens to the evidence behind it; plain dicts of text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from sizer.model.model import batch_of, disk_of, memory_of, vcpus_of
from sizer.records.prediction import Bottleneck
from sizer.records.run import Evidence, EvidenceKind, Run
from sizer.records.run_kinds import ISOLATED_STAGES, Outcome
from sizer.records.study import Study
from sizer.records.units import format_number, format_seconds
from sizer.words import runs as words
from sizer.words.language import _, clauses, percent, rate_interval, row, sentence, vcpus_in_words
from sizer.words.names import accelerators_in_words, batch_named, outcome_in_words, resource_name
from sizer.words.page import busy_name, configuration_line, ending, memory_size, study_disk
from sizer.words.studies.planning import reason_in_words
from sizer.words.warnings import warning_line, warning_names

from .. import doubts, results
from ..subject import Material, Subject, described
from . import evidence_card

MOST_IN_PLACE = 150
"""Runs whose evidence stands in the page as it is, for readers without scripts and for the browser's search. It takes
3 kB and 200 elements a run: of 1,000 runs that would be most of the page, and most of the time to open it."""
COLUMNS = ("vcpus", "memory", "disk", "batch", "repeat", "why", "warned")
"""Of a line, beside the rate that each has; those of which no run says anything are left out."""
LAST_LINES = 5
"""Lines of a failed run's last words that its card shows; the table of what failed has more."""


def contents(material: Material, subjects: Sequence[Subject]) -> dict[str, Any]:
    """Every run, a group for each workload."""
    study = material.study
    return {
        "runs": [_group(subject, study) for subject in subjects if subject.runs],
        "packed": len(material.runs) > MOST_IN_PLACE,
        "imported": study.imported,
    }


def _group(subject: Subject, study: Study) -> dict[str, Any]:
    runs = [{**_line(run, subject, study), **_card(run)} for run in sorted(subject.runs, key=_order)]
    repeated = any(run.spec.repeat for run in subject.runs)
    filled = [column for column in COLUMNS if any(run[column] for run in runs)]
    columns = [column for column in filled if column != "repeat" or repeated]
    counted = any(accelerators_in_words(run.configuration) for run in subject.runs)
    return {"name": subject.name, "what": described(subject), "runs": runs, "columns": columns, "counted": counted}


def _order(run: Run) -> tuple[float, int, int, str, int, int]:
    configuration = run.configuration
    return (
        vcpus_of(configuration),
        configuration.gpu_count or 0,
        memory_of(configuration),
        disk_of(configuration),
        batch_of(configuration),
        run.spec.repeat,
    )


def _line(run: Run, subject: Subject, study: Study) -> dict[str, Any]:
    """Its configuration, what came out, what bound it, and the kinds of its warnings."""
    workload = run.spec.workload
    bound, why = _bound(run, subject)
    return {
        **_limits(run, study),
        "repeat": _("repeat {number}", number=run.spec.repeat + 1),
        "state": words.remark_in_words(run.spec) or subject.unusual(workload.assumed_input, workload.assumed_cache),
        "failed": run.outcome is not Outcome.COMPLETED,
        "outcome": ending(run),
        "rate": _rate(run),
        "bound": bound,
        "why": why,
        "warned": row(warning_names(run)),
    }


def _limits(run: Run, study: Study) -> dict[str, str]:
    """What it had, without what an imported table does not say."""
    configuration = run.configuration
    vcpus = vcpus_in_words(configuration.vcpus) if configuration.vcpus is not None else ""
    return {
        "vcpus": row(part for part in (vcpus, accelerators_in_words(configuration)) if part),
        "memory": memory_size(configuration),
        "disk": study_disk(configuration.disk, study) if configuration.disk is not None else "",
        "batch": batch_named(configuration.batch_size) if configuration.batch_size is not None else "",
    }


def _card(run: Run) -> dict[str, Any]:
    """What the line opens to."""
    last_words = doubts.last_words(run) if run.outcome is not Outcome.COMPLETED else ""
    return {
        "id": run.id,
        "reason": reason_in_words(run.reason) if run.reason is not None else "",
        "warnings": [sentence(warning_line(warning, run.sample_unit)) for warning in run.warnings],
        "busy": busy_bars([run.evidence] if run.evidence is not None else []),
        "groups": evidence_card.groups(run),
        "last_words": "\n".join(last_words.splitlines()[-LAST_LINES:]),
        "started": (run.started_at or "").replace("T", " ").replace("+00:00", " UTC"),
        "took": format_seconds(run.wall_seconds) if run.wall_seconds else "",
        "limited_by": words.limits_in_words(run.limited_by) if run.limited_by is not None else "",
    }


def _rate(run: Run) -> str:
    if run.throughput is None or not results.measured(run):
        return ""
    return rate_interval(run.throughput, run.sample_unit)


def _bound(run: Run, subject: Subject) -> tuple[str, str]:
    """The bottleneck and the reason; of a run that gave no rate why it did not."""
    if run.outcome is not Outcome.COMPLETED:
        return "", doubts.line(run)
    if run.evidence is None:
        return "", ""
    return resource_name(run.evidence.bottleneck, subject.device), words.evidence_in_words(run.evidence)


BAR = Markup(
    '<span class="share"><svg class="meter" aria-hidden="true"><rect width="{:.0f}%" height="100%"/></svg>{} {}</span>'
)
"""Width in percent, name and share."""


def busy_bars(evidence: Sequence[Evidence]) -> Markup:
    """Median busy share of each resource over these runs as a bar with its words, the busiest first."""
    names = dict.fromkeys(name for share in evidence for name in share.busy)
    shares = {name: results.middle(share.busy.get(name) for share in evidence) or 0.0 for name in names}
    return Markup("").join(
        BAR.format(min(max(share, 0.0), 1.0) * 100, busy_name(name), percent(share))
        for name, share in sorted(shares.items(), key=lambda item: -item[1])
    )


def evidence_agreed(evidence: Sequence[Evidence]) -> str:
    """What the bottleneck of these runs was named by: medians over the runs that named it alike, as their rate is."""
    alike: dict[tuple[Bottleneck, EvidenceKind, frozenset[str], str | None], list[Evidence]] = defaultdict(list)
    for one in evidence:
        alike[one.bottleneck, one.kind, frozenset(one.figures), one.text].append(one)
    wordings = [(words.evidence_in_words(_middle(group)), len(group)) for group in alike.values()]
    if len(wordings) < 2:
        return "".join(line for line, _count in wordings)
    return clauses(words.in_so_many_runs(count, len(evidence), line) for line, count in wordings)


def _middle(alike: Sequence[Evidence]) -> Evidence:
    shares = {name: results.middle(evidence.figures[name] for evidence in alike) or 0.0 for name in alike[0].figures}
    return replace(alike[0], figures=dict(sorted(shares.items(), key=lambda item: -item[1])))


def isolated_rows(subject: Subject) -> list[dict[str, Any]]:
    """Runs that isolate a stage, which show no rate of the workload: where, the rate, and what each shows."""
    runs = [run for run in subject.runs if run.spec.stage is not None]
    return [_isolated_row(run, subject) for run in sorted(runs, key=_isolated_order)]


def _isolated_row(run: Run, subject: Subject) -> dict[str, Any]:
    stage = run.spec.stage
    assert stage is not None, "rows() lets only such runs through"
    title, _isolating, shown, learnt = words.stage_in_words(stage)
    return {
        "stage": title,
        "where": configuration_line(run.configuration, subject.study),
        "rate": (_rate(run) or outcome_in_words(run.outcome), row(warning_names(run))),
        "tells": (_remarks(run, learnt), shown),
    }


def _remarks(run: Run, learnt: str) -> str:
    """What the stage gives, and the figure that the rate does not show."""
    if run.outcome is not Outcome.COMPLETED:
        return doubts.line(run)
    used, stage, figures = run.demand, run.spec.stage, ""
    if stage == "disk" and used is not None and used.read_bytes is not None and run.throughput is not None:
        figures = f"{format_number(run.throughput.value * used.read_bytes / 1e6)} MB/s"
        if used.read_ios is not None:
            reads = format_number(run.throughput.value * used.read_ios)
            figures = _("{speed} and {iops} IOPS of reads", speed=figures, iops=reads)
    if stage == "cache" and run.conditions.hit_rate is not None:
        figures = percent(run.conditions.hit_rate)
    return _("{name}: {sentence}", name=learnt, sentence=figures) if figures else learnt


def _isolated_order(run: Run) -> tuple[int, float, str, int]:
    configuration = run.configuration
    return (
        tuple(ISOLATED_STAGES.values()).index(run.spec.stage or ""),
        vcpus_of(configuration),
        disk_of(configuration),
        batch_of(configuration),
    )
