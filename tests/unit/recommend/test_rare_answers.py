"""Answers that few studies get: edges of batch and memory, machines that cannot be compared, jobs that are late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.edge import Edge
from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel
from sizer.model.prediction import predict
from sizer.recommend.candidates import Candidate
from sizer.recommend.case import Case, Quality
from sizer.recommend.edges import Edges, edge_reasons, next_run
from sizer.recommend.recommendation import recommend
from sizer.recommend.rejections import upgrade_reasons
from sizer.recommend.rule import Row, table_of_sizes
from sizer.recommend.sizes import _why_this_much
from sizer.records.answer import Answer
from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.device import Device
from sizer.records.prediction import Action, Prediction, ReasonCode, Spec, Suggestion, reason
from sizer.records.processor import REFERENCE, Processor
from sizer.records.run import Demand, Evidence, EvidenceKind, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Deadline, Objective
from sizer.records.units import GIB

MakeRun = Callable[..., Run]
Curve = Callable[..., list[Run]]
KNEE = ((1, 100), (2, 197), (4, 300), (8, 303), (16, 304))
SURE_GAIN, UNSURE_GAIN, NO_GAIN = Edge(0.3, 0.99), Edge(0.04, 0.4), Edge()
HOUR = 3600.0
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
        **known: object,
    ) -> Answer:
        model, objective = fit(runs), Objective("cheapest", target, within, baseline=baseline)
        return recommend(model, runs, objective, catalog, **known).workloads[0]  # type: ignore[arg-type]

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


def test_a_rate_that_rises_with_the_batch_is_said(make_run: MakeRun, answer_of: Callable[..., Answer]) -> None:
    """Three batch sizes, the largest still much faster: the answer says what twice as large should gain."""
    runs = [
        make_run(rate * min(vcpus, 4), vcpus, batch=size)
        for size, rate in ((8, 40.0), (16, 70.0), (32, 110.0))
        for vcpus in (1.0, 2.0, 4.0, 8.0)
    ]
    answer = answer_of(runs)
    (rises,) = (reason for reason in answer.reasons if reason.code is ReasonCode.RISES)
    assert rises.number("batch_size") == 32
    assert 0.2 < rises.number("gain") <= 110 / 70 - 1


@pytest.mark.parametrize(
    ("memory", "code"),
    [(SURE_GAIN, ReasonCode.RISES), (UNSURE_GAIN, ReasonCode.GAIN_UNKNOWN), (NO_GAIN, None)],
)
def test_an_edge_of_memory_is_said_as_surely_as_it_is_known(memory: Edge, code: ReasonCode | None, case: Case) -> None:
    """Of memory that no longer pays nothing is said."""
    found = list(edge_reasons(case, Edges(memory=memory), four(case).candidate))
    assert [each.code for each in found] == ([code] if code is not None else [])
    assert all(each.number("memory_bytes") == 8 * GIB for each in found)


def test_more_memory_is_measured_where_it_pays(case: Case) -> None:
    """Twice the most that was measured, before anything else is asked."""
    suggestion = next_run(case, Edges(memory=SURE_GAIN), four(case), 0.99)
    rises = reason(ReasonCode.RISES, memory_bytes=8.0 * GIB)
    assert suggestion == Suggestion(Action.MEASURE, rises, memory_bytes=16 * GIB)


def test_a_size_that_is_not_sure_is_measured_again(case: Case) -> None:
    """Where the curve is flat and yet no size is sure to be enough, it is said which run tells most."""
    found = next_run(case, Edges(), four(case), 0.7)
    assert (found.action, found.why.code) == (Action.REPEAT, ReasonCode.RUN_WOULD_SETTLE)
    assert set(found.vcpus) <= {4.0, 16.0}
    assert next_run(case, Edges(), four(case), 0.99) is None


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
    assert ReasonCode.OTHER_HARDWARE in notes["c7g.xlarge"]
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


def test_a_table_without_vcpus_has_no_machine_to_compare_with(
    make_run: MakeRun, answer_of: Callable[..., Answer]
) -> None:
    """How many of the machine's vCPUs the rate needs is not known."""
    runs = [without(make_run(rate, batch=size), vcpus=None) for size, rate in ((8, 40.0), (16, 70.0), (32, 75.0))]
    answer = answer_of(runs, baseline="aws/c6i.8xlarge")
    assert answer.baseline is None
    assert ReasonCode.BASELINE in codes(answer)


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


def test_a_job_that_may_be_in_time_is_rejected_with_its_chance(curve: Curve, answer_of: Callable[..., Answer]) -> None:
    """A cheaper size that is in time with a probability between surely not and surely."""
    answer = answer_of(curve(*KNEE, spread=0.02), within=Deadline(202.0 * 6 * HOUR, 6 * HOUR))
    whys = {each.spec.vcpus: {why.code: why for why in each.why} for each in answer.rejected}
    assert answer.spec.vcpus == 4
    unlikely = whys[2.0][ReasonCode.JOB_TAKES]
    assert 0.005 < unlikely.number("probability") < 0.9
    assert unlikely.number("seconds") == pytest.approx(6 * HOUR, rel=0.05)


def test_a_fraction_of_a_vcpu_that_is_in_time_is_not_sold(curve: Curve, answer_of: Callable[..., Answer]) -> None:
    """The least that is sold is taken, and the half that would do is named with how long it takes."""
    points = ((0.5, 50), (1, 100), (2, 101), (4, 101))
    answer = answer_of(curve(*points), within=Deadline(20 * HOUR, HOUR))
    assert answer.spec.vcpus == 1
    half = next(each for each in answer.rejected if each.spec.vcpus == 0.5)
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
    said = _why_this_much(knee, large)
    assert said.code is ReasonCode.NOT_SOLD
    assert said.number("most") == 8 * GIB


def test_offers_have_the_rate_there(make_run: MakeRun) -> None:
    """On a host half as fast as AWS c6i all are faster, and in the order of what the work costs there; ARM last."""
    demand = Demand(core_seconds=0.01)
    runs = [make_run(100.0 * vcpus, vcpus, demand=demand) for vcpus in (1.0, 2.0, 4.0)]
    host = Processor("", "host", {name: rate / 2 for name, rate in REFERENCE.items()}, 0.0, 4.0, 4.0, "avx2")
    (answer,) = recommend(fit(runs, None, [host]), runs, Objective(), Catalog.load()).workloads
    known = [offer for offer in answer.instances if offer.throughput is not None and offer.usd_per_hour is not None]
    costs = [offer.usd_per_million_samples for offer in known if offer.notes[1:] == ()]
    assert len(costs) > 3
    assert costs == sorted(costs)
    rates = {offer.instance_type: offer.throughput.value / offer.vcpus for offer in known if offer.throughput}
    assert all(60.0 < rate < 320.0 for rate in rates.values())
    assert {note.code for offer in known for note in offer.notes} >= {ReasonCode.TRANSFERRED}
