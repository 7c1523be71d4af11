"""What was found for one workload, as plain dicts: charts, what binds each configuration, model and rejected specs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sizer.model import Parameter, as_asked
from sizer.records import Evidence, Run
from sizer.words import evidence_in_words

from . import busy, formatting, isolated, preprocessing, results, words
from .figures import figures
from .subject import Subject
from .verdict import described, status


def section(subject: Subject) -> dict[str, Any]:
    """All that the workload's section shows; every value is text, a number for a bar, or finished SVG.

    Runs of a search for the memory floor show no rate, and runs that isolate a stage not that of the workload, so none
    of it draws or counts them; the latter have a table of their own.
    """
    what, alone, subject = described(subject), isolated.rows(subject), replace(subject, runs=as_asked(subject.runs))
    found = results.by_configuration(subject.runs)
    first, more = figures(subject)
    return {
        "name": subject.name,
        "status": status(subject.answer),
        "what": what,
        "unit": formatting.plural(subject.unit),
        "figures": first,
        "more_figures": more,
        "rows": [_row(result, subject) for result in found],
        "has_latency": any(row["p50"] for row in map(_latency, found)),
        "preprocessing": preprocessing.times(subject),
        "isolated": alone,
        "model": _model(subject),
        "rejected": _rejected(subject),
        "none_completed": not found,
    }


def _row(result: results.Result, subject: Subject) -> dict[str, Any]:
    configuration = result.configuration
    evidence = [run.evidence for run in result.runs if run.evidence is not None]
    remarks, vcpus, batch = [words.accelerators(configuration)], configuration.vcpus, configuration.batch_size
    remarks += [subject.unusual(result.input, result.cache)]
    return {
        "vcpus": f"{vcpus:g}" if vcpus is not None else "",
        "memory": words.memory(configuration),
        "disk": words.disk(configuration.disk, subject.study) if configuration.disk is not None else "",
        "batch": str(batch) if batch is not None else "",
        "state": ", ".join(remark for remark in remarks if remark),
        "is_answer": preprocessing.is_answer(configuration, subject),
        "runs": _counted(result.runs),
        "throughput": formatting.rate_interval(result.throughput, subject.unit),
        "bottleneck": _bottleneck(evidence, subject),
        "reason": evidence_in_words(evidence[0]) if evidence else "not accounted",
        "busy": busy.bars(evidence),
        **_latency(result),
    }


def _counted(runs: tuple[Run, ...]) -> str:
    """`3 runs, 1 with a warning`."""
    warned = sum(bool(run.warnings) for run in runs)
    told = f", {'' if len(runs) == warned == 1 else f'{warned} '}with a warning" if warned else ""
    return formatting.counted(len(runs), "run") + told


def _bottleneck(evidence: list[Evidence], subject: Subject) -> str:
    """What the repeats agree on; where they differ, all that they name."""
    names = dict.fromkeys(words.bottleneck(each.bottleneck, subject.device) for each in evidence)
    return " or ".join(names) if names else "unknown"


def _latency(result: results.Result) -> dict[str, str]:
    p50, p99 = (results.mean(_latencies(result.runs, name)) for name in ("latency_p50", "latency_p99"))
    return {
        "p50": formatting.milliseconds(p50) if p50 is not None else "",
        "p99": formatting.milliseconds(p99) if p99 is not None else "",
    }


def _latencies(runs: tuple[Run, ...], name: str) -> list[float | None]:
    return [getattr(run, name) for run in runs]


def _model(subject: Subject) -> dict[str, Any]:
    if subject.model is None:
        return {"refusal": _refusal(subject), "summary": "", "parameters": []}
    return {
        "refusal": "",
        "summary": formatting.sentence(subject.model.summary),
        "parameters": [_parameter(each) for each in subject.model.parameters],
    }


def _refusal(subject: Subject) -> str:
    return formatting.sentence((subject.model_refusal or "").replace("`", ""))


def _parameter(value: Parameter) -> dict[str, str]:
    return {
        "name": value.name.replace("_", " "),
        "value": f"{formatting.format_number(value.value)} {value.unit}".strip(),
        "interval": formatting.span(value.low, value.high) if value.low < value.high else "–",
        "source": value.source,
    }


def _rejected(subject: Subject) -> list[dict[str, str]]:
    rejected = subject.answer.rejected if subject.answer is not None else ()
    return [{"spec": words.spec(each.spec, subject.study, subject.device), "why": each.why} for each in rejected]
