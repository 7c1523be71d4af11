"""What a profile says of a program, word for word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sizer.catalog.catalog import Catalog
from sizer.plan.axes_of_first_run import Needs
from sizer.records.configuration import Configuration, Estimate
from sizer.records.run import Cause, CauseKind, Failure, Meter, MeterKind, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.records.units import GIB, MIB
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.words.runs import run_in_words
from sizer.words.studies.profiling import axes_lines, first_run_failed, needs_lines

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


def test_a_first_run_beside_other_load_says_so() -> None:
    assert list(needs_lines(replace(NEEDS, busy_vcpus=0.5, taken_cores=1.5), "train"))[1] == (
        "  vCPUs: 0.50 of 2 busy, while other programs took 1.50"
    )


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
    said = list(first_run_failed(failed(Outcome.OUT_OF_MEMORY, CauseKind.HOST_MEMORY), None, ()))
    assert said == [
        "without a rate of the run without limits nothing else is measured",
        "this host has too little memory for it: measure on a larger one, or make the batch smaller",
        "fix it, then run the same command",
    ]


def test_a_crash_after_steps_that_nobody_saw_is_a_crash() -> None:
    """Its steps are not what is missing."""
    run = failed(Outcome.CRASHED, CauseKind.EXIT_STATUS, CauseKind.NO_EVENT)
    said = " ".join(first_run_failed(run, Path("x.log"), ()))
    assert "sizer.meter" not in said
    assert "what it printed: x.log" in said


def test_a_run_is_named_by_what_it_was_told() -> None:
    """A run without limits says so, and a command's batch size only where somebody told it."""
    run = failed(Outcome.CRASHED).spec
    assert run_in_words(run) == "mine no limits"
    assert run_in_words(replace(run, batch_size=8)) == "mine no limits, batch 8"
    told = replace(run.workload, command=("prog", "{batch_size}"))
    assert run_in_words(replace(run, workload=told, limits=Limits(1.0))) == "mine 1 vCPU, batch 1"


def test_a_module_that_another_environment_has_says_how_to_use_that() -> None:
    """`python` in sizer's own environment is sizer's."""
    run = failed(Outcome.CRASHED, CauseKind.EXIT_STATUS)
    workload = replace(run.spec.workload, command=("/opt/sizer/bin/python", "train.py"))
    assert run.error is not None
    error = replace(run.error, last_lines="Traceback ...\nModuleNotFoundError: No module named 'torch'")
    said = list(first_run_failed(replace(run, spec=replace(run.spec, workload=workload), error=error), None, ()))
    assert said[1] == (
        "/opt/sizer/bin/python has no `torch`; to run it in the environment that has it, give that one's interpreter: "
        "sizer profile -- /path/to/environment/bin/python ..."
    )
