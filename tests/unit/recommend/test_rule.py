"""One table of candidates and the rule; answers that few studies get; what to change instead of buying."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.edge import Edge
from sizer.model.fitting import fit
from sizer.model.model import Gpus, WorkloadModel
from sizer.model.prediction import predict
from sizer.recommend.candidates import Candidate
from sizer.recommend.case import Case, Quality
from sizer.recommend.edges import Edges, edge_reasons, runs_to_make
from sizer.recommend.job_changes import Change, ChangeKind, changes, judged_by
from sizer.recommend.recommendation import recommend
from sizer.recommend.rejections import upgrade_reasons
from sizer.recommend.rule import Choice, Row, asked_event, choose, table_of_machines, table_of_sizes
from sizer.recommend.sizes import _why_this_much
from sizer.records.answer import Answer, Event
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import (
    Action,
    Bottleneck,
    Configuration,
    Estimate,
    Prediction,
    ReasonCode,
    Spec,
    Suggestion,
    reason,
)
from sizer.records.run import DataSet, Demand, Evidence, EvidenceKind, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Deadline, Objective
from sizer.records.units import GIB

# One table of candidates, and the rule: the cheapest that is sure, or one of less expected regret.


HOUR = 3600.0


def machine(
    gpu: str, rate: float, usd: float | None, off: float = 0.01, disk: str | None = None, disk_usd: float = 0.0
) -> Candidate:
    """A machine that was measured: its rate, its price an hour and how far both mean and run may be off, in ln."""
    half = 1.645 * math.hypot(off, off)
    throughput = Estimate(rate, rate * math.exp(-half), rate * math.exp(half))
    place = Configuration(8.0, None, disk, None, gpu, 1)
    spec = Spec(8.0, None, disk, None, gpu, 1)
    return Candidate(spec, place, throughput, usd, disk_usd, 0, Gpus(gpu, 1), off, off)


def choice(machines: list[Candidate], **objective: object) -> Choice:
    return choose(table_of_machines(machines, Objective(**objective)))  # type: ignore[arg-type]


def taken(choice: Choice) -> str | None:
    return None if choice.chosen is None else choice.chosen.candidate.spec.gpu


SURE_OF_BOTH = [machine("T4", 100, 1.0), machine("V100", 250, 3.0)]
CLOSE = [machine("T4", 103, 1.0, 0.05), machine("A10", 130, 1.02, 0.05), machine("V100", 250, 6.0)]


@pytest.mark.parametrize(
    ("machines", "objective", "name"),
    [
        (SURE_OF_BOTH, {}, "T4"),
        (SURE_OF_BOTH, {"prefer": "balanced"}, "V100"),
        (SURE_OF_BOTH, {"prefer": "fastest"}, "V100"),
        (SURE_OF_BOTH, {"at_least": 90.0}, "T4"),
        (SURE_OF_BOTH, {"at_least": 120.0}, "V100"),
        (SURE_OF_BOTH, {"at_least": 300.0}, None),
        (CLOSE, {"at_least": 100.0}, "A10"),
        ([CLOSE[0], CLOSE[2]], {"at_least": 100.0}, "T4"),
        ([replace(SURE_OF_BOTH[0], usd_per_hour=None), SURE_OF_BOTH[1]], {}, "V100"),
        ([machine("T4", 100, 0.0), machine("V100", 250, 3.0)], {}, "T4"),
    ],
    ids=[
        "least cost of the work",
        "cost times time",
        "highest rate",
        "rate given",
        "rate not given by the cheaper",
        "rate given by none",
        "likely is not worth 2 %",
        "likely is worth half of the cost",
        "no price is never the cheapest",
        "a price of nothing",
    ],
)
def test_the_cheapest_that_is_sure_or_of_less_regret(
    machines: list[Candidate], objective: dict[str, object], name: str | None
) -> None:
    """One percent of the rate that is lacking counts as ten percent of the cost."""
    assert taken(choice(machines, **objective)) == name


def test_what_is_not_sure_has_its_probability() -> None:
    """Below 0.9 an answer is provisional, which follows from it."""
    sure, likely = choice(CLOSE, at_least=100.0), choice([CLOSE[0], CLOSE[2]], at_least=100.0)
    assert sure.probability >= 0.9 > likely.probability >= 0.5
    within = choice([CLOSE[0], CLOSE[2]], deadline=Deadline(100 * HOUR, HOUR))
    assert asked_event(within.table.objective) is Event.IN_TIME
    assert within.chosen.probability == pytest.approx(likely.chosen.probability if likely.chosen else 0.0)


def test_a_latency_that_is_not_kept_excludes() -> None:
    slow, fast = (replace(case, latency_p99=at) for case, at in zip(SURE_OF_BOTH, (0.030, 0.010), strict=True))
    assert taken(choice([slow, fast], latency_p99=0.020)) == "V100"
    assert taken(choice([slow, fast], latency_p99=0.005)) is None


# Answers that few studies get: edges of batch and memory, machines that cannot be compared, jobs that are late.


MakeRun = Callable[..., Run]
Curve = Callable[..., list[Run]]
KNEE = ((1, 100), (2, 197), (4, 300), (8, 303), (16, 304))
SURE_GAIN, UNSURE_GAIN, NO_GAIN = Edge(0.3, 0.99), Edge(0.04, 0.4), Edge()
DISPUTED = Evidence(Bottleneck.ACCELERATOR, {"accelerator": 0.97}, EvidenceKind.BUSIEST, {"accelerator": 0.97})
P100 = Device("emulated", gpu="P100", samples_per_second=219)


@pytest.fixture
def answer_of(catalog: Catalog) -> Callable[..., Answer]:
    """The answer to runs of one workload, as it is before it is put into words."""

    def ask(
        runs: list[Run],
        within: Deadline | None = None,
        target: float = 0.95,
        baseline: str | None = None,
        **settings: object,
    ) -> Answer:
        model, objective = fit(runs), Objective("cheapest", target, within, baseline=baseline)
        return recommend(model, runs, objective, catalog, **settings).workloads[0]  # type: ignore[arg-type]

    return ask


def codes(answer: Answer) -> set[ReasonCode]:
    return {reason.code for reason in answer.reasons}


@pytest.fixture
def knee(curve: Curve) -> WorkloadModel:
    return fit(curve(*KNEE)).workload("train")


def size(vcpus: float) -> Candidate:
    return Candidate(Spec(vcpus), Configuration(vcpus, 8 * GIB, "host", 32), Estimate(300, 290, 310), 0.0425 * vcpus)


@pytest.fixture
def case(knee: WorkloadModel, catalog: Catalog) -> Case:
    """4 and 16 vCPUs of the curve."""
    best = size(16.0).place
    table = table_of_sizes(knee, [size(4.0), size(16.0)], best, Objective())
    return Case(knee, Objective(), catalog, Quality(), table, best, 304.0)


def four(case: Case) -> Row:
    return case.table.rows[0]


@pytest.mark.parametrize(
    ("memory", "code"),
    [(SURE_GAIN, ReasonCode.RISES), (UNSURE_GAIN, ReasonCode.GAIN_UNKNOWN), (NO_GAIN, None)],
)
def test_an_edge_of_memory_is_said_as_surely_as_it_is_known(memory: Edge, code: ReasonCode | None, case: Case) -> None:
    """Of memory that no longer pays nothing is said."""
    reasons = list(edge_reasons(case, Edges(memory=memory), four(case).candidate))
    assert [one.code for one in reasons] == ([code] if code is not None else [])
    assert all(one.number("memory_bytes") == 8 * GIB for one in reasons)


def test_more_memory_is_measured_where_it_pays(case: Case) -> None:
    """Twice the most that was measured, before anything else is asked."""
    suggestion = next(runs_to_make(case, Edges(memory=SURE_GAIN), four(case), 0.99))
    rises = reason(ReasonCode.RISES, memory_bytes=8.0 * GIB)
    assert suggestion == Suggestion(Action.MEASURE, rises, memory_bytes=16 * GIB)


def test_what_to_know_of_a_machine(make_run: MakeRun, catalog: Catalog) -> None:
    """ARM cores, figures that nobody confirmed, and a disk that caps this rate are said of each offer."""
    demand = Demand(core_seconds=0.01, read_bytes=1e6, read_ios=2.0)
    runs = [make_run(100.0 * vcpus, vcpus, demand=demand) for vcpus in (1.0, 2.0, 4.0)]
    x86, arm = (replace(catalog.instance(name), confidence=None) for name in ("aws/c6i.xlarge", "aws/c7g.xlarge"))
    slow = replace(x86, instance_type="slow", disk_bytes_per_second=50e6, disk_iops=300, price_per_hour=0.01)
    rumoured = replace(x86, instance_type="rumoured", confidence="a talk")
    offers = replace(catalog, instance_types=(x86, arm, slow, rumoured))
    (answer,) = recommend(fit(runs), runs, Objective(), offers).workloads
    notes = {offer.instance_type: {note.code: note for note in offer.notes} for offer in answer.instances}
    assert notes["c7g.xlarge"][ReasonCode.OTHER_HARDWARE].has("arm")
    assert ReasonCode.OTHER_HARDWARE not in notes["c6i.xlarge"]
    assert notes["rumoured"][ReasonCode.FIGURES_UNSURE].text("confidence") == "a talk"
    capped = notes["slow"][ReasonCode.DISK_CAPPED]
    assert (capped.number("cap"), capped.number("moved")) == (50e6, pytest.approx(400e6, rel=0.02))
    assert (capped.number("cap_ios"), capped.number("ios")) == (300, pytest.approx(800, rel=0.02))
    assert answer.instances[0].instance_type != "slow"  # though it is the cheapest
    assert ReasonCode.FIGURES_UNSURE not in notes["slow"]


def without(run: Run, **lacking: None) -> Run:
    """The run of a table without these columns."""
    limits = replace(run.spec.limits, **{key: None for key in lacking if key != "batch_size"})
    return replace(run, spec=replace(run.spec, limits=limits), configuration=replace(run.configuration, **lacking))


def test_a_table_without_memory_is_compared_by_its_vcpus(curve: Curve, answer_of: Callable[..., Answer]) -> None:
    """The machine's memory is taken to be enough."""
    answer = answer_of([without(run, memory_bytes=None) for run in curve(*KNEE)], baseline="aws/c6i.8xlarge")
    assert (answer.baseline.spec.vcpus, answer.baseline.spec.memory_bytes) == (32, None)
    assert answer.baseline.share == pytest.approx(0.98, abs=0.03)


