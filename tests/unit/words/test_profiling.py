"""What is said of a profiled program, of runs that are chosen one after another, and of what to do about a failure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sizer.bundled.reports.subject import Material
from sizer.catalog.catalog import Catalog
from sizer.plan.axes_of_first_run import Needs
from sizer.plan.chooser import NextRun, PlanEnd
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Cause, CauseKind, Failure, LimitedBy, LimitedByKind, Meter, MeterKind, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, PlanEndKind, RunReason, RunReasonKind, RunSpec, Workload
from sizer.records.units import GIB, MIB
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.words.failures import remedy_of_failure
from sizer.words.studies import planning
from sizer.words.studies.profiling import axes_lines, first_run_failed, needs_lines
from tests.unit.plan.machine import chooser_of, study_of

# What a profile says of a program, word for word.


NEEDS = Needs(
    vcpus=2.0,
    busy_vcpus=1.87,
    own_memory_bytes=481 * MIB,
    page_cache_bytes=0,
    read_bytes=110000.0,
    written_bytes=0.0,
    first_step_seconds=2.5,
    rate=Estimate(123.4, 120.0, 127.0),
    unit="image",
    batch_samples=32,
    meter=Meter(MeterKind.HOOK, "torch"),
    threads=9,
)


def failed(outcome: Outcome, *kinds: CauseKind) -> Run:
    spec = RunSpec(Workload("mine", "command", "other"), 1, Limits(), Measure())
    error = Failure(Cause(kinds[0]), tuple(map(Cause, kinds[1:]))) if kinds else None
    return Run(spec, outcome, Configuration(2.0, GIB, "host", 1), None, 9.0, error=error)


def test_what_a_program_used() -> None:
    assert list(needs_lines(NEEDS, "train")) == [
        "what `train` used without limits:",
        "  vCPUs: 1.87 of 2 busy",
        "  threads: up to 9; OMP_NUM_THREADS was 2",
        "  memory: 481 MiB at its peak that cannot be dropped, and none of page cache",
        "  disk: 107 KiB read and none written for each image",
        "  start: 2.5 s to its first step",
        "  rate: 123 images/s (120–127), 32 images a step, counted by the hook in PyTorch",
    ]


def test_what_was_not_accounted_is_left_out() -> None:
    """Or said, where it would be missed."""
    bare = replace(
        NEEDS,
        busy_vcpus=None,
        own_memory_bytes=None,
        read_bytes=None,
        first_step_seconds=None,
        batch_samples=None,
        meter=None,
        threads=None,
    )
    assert list(needs_lines(bare, "train"))[1:] == [
        "  vCPUs: how many of 2 were busy was not accounted",
        "  threads: not counted; OMP_NUM_THREADS was 2",
        "  rate: 123 images/s (120–127), told by the program itself",
    ]


def test_a_rate_of_steps_says_how_to_count_samples() -> None:
    unseen = replace(NEEDS, unit="step", batch_samples=1, samples_seen=False)
    assert list(needs_lines(unseen, "train"))[-1] == (
        "  rate: 123 steps/s (120–127), counted by the hook in PyTorch; how many samples a step has was not seen: "
        "to count them, add --samples-per-step N"
    )


def test_the_axes_that_were_chosen() -> None:
    text = """
    workloads:
      - {name: mine, kind: command, command: "prog {batch_size}", batch_size: [8, 16], memory_floor: true}
    axes: {vcpus: [0.5, 1, 2], memory: [1GiB, 2GiB], disk: [fast, cloud]}
    disks: {fast: /mnt, cloud: {emulate: alibaba/cloud_ssd, size: 500GiB}}
    """
    study = parse_study(text, "x.yaml", None, HostSize(2, 8 * GIB), Catalog.load())
    assert list(axes_lines(study, Path("x.yaml"), 12, 90.0)) == [
        "chosen from this: 0.5, 1 and 2 vCPUs; batch sizes 8 and 16; the present disk, disk `fast` and disk `cloud`; "
        "memory caps of 1 GiB and 2 GiB; the smallest memory in which it runs",
        "12 runs to come, about 1 min 30 s",
        "the study file of these runs: x.yaml",
    ]
    assert len(list(axes_lines(study, Path("x.yaml"), 0, 0.0))) == 2


def test_a_host_that_is_too_small() -> None:
    lines = list(first_run_failed(failed(Outcome.OUT_OF_MEMORY, CauseKind.HOST_MEMORY), None, ()))
    assert lines == [
        "without a rate of the run without limits nothing else is measured",
        "this host has too little memory for it: measure on a larger one, or make the batch smaller",
        "fix it, then run the same command",
    ]


# What is said of runs that are chosen.


SENTENCES = [
    (RunReason(RunReasonKind.START), "the first runs show the most, the least and the middle"),
    (RunReason(RunReasonKind.ONLY_ONE), "it is the only configuration"),
    (RunReason(RunReasonKind.NOT_SEEN, {}, ("vcpus",)), "no run with these vCPUs completed yet"),
    (RunReason(RunReasonKind.NOT_SEEN, {}, ("disk",)), "no run was on this disk yet"),
    (RunReason(RunReasonKind.NOT_SEEN, {}, ("memory",)), "no run had this memory yet"),
    (RunReason(RunReasonKind.NOT_SEEN, {}, ("batch_size",)), "no run had this batch size yet"),
    (RunReason(RunReasonKind.NOT_SEEN, {}, ("gpu_count",)), "no run had so many accelerators yet"),
    (RunReason(RunReasonKind.BETWEEN_VCPUS, {"low": 2, "high": 8}), "between 2 and 8 vCPUs the answer is open"),
    (
        RunReason(RunReasonKind.BETWEEN_MEMORY, {"low": 2.0 * GIB, "high": 8.0 * GIB}),
        "between 2 GiB and 8 GiB of memory the answer is open",
    ),
    (RunReason(RunReasonKind.BETWEEN_DISKS, {}, ("fast", "slow")), "whether the answer is disk fast or slow is open"),
    (
        RunReason(RunReasonKind.NOT_SURE, {"vcpus": 4.0, "probability": 0.71}),
        "that 4 vCPUs are enough is not sure enough: 71 %",
    ),
    (RunReason(RunReasonKind.NOT_SURE, {"probability": 0.71}), "the answer is not sure enough: 71 %"),
    (RunReason(RunReasonKind.OWN_RUN), "the answer itself was not measured yet"),
    (RunReason(RunReasonKind.NOT_COMPARED), "the answer is the best of what was measured, and this was not yet"),
    (RunReason(RunReasonKind.NOT_FITTED), "the runs so far do not carry an answer"),
    (RunReason(RunReasonKind.HOST_AGAIN, {"runs": 8.0}), "to see whether the host has changed in 8 runs"),
    (
        RunReason(RunReasonKind.HOST_OPEN, {}, ("train",)),
        "how slow the host was meanwhile leaves the answer of `train` open",
    ),
]


@pytest.mark.parametrize(("why", "sentence"), SENTENCES)
def test_why_a_run_is_made(why: RunReason, sentence: str) -> None:
    """One plain sentence."""
    assert planning.reason_in_words(why) == sentence


def test_every_kind_is_said() -> None:
    """None is without its sentence."""
    assert {why.kind for why, _ in SENTENCES} == set(RunReasonKind)


@pytest.mark.parametrize(
    ("kind", "runs", "sentence"),
    [
        (PlanEndKind.SETTLED, 5, "every answer is settled after 5 runs of 3 min 00 s together"),
        (PlanEndKind.SETTLED, 1, "every answer is settled after 1 run of 36 s"),
        (PlanEndKind.BUDGET, 5, "the budget has no room for another run after 5 runs of 3 min 00 s together"),
        (PlanEndKind.BUDGET, 0, "the budget has no room for a first run"),
        (PlanEndKind.RUNS, 5, "as many runs are made as were allowed: 5"),
        (PlanEndKind.NOTHING_LEFT, 1, "no single run that is left would tell much after 1 run of 36 s"),
    ],
)
def test_why_no_further_run_is_made(kind: PlanEndKind, runs: int, sentence: str) -> None:
    """With what is still open."""
    assert planning.plan_ended(PlanEnd(kind, ("a",), (), runs, 36.0 * runs)) == sentence
    assert planning.plan_ended(PlanEnd(kind, ("a",), ("b",), runs, 36.0 * runs)) == f"{sentence}; still open: `b`"


def bounded(kind: PlanEndKind, enough: float) -> PlanEnd:
    """Ended by a bound after five runs, before the first one of a study."""
    then = NextRun(chooser_of(study_of("b")).start()[0], RunReason(RunReasonKind.NOT_SEEN, {}, ("vcpus",)))
    return PlanEnd(kind, ("a",), ("b",), 5, 180.0, then=then, enough=enough)


def test_a_bound_says_what_a_larger_one_would_measure_and_what_to_type() -> None:
    """The next run with its reason, in each place where the end is told."""
    end = bounded(PlanEndKind.RUNS, 10)
    sentence = (
        "as many runs are made as were allowed: 5; still open: `b`; the next would be b 16 vCPUs: no run with these "
        "vCPUs completed yet"
    )
    command = "sizer run s/study.yaml --out s --runs 10"
    assert planning.plan_ended_line(end, (), "s", ()) == f"{sentence}; to go on, type: {command}"
    assert (
        planning.chosen_runs(end, (), to_go_on=True) == f"Its runs were chosen one after another: {sentence}. To go on:"
    )
    assert planning.going_on_with((), "s", end) == command
    assert planning.going_on_with((), "s", bounded(PlanEndKind.BUDGET, 301.0)).endswith(" --budget 6m")
    assert planning.plan_ended_line(replace(end, then=None, enough=None), (), "s", ()).endswith("; still open: `b`")


# What to do about failures and warnings.


@pytest.fixture
def run(material: Material) -> Run:
    return material.runs[0]


def ended(run: Run, outcome: Outcome, *kinds: CauseKind, **figures: float) -> str:
    """The remedy for a run that ended so, for these causes."""
    causes = [Cause(kind, figures if number == 0 else {}) for number, kind in enumerate(kinds)]
    error = Failure(causes[0], tuple(causes[1:]), "its last line") if causes else None
    return remedy_of_failure(replace(run, outcome=outcome, error=error))


@pytest.mark.parametrize("cause", CauseKind)
@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.COMPLETED])
def test_every_way_of_failing_has_a_remedy(run: Run, outcome: Outcome, cause: CauseKind) -> None:
    """One or two sentences, with a command where something is to be done."""
    sentence = ended(run, outcome, cause)
    assert sentence.endswith(".")
    assert "`sizer resume DIR" in sentence or outcome is Outcome.OUT_OF_MEMORY


def test_a_kill_for_memory_is_a_finding(run: Run) -> None:
    """With a cap; without one it is the host or its accelerator that has too little."""
    capped = replace(run, spec=replace(run.spec, limits=replace(run.spec.limits, memory_bytes=2**28)))
    assert ended(capped, Outcome.OUT_OF_MEMORY, CauseKind.MEMORY_CAP).startswith("Nothing: ")
    free = replace(run, spec=replace(run.spec, limits=replace(run.spec.limits, memory_bytes=None)))
    assert "smaller `batch_size`" in ended(free, Outcome.OUT_OF_MEMORY, CauseKind.HOST_MEMORY)


def test_what_failed_for_its_cause_alone_is_tried_again(run: Run) -> None:
    """`--retry` where the same run may go well; what is mended in the study file is another run."""
    assert "--retry" in ended(run, Outcome.CRASHED, CauseKind.EXIT_STATUS)
    assert "Make room" in ended(run, Outcome.CRASHED, CauseKind.EXIT_STATUS, CauseKind.DISK_FULL)
    assert "--retry" not in ended(run, Outcome.CRASHED, CauseKind.NOT_FOUND)
    assert "--retry" not in ended(run, Outcome.REFUSED, CauseKind.REFUSED)
    assert "sizer doctor" in ended(run, Outcome.REFUSED, CauseKind.REFUSED)
    assert "sizer pattern" in ended(run, Outcome.TIMEOUT, CauseKind.DEADLINE, CauseKind.NO_MATCH)


def test_what_was_measured_elsewhere_is_not_measured_here(run: Run) -> None:
    """No command of sizer makes a row of somebody's table again."""
    imported = replace(run, limited_by=LimitedBy(LimitedByKind.IMPORTED, text="table.csv"))
    assert "sizer resume" not in ended(imported, Outcome.CRASHED, CauseKind.IMPORTED)
    assert ended(imported, Outcome.OUT_OF_MEMORY, CauseKind.IMPORTED).startswith("Nothing: ")
