"""Where there is no answer, which run would help most; and what a what-if may not ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.model.fitting import fit
from sizer.model.model import MeasuredRange, WhatIf, WorkloadModel
from sizer.model.prediction import predict
from sizer.model.refusals import vcpus_to_measure
from sizer.records.configuration import Configuration
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Action, ReasonCode, Refusal, Refused, Suggestion
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.units import GIB

MakeRun = Callable[..., Run]
P100 = Device("emulated", gpu="P100", samples_per_second=219)


@pytest.fixture
def fitted(make_run: MakeRun) -> WorkloadModel:
    """A job on the CPU of which only the rate is known."""
    return fit([make_run(100.0 * vcpus, vcpus) for vcpus in (1.0, 2.0, 4.0)]).workload("train")


def at(model: WorkloadModel, **changed: object) -> Configuration:
    return replace(model.measured.rates[-1].configuration, **changed)  # type: ignore[arg-type]


def refusal_of(ask: Callable[[], object]) -> Refusal:
    with pytest.raises(Refused) as refused:
        ask()
    return refused.value.refusal


@pytest.mark.parametrize(
    ("changes", "axis", "wanted"),
    [
        ([{"memory": 2 * GIB}, {"memory": 4 * GIB}], "memory_gib", Suggestion(Action.MEASURE, memory_bytes=8 * GIB)),
        ([{"batch": 16}, {"batch": 32}], "batch_size", Suggestion(Action.MEASURE, batch_size=64)),
        ([{"vcpus": 2.0}, {"vcpus": 4.0}], "vcpus", Suggestion(Action.MEASURE, vcpus=(8.0,))),
    ],
)
def test_a_third_value_is_asked_for_on_the_axis_that_was_varied(
    changes: list[dict[str, float]], axis: str, wanted: Suggestion, make_run: MakeRun
) -> None:
    """Who varied memory is asked for twice the most memory, not for vCPUs."""
    refusal = fit([make_run(100.0, **{"vcpus": 2.0, **change}) for change in changes]).workload("train").refused
    assert refusal is not None
    assert refusal.reason.code is ReasonCode.TOO_FEW_VALUES
    assert refusal.reason.text("axis") == axis
    assert refusal.suggestion == wanted


def test_vcpus_that_nobody_knows_are_not_doubled() -> None:
    """A table without vCPUs gives no number to start from; one that failed is tried again first."""
    assert vcpus_to_measure(MeasuredRange()) == Suggestion(Action.MEASURE)
    failed = MeasuredRange(failed_vcpus=(8.0,))
    assert vcpus_to_measure(failed) == Suggestion(Action.RETRY, vcpus=(8.0,))


@pytest.mark.parametrize(("kind", "action"), [("imported", Action.IMPORT), ("image_training", Action.RETRY)])
def test_runs_that_all_crashed_are_made_or_imported_again(kind: str, action: Action, make_run: MakeRun) -> None:
    """Nobody can retry what another table says."""
    crashed = [make_run(None, vcpus, kind=kind, outcome=Outcome.CRASHED) for vcpus in (1.0, 2.0)]
    refusal = fit(crashed).workload("train").refused
    assert refusal is not None
    assert (refusal.reason.code, refusal.suggestion) == (ReasonCode.NO_RUN_COMPLETED, Suggestion(action))


def test_a_job_that_never_fitted_needs_twice_the_memory(make_run: MakeRun) -> None:
    """Every run was killed for want of memory: the next one has twice the most that was tried."""
    killed = [make_run(None, 2.0, memory=size * GIB, capped=True, outcome=Outcome.OUT_OF_MEMORY) for size in (1, 2)]
    refusal = fit(killed).workload("train").refused
    assert refusal is not None
    assert refusal.suggestion == Suggestion(Action.MEASURE, memory_bytes=4 * GIB)


@pytest.mark.parametrize(
    ("column", "lacking", "asked"),
    [
        ("memory_gib", {"memory_bytes": None}, {"memory_bytes": 4 * GIB}),
        ("batch_size", {"batch_size": None}, {"batch_size": 64}),
    ],
)
def test_a_column_that_a_table_lacks_is_asked_for(
    column: str, lacking: dict[str, None], asked: dict[str, int], make_run: MakeRun
) -> None:
    """No value of it can be predicted, and importing it is what would help."""
    runs = [make_run(100.0 * vcpus, vcpus) for vcpus in (1.0, 2.0, 4.0)]
    bare = [replace(run, configuration=replace(run.configuration, **lacking)) for run in runs]
    model = fit(bare).workload("train")
    refusal = refusal_of(lambda: predict(model, at(model, **asked)))
    assert (refusal.reason.code, refusal.reason.text("column")) == (ReasonCode.NOT_IN_TABLE, column)
    assert refusal.suggestion == Suggestion(Action.IMPORT, column=column)


def test_two_memory_sizes_say_nothing_between_them(make_run: MakeRun) -> None:
    """Where memory changes the rate, a size between two that were measured is refused and asked for."""
    runs = [
        make_run(rate * vcpus, vcpus, memory=size * GIB, capped=True)
        for size, rate in ((2, 20.0), (8, 100.0))
        for vcpus in (1.0, 2.0, 4.0)
    ]
    model = fit(runs).workload("train")
    refusal = refusal_of(lambda: predict(model, at(model, memory_bytes=4 * GIB)))
    assert refusal.reason.code is ReasonCode.TOO_FEW_VALUES
    assert refusal.suggestion == Suggestion(Action.MEASURE, memory_bytes=4 * GIB)


@pytest.mark.parametrize(
    ("changed", "what_if", "code", "wanted"),
    [
        ({}, WhatIf(gpu_speedup=2.0), ReasonCode.NO_GPU_TO_SPEED_UP, Suggestion(Action.MEASURE, gpu_count=1)),
        # A run with synthetic input would tell the decoder from a step on the same CPU.
        ({}, WhatIf(decode_factor=0.5), ReasonCode.STEP_NOT_SEPARATE, Suggestion(Action.MEASURE, input="synthetic")),
        # What a disk of other rates would give needs the bytes of a sample.
        (
            {},
            WhatIf(disk_rates=DiskRates(read_bytes_per_second=1e8)),
            ReasonCode.NOT_RECORDED,
            Suggestion(Action.MEASURE, accounting=True),
        ),
        ({"disk": "tape"}, WhatIf(), ReasonCode.NOT_MEASURED, None),
    ],
)
def test_what_would_help_is_named(
    fitted: WorkloadModel, changed: dict[str, str], what_if: WhatIf, code: ReasonCode, wanted: Suggestion | None
) -> None:
    """A disk that was not measured is named with those that were."""
    refusal = refusal_of(lambda: predict(fitted, at(fitted, **changed), what_if))
    assert refusal.reason.code is code
    assert wanted is None or refusal.suggestion == wanted
    assert code is not ReasonCode.NOT_MEASURED or refusal.reason.texts("disks_measured") == ("host",)


def test_what_a_search_for_the_largest_batch_held_is_no_run_that_completed(make_run: Callable[..., Run]) -> None:
    """A batch of 64 ran out under the cap and the search found one of 4: the advice is about the 64 that was asked."""
    asked = make_run(None, batch=64, capped=True, outcome=Outcome.OUT_OF_MEMORY)
    held = make_run(10.0, batch=4, capped=True)
    held = replace(held, spec=replace(held.spec, purpose=Purpose.BATCH_SEARCH))
    refusal = fit([asked, held]).workloads[0].refused
    assert refusal is not None
    assert refusal.reason.figures["outcomes"] == ("out_of_memory",)