def test_a_machine_beyond_two_values_cannot_be_compared(make_run: MakeRun, answer_of: Callable[..., Answer]) -> None:
    """Three batch sizes make a model, and two vCPU values say nothing of 32."""
    runs = [
        make_run(rate * vcpus, vcpus, batch=size)
        for size, rate in ((8, 40.0), (16, 70.0), (32, 75.0))
        for vcpus in (2.0, 4.0)
    ]
    answer = answer_of(runs, baseline="aws/c6i.8xlarge")
    assert answer.baseline is None
    assert ReasonCode.BASELINE in codes(answer)


def test_a_machine_in_which_the_job_does_not_fit_has_no_rate(
    make_run: MakeRun, answer_of: Callable[..., Answer]
) -> None:
    """It has less memory than every run that was killed."""
    points = ((1.0, 100.0), (2.0, 197.0), (4.0, 300.0), (8.0, 303.0))
    runs = [make_run(rate, vcpus, memory=64 * GIB, capped=True) for vcpus, rate in points]
    killed = make_run(None, 1.0, memory=32 * GIB, capped=True, outcome=Outcome.OUT_OF_MEMORY)
    answer = answer_of([*runs, killed], baseline="aws/c6i.2xlarge")
    assert answer.baseline is None
    assert ReasonCode.BASELINE in codes(answer)


