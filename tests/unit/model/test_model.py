"""What a model answers, what it refuses, and the run that would help."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.files.codec import from_json, to_json
from sizer.model.fitting import fit
from sizer.model.memory import memory_floor
from sizer.model.model import MeasuredRange, Model, WhatIf, WorkloadModel
from sizer.model.prediction import predict
from sizer.model.refusals import vcpus_to_measure
from sizer.recommend.recommendation import recommend
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Action, Bottleneck, Configuration, ReasonCode, Refusal, Refused, Suggestion
from sizer.records.run import DataSet, Demand, Evidence, EvidenceKind, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Objective
from sizer.records.units import GIB
from sizer.words.model import model_summary, parameter_name
from sizer.words.names import terms_of
from sizer.words.reasons.phrasing import reason_sentences, refusal_sentences
from tests.modelled import contended
from tests.tables import stored_catalog

# What the model promises of any runs it is given.


MakeRun = Callable[..., Run]
TIERS = {"slow": DiskRates(400, 2e7), "fast": DiskRates(20_000, 8e8)}


def refused(model: WorkloadModel) -> str:
    """Why there is no model, in words."""
    assert model.refused is not None
    return refusal_sentences(model.refused, terms_of(model))


def at(vcpus: float, memory: int = 8 * GIB, disk: str = "host", batch: int = 32) -> Configuration:
    return Configuration(vcpus, memory, disk, batch)


@pytest.fixture
def curve(make_run: MakeRun) -> Callable[..., WorkloadModel]:
    """The model of a throughput curve alone, as an imported measurement gives it."""

    def make(*points: tuple[float, float]) -> WorkloadModel:
        return fit([make_run(rate, vcpus) for vcpus, rate in points]).workload("train")

    return make


@pytest.mark.slow
@given(
    rates=st.lists(st.floats(0.1, 1e6), min_size=1, max_size=8),
    first=st.sampled_from([0.25, 1.0, 2.0]),
    asked=st.floats(0.1, 600),
)
@settings(max_examples=15, derandomize=True)
def test_any_curve_gives_a_sound_answer_or_none(
    make_run: MakeRun, rates: list[float], first: float, asked: float
) -> None:
    """Whatever was measured: positive rates inside their intervals and shares that sum to one, or no shares where the
    runs do not show what binds, or else NoAnswer."""
    model = fit([make_run(rate, first * 2**index) for index, rate in enumerate(rates)]).workload("train")
    assert bool(model.refused) == (len(rates) < 3)
    if model.refused and asked not in model.measured.vcpus:
        with pytest.raises(Refused) as refused:
            predict(model, at(asked))
        assert refused.value.refusal.suggestion is not None
        return
    prediction = predict(model, at(asked))
    assert 0 < prediction.throughput.low <= prediction.throughput.value <= prediction.throughput.high
    assert math.isfinite(prediction.throughput.high)
    assert sum(prediction.shares.values()) == pytest.approx(1) or prediction.bottleneck is Bottleneck.AMBIGUOUS
    assert all(share >= 0 for share in prediction.shares.values())
    assert prediction.extrapolated == (not first <= asked <= first * 2 ** (len(rates) - 1))


@pytest.fixture(scope="module")
def fed_by_a_disk(make_run: MakeRun) -> WorkloadModel:
    """A job with an accelerator that reads from a disk whose figures are known."""
    demand = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=2.0)
    device = Device("emulated", gpu="P100", samples_per_second=219)
    runs = [make_run(100 * min(c, 2), c, device=device, demand=demand, rates=TIERS["fast"]) for c in (1, 2, 4)]
    return fit(runs).workload("train")


@pytest.mark.slow
@given(st.floats(0.5, 4), st.floats(1e6, 1e9), st.floats(100, 1e5), st.floats(1.0, 5.0))
@settings(max_examples=15, derandomize=True)
def test_more_of_a_stage_is_never_slower(
    fed_by_a_disk: WorkloadModel, vcpus: float, bandwidth: float, iops: float, factor: float
) -> None:
    """A faster GPU, a faster disk, or a cheaper decoder can only raise the predicted throughput."""
    model, configuration = fed_by_a_disk, at(vcpus)
    disk = DiskRates(iops, bandwidth)
    base = predict(model, configuration, WhatIf(disk_rates=disk)).throughput.value
    faster = DiskRates(iops * factor, bandwidth * factor)
    for better in (
        WhatIf(disk_rates=faster),
        WhatIf(disk_rates=disk, gpu_speedup=factor),
        WhatIf(disk_rates=disk, decode_factor=1 / factor),
    ):
        assert predict(model, configuration, better).throughput.value >= base * (1 - 1e-9)


def test_quantities_are_in_the_units_of_the_workload(make_run: MakeRun) -> None:
    """Images are counted as images; an emulated accelerator and a disk that was not limited are called so."""
    demand, p100 = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0), Device("emulated", 0, "P100", 219)
    runs = [
        make_run(min(100 * c, top), c, disk=disk, rates=rates, demand=demand, device=p100)
        for c in (1, 2, 4)
        for disk, rates, top in (("host", DiskRates(), 110), ("slow", TIERS["slow"], 150))
    ]
    model = fit(runs).workload("train")
    units = {parameter_name(parameter, model): parameter.unit for parameter in model.parameters}
    assert units["CPU time"] == "core-seconds/image"
    assert (
        units["emulated P100"] == units["most from disk slow"] == units["most from the host's own disk"] == "images/s"
    )
    assert not any("sample" in unit for unit in units.values())
    assert "4.57 ms of the emulated P100" in model_summary(model)


def test_a_fit_is_deterministic_and_survives_its_file(make_run: MakeRun) -> None:
    """The same runs give the same model, and the model read from JSON predicts the same."""
    runs = [make_run(rate, vcpus) for vcpus, rate in ((1, 100), (2, 180), (4, 290))]
    model = fit(runs)
    assert fit(runs) == model
    again = from_json(Model, to_json(model), "model.json")
    assert again == model
    assert predict(again.workload("train"), at(3)) == predict(model.workload("train"), at(3))


def test_a_size_whose_runs_failed_is_to_be_mended_before_more_are_measured(make_run: MakeRun) -> None:
    """What crashed at 2 vCPUs is not measured by asking for 2 vCPUs again; running out of memory is another matter."""
    runs = [make_run(100, 0.5), make_run(190, 1.0)]
    crashed = replace(make_run(1, 2.0), outcome=Outcome.CRASHED, throughput=None)
    assert refused(fit([*runs, crashed]).workload("train")).endswith(
        "No run of `train` at 2 vCPUs completed. `sizer status` says how each run ended: fix the cause, and measure "
        "again with --retry."
    )
    for other in (replace(crashed, outcome=Outcome.OUT_OF_MEMORY), make_run(300, 2.0)):
        again = fit([*runs, other]).workload("train")
        assert again.measured.failed_vcpus == ()
        assert again.refused is None or "--retry" not in refused(again)


def test_another_disk_is_predicted_from_its_figures(make_run: MakeRun) -> None:
    """An unmeasured disk is predicted from what a sample reads, marked extrapolated; without figures it is refused."""
    demand = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)
    runs = [
        make_run(min(100 * c, rates.read_bytes_per_second / 1e5), c, disk=name, rates=rates, demand=demand)  # type: ignore[operator]
        for c in (1, 2, 4)
        for name, rates in TIERS.items()
    ]
    model = fit(runs).workload("train")
    prediction = predict(model, at(4, disk="new"), WhatIf(disk_rates=DiskRates(10_000, 1e7)))
    assert prediction.throughput.value == pytest.approx(100, rel=0.1)
    assert prediction.extrapolated
    assert prediction.bottleneck is Bottleneck.DISK_BANDWIDTH
    with pytest.raises(Refused, match="not_measured") as error:
        predict(model, at(4, disk="new"))
    assert error.value.refusal.reason.texts("disks_measured") == ("slow", "fast")


def test_shuffled_reads_follow_the_page_cache(make_run: MakeRun) -> None:
    """Between and beyond memory caps the hit rate of a shuffled epoch is 1 - u + u ln u, as measured."""
    rates, data = DiskRates(1e6, 2e7), DataSet("d", "recordio", 4 * GIB, 4 * GIB // 100_000, True)

    def miss(memory: int) -> float:
        unseen = 1 - (memory - GIB) / (4 * GIB)
        return unseen - unseen * math.log(unseen) if unseen > 0 else 0.0

    def rate(memory: int, vcpus: float) -> float:
        return min(400 * vcpus, 200 / miss(memory))

    runs = [
        make_run(rate(memory, c), c, memory=memory, capped=True, cache="natural", data=data, anonymous=GIB, rates=rates,
                 disk="d", demand=Demand(core_seconds=0.0025, read_bytes=1e5 * miss(memory), read_ios=1.0))
        for memory in (2 * GIB, 3 * GIB, 4 * GIB)
        for c in (1, 2, 4)
    ]  # fmt: skip
    model = fit(runs).workload("train")
    between = at(4, memory=round(3.5 * GIB), disk="d")
    assert predict(model, between).throughput.value == pytest.approx(rate(round(3.5 * GIB), 4), rel=0.05)
    fits = predict(model, at(2, memory=16 * GIB, disk="d"))
    assert fits.extrapolated
    assert fits.throughput.value == pytest.approx(800, rel=0.15)
    assert fits.throughput.low < 800 < fits.throughput.high
    bigger = predict(model, between, WhatIf(data_bytes_factor=10))
    assert bigger.throughput.value < predict(model, between).throughput.value


def test_memory_floor_and_what_lies_around_it(make_run: MakeRun) -> None:
    """At the largest cap that was killed nothing runs; above what held, more memory changes nothing."""
    killed = make_run(None, 1, memory=GIB // 2, capped=True, outcome=Outcome.OUT_OF_MEMORY)
    runs = [make_run(100 * c, c, memory=2 * GIB, capped=True, anonymous=GIB) for c in (1, 2, 4)]
    floor = memory_floor([*runs, killed])
    assert (floor.too_small, floor.held) == (GIB // 2, 2 * GIB)
    model = fit([*runs, killed]).workload("train")
    none = predict(model, at(1, memory=GIB // 2))
    assert none.out_of_memory
    assert none.throughput.value == 0
    assert predict(model, at(1, memory=GIB - 1)).out_of_memory
    for memory in (GIB + 1, 64 * GIB):
        enough = predict(model, at(1, memory=memory))
        assert not enough.out_of_memory
        assert enough.throughput.value == pytest.approx(100, rel=0.03)


def test_two_programs_under_one_name_are_refused(make_run: MakeRun) -> None:
    """A curve through the runs of two programs would be neither's."""
    runs = [make_run(100 * c, c, kind=kind) for kind in ("image_training", "image_inference") for c in (1, 2, 4)]
    assert "several programs: image_inference and image_training." in refused(fit(runs).workload("train"))