def test_more_vcpus_that_were_not_measured_may_be_in_time(make_run: MakeRun, answer_of: Callable[..., Answer]) -> None:
    """With one vCPU value nobody knows whether more would help a job that is late."""
    demand = Demand(core_seconds=1 / 75)
    runs = [make_run(rate, 1.0, batch=size, demand=demand) for size, rate in ((8, 70.0), (16, 74.0), (32, 75.0))]
    answer = answer_of(runs, within=Deadline(1e7, HOUR))
    assert answer.status == "refused"
    assert reason(ReasonCode.WOULD_HELP) in answer.reasons


def test_a_fraction_of_a_vcpu_that_is_in_time_is_not_sold(curve: Curve, answer_of: Callable[..., Answer]) -> None:
    """The least that is sold is taken, and the half that would do is named with how long it takes."""
    points = ((0.5, 50), (1, 100), (2, 101), (4, 101))
    answer = answer_of(curve(*points), within=Deadline(20 * HOUR, HOUR))
    assert answer.spec.vcpus == 1
    half = next(rejection for rejection in answer.rejected if rejection.spec.vcpus == 0.5)
    assert ReasonCode.NOT_SOLD in {why.code for why in half.why}


def test_a_bottleneck_that_is_not_known_has_no_upgrade(make_run: MakeRun) -> None:
    """Nothing is said of what a relief would gain where nobody knows what binds."""
    ambiguous = Prediction(
        "train", size(4.0).place, Estimate(300, 290, 310), Bottleneck.AMBIGUOUS, {"cpu": 0.5}, extrapolated=False
    )
    rates = {c: ((80 * c) ** -8 + 219**-8) ** (-1 / 8) for c in (1, 2, 4, 8)}
    runs = [make_run(rate, c, device=P100, demand=Demand(core_seconds=1 / 80)) for c, rate in rates.items()]
    model = fit(runs).workload("train")
    clear = predict(model, runs[1].configuration)
    assert clear.bottleneck is Bottleneck.CPU
    assert list(upgrade_reasons(ambiguous, None)) == []
    (limit,) = upgrade_reasons(clear, None)
    assert (limit.code, limit.text("next")) == (ReasonCode.NEXT_LIMIT, "accelerator")


@pytest.mark.parametrize(
    ("device", "rates"), [(Device(), (100.0, 200.0, 400.0)), (P100, (45.0, 90.0, 175.0))], ids=["curve", "ceiling"]
)
def test_what_lies_beyond_is_not_foretold_where_memory_ends(
    device: Device, rates: tuple[float, ...], make_run: MakeRun, answer_of: Callable[..., Answer]
) -> None:
    """A run with twice the vCPUs was killed, so what it would have given is not promised; without it, it is."""
    demand = Demand(core_seconds=1 / rates[0])
    runs = [
        make_run(rate, vcpus, memory=8 * GIB, capped=True, device=device, demand=demand)
        for vcpus, rate in zip((1.0, 2.0, 4.0), rates, strict=True)
    ]
    killed = make_run(None, 8.0, memory=8 * GIB, capped=True, device=device, outcome=Outcome.OUT_OF_MEMORY)
    roomy, tight = answer_of(runs), answer_of([*runs, killed])
    assert (roomy.status, tight.status) == ("at_least", "at_least")
    assert roomy.beyond is not None
    assert tight.beyond is None


def test_nothing_is_advised_where_nobody_knows_what_binds(curve: Curve, answer_of: Callable[..., Answer]) -> None:
    """A late job whose bottleneck is ambiguous gets no help made up for it."""
    runs = [replace(run, evidence=DISPUTED) for run in curve(*KNEE)]
    answer = answer_of(runs, within=Deadline(1e9, HOUR))
    assert answer.status == "refused"
    assert ReasonCode.NONE_ENOUGH in codes(answer)
    assert ReasonCode.WOULD_HELP not in codes(answer)


def test_memory_that_no_family_offers_says_the_most_that_is_sold(knee: WorkloadModel) -> None:
    """One vCPU with 64 GiB is in no catalogue."""
    large = Candidate(Spec(1.0, 64 * GIB), Configuration(1.0, 8 * GIB, "host", 32), Estimate(100, 90, 110), 1.0)
    why = _why_this_much(knee, large)
    assert why.code is ReasonCode.NOT_SOLD
    assert why.number("most") == 8 * GIB


# What to change instead of buying: from the model and the accounting alone, and only what is above chance.


CORE, BYTES = 1 / 100, 100_000.0


def _of(runs: Sequence[Run], vcpus: float) -> dict[ChangeKind, Change]:
    """The changes at this many vCPUs, by kind."""
    model = fit(runs).workload("train")
    return {change.kind: change for change in changes(model, runs, _here(model, vcpus))}


def _here(model: WorkloadModel, vcpus: float) -> Configuration:
    return next(rate.configuration for rate in model.measured.rates if rate.configuration.vcpus == vcpus)


@pytest.fixture(scope="module")
def reading(make_run: Callable[..., Run]) -> Callable[..., list[Run]]:
    """Runs of a job that takes 10 ms of a CPU and 100 kB of a disk a sample."""

    def reading(mbps: float, request: float = 131072.0, iops: float = 1e6, **settings: object) -> list[Run]:
        rates = DiskRates(read_iops=iops, read_bytes_per_second=mbps * 1e6)
        demand = Demand(core_seconds=CORE, read_bytes=BYTES, read_ios=BYTES / request)
        data = DataSet("/d", "recordio", 1_000_000_000, 10_000, embedded=False)
        runs = []
        for vcpus in (1.0, 2.0, 4.0, 8.0):
            ceilings = (vcpus / CORE, mbps * 1e6 / BYTES, iops / (BYTES / request))
            rate = sum(ceiling**-8 for ceiling in ceilings) ** (-1 / 8)
            alike = {"disk": "d", "rates": rates, "demand": demand, "data": data, "anonymous": 2**30} | settings
            runs += [make_run(rate, vcpus, repeat=number, **alike) for number in (0, 1)]
        return runs

    return reading