# Where there is no answer, which run would help most; and what a what-if may not ask.


@pytest.fixture
def fitted(make_run: MakeRun) -> WorkloadModel:
    """A job on the CPU of which only the rate is known."""
    return fit([make_run(100.0 * vcpus, vcpus) for vcpus in (1.0, 2.0, 4.0)]).workload("train")


def place_at(model: WorkloadModel, **changed: object) -> Configuration:
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
    assert (refusal.reason.code, refusal.suggestion) == (ReasonCode.NO_RUN_COMPLETED, Suggestion(action))


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
    refusal = refusal_of(lambda: predict(model, place_at(model, **asked)))
    assert (refusal.reason.code, refusal.reason.text("column")) == (ReasonCode.NOT_IN_TABLE, column)
    assert refusal.suggestion == Suggestion(Action.IMPORT, column=column)


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
    refusal = refusal_of(lambda: predict(fitted, place_at(fitted, **changed), what_if))
    assert refusal.reason.code is code
    assert wanted is None or refusal.suggestion == wanted
    assert code is not ReasonCode.NOT_MEASURED or refusal.reason.texts("disks_measured") == ("host",)


# One vCPU value does not tell a serial part from what others on the host took.


BATCHES = (8, 16, 32)
CORE_SECONDS = 0.02
SERIAL = Evidence(Bottleneck.SERIAL, {"cpu": 0.55}, EvidenceKind.SERIAL, {"cores": 1.1, "vcpus": 2.0})
CPU = Evidence(Bottleneck.CPU, {"cpu": 0.7}, EvidenceKind.BUSIEST, {"cpu": 0.7})


def forward(make_run: MakeRun, busy: float, evidence: Evidence | None, disturbed: bool) -> list[Run]:
    """The forward pass on synthetic input with 2 vCPUs, of which the job used this share."""
    runs = []
    for batch in BATCHES:
        rate = busy * 2 / CORE_SECONDS * (batch / (batch + 0.5))
        run = make_run(rate, 2.0, batch=batch, demand=Demand(core_seconds=CORE_SECONDS), evidence=evidence)
        workload = replace(run.spec.workload, input="synthetic", network="resnet50", mode="forward")
        run = replace(run, spec=replace(run.spec, workload=workload))
        if disturbed:
            run = contended(run, 0.8)
        runs.append(run)
    return runs


@pytest.mark.parametrize("evidence", [SERIAL, None])
def test_disturbed_runs_of_one_size_name_no_serial_part(make_run: MakeRun, evidence: Evidence | None) -> None:
    """Also where a stored run does: its accounting was disturbed, too."""
    runs = forward(make_run, 0.55, evidence, disturbed=True)
    model = fit(runs)
    for rate in model.workload("train").measured.rates:
        prediction = predict(model.workload("train"), rate.configuration)
        assert (prediction.bottleneck, prediction.shares) == (Bottleneck.AMBIGUOUS, {})
    answer = recommend(model, runs, Objective(), stored_catalog()).workloads[0]
    assert answer.bottleneck is not Bottleneck.SERIAL
    sentences = " ".join(reason_sentences(answer.reasons, terms_of(model.workload("train"))))
    assert "bound by its serial part" not in sentences
    assert "one vCPU value cannot tell a serial part from what others took" in sentences