def test_a_job_that_waits_for_its_disk_would_gain_by_memory(reading: Callable[..., list[Run]]) -> None:
    """As much as the CPU allows; how much memory all of the data takes is known."""
    gains = _of(reading(20.0), 8.0)
    memory = gains[ChangeKind.IN_MEMORY]
    assert memory.gain.value == pytest.approx(3.0, rel=0.2)
    assert memory.figures["memory"] == pytest.approx(1e9 + 2**30)
    assert memory.then is Bottleneck.CPU
    assert memory.is_sure


def test_small_reads_of_files_that_bind_by_iops_would_gain_by_a_packed_format(
    reading: Callable[..., list[Run]],
) -> None:
    """But not of a file that is packed already."""
    files = reading(4000.0, request=4096.0, iops=5000.0)
    folder = [
        replace(run, spec=replace(run.spec, workload=replace(run.spec.workload, format="folder"))) for run in files
    ]
    change = _of(folder, 8.0)[ChangeKind.LARGE_READS]
    assert change.gain.value == pytest.approx(800 / (5000 / (BYTES / 4096)) - 1, rel=0.25)
    assert change.figures["size"] == pytest.approx(4096)
    assert ChangeKind.LARGE_READS not in _of(files, 8.0)


def test_a_batch_is_worth_what_its_launch_costs(make_run: Callable[..., Run]) -> None:
    """Twice the largest measured is extrapolated, and says so."""
    device = Device("cuda", 0, "V100")
    runs = [
        make_run(1 / (0.002 + 0.08 / batch), vcpus, batch=batch, device=device, demand=Demand(core_seconds=0.0005))
        for batch in (8, 16, 32, 64)
        for vcpus in (4.0, 8.0, 16.0)
    ]
    model = fit(runs).workload("train")
    here = Configuration(16.0, 8 * 2**30, "host", 64)
    (larger_batch,) = (change for change in changes(model, runs, here) if change.kind is ChangeKind.BATCH)
    truth = (0.002 + 0.08 / 64) / (0.002 + 0.08 / 128) - 1
    assert larger_batch.gain.low <= truth <= larger_batch.gain.high
    assert larger_batch.extrapolated
    assert (larger_batch.figures["batch"], larger_batch.figures["before"]) == (128.0, 32.0)


def test_a_loop_that_waits_while_nothing_is_busy_may_need_workers(make_run: Callable[..., Run]) -> None:
    """By accounting alone, so the gain is a bound; where something is busy, nothing is said."""

    def runs(busy: float) -> list[Run]:
        return [
            make_run(
                100.0,
                vcpus,
                demand=Demand(core_seconds=0.004, input_wait=0.005),
                evidence=Evidence(Bottleneck.AMBIGUOUS, {"cpu": busy}, EvidenceKind.NONE_FULL, {"cpu": busy}),
            )
            for vcpus in (1.0, 2.0, 4.0)
        ]

    change = _of(runs(0.4), 1.0)[ChangeKind.WAITING]
    assert change.at_most
    assert change.is_sure
    assert change.gain.value == pytest.approx(1.0)
    assert ChangeKind.WAITING not in _of(runs(0.95), 1.0)


def test_a_cheaper_decoder_is_worth_its_part_of_the_cpu(reading: Callable[..., list[Run]]) -> None:
    """Where an accelerator computes, all of the CPU's time is decoding; else what the step costs must be known."""
    device = Device("emulated", 0, "P100", 400.0)
    change = _of(reading(4000.0, device=device), 1.0)[ChangeKind.DECODER]
    assert change.gain.value == pytest.approx(1.0, abs=0.1)
    assert ChangeKind.DECODER not in _of(reading(4000.0), 1.0)


def test_a_spec_stands_for_a_measured_configuration(reading: Callable[..., list[Run]]) -> None:
    """Never for more than was measured, and with what the spec does not say as it was."""
    model = fit(reading(20.0)).workload("train")
    place = judged_by(model, Spec(16.0, 64 * 2**30))
    assert (place.vcpus, place.disk, place.batch_size, place.memory_bytes) == (8.0, "d", 32, 8 * 2**30)
    assert judged_by(replace(model, measured=replace(model.measured, rates=())), Spec(1.0)) is None