def test_quiet_runs_of_one_size_show_a_serial_part_by_accounting(make_run: MakeRun) -> None:
    """One core was busy, and nobody else was there."""
    model = fit(forward(make_run, 0.55, SERIAL, disturbed=False)).workload("train")
    assert predict(model, model.measured.rates[-1].configuration).bottleneck is Bottleneck.SERIAL


def test_a_job_that_never_fitted_needs_twice_the_memory(make_run: MakeRun) -> None:
    """Every run was killed for want of memory: the next one has twice the most that was tried."""
    killed = [make_run(None, 2.0, memory=size * GIB, capped=True, outcome=Outcome.OUT_OF_MEMORY) for size in (1, 2)]
    refusal = fit(killed).workload("train").refused
    assert refusal is not None
    assert refusal.suggestion == Suggestion(Action.MEASURE, memory_bytes=4 * GIB)


def test_two_memory_sizes_say_nothing_between_them(make_run: MakeRun) -> None:
    """Where memory changes the rate, a size between two that were measured is refused and asked for."""
    runs = [
        make_run(rate * vcpus, vcpus, memory=size * GIB, capped=True)
        for size, rate in ((2, 20.0), (8, 100.0))
        for vcpus in (1.0, 2.0, 4.0)
    ]
    model = fit(runs).workload("train")
    refusal = refusal_of(lambda: predict(model, place_at(model, memory_bytes=4 * GIB)))
    assert refusal.reason.code is ReasonCode.TOO_FEW_VALUES
    assert refusal.suggestion == Suggestion(Action.MEASURE, memory_bytes=4 * GIB)
