"""The right machine: small tables, each with the answer that anyone would give who looked at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.configuration import Configuration
from sizer.records.prediction import ReasonCode, Spec
from sizer.records.run import Run
from sizer.records.study import Deadline, Objective
from sizer.records.units import GIB
from sizer.words.answers import reason_sentences, rejection_sentences
from sizer.words.names import Terms
from tests.tables import runs_of

Asked = Callable[..., Answer]


@pytest.fixture
def ask(ask_table: Asked) -> Asked:
    """The answer to a table, written as its rows, for an objective."""
    return ask_table


V100 = """
    workload,vcpus,gpu,gpu_count,throughput,throughput_low,throughput_high
    resnet50,2,V100,1,96,94,98
    resnet50,4,V100,1,187,183,190
    resnet50,8,V100,1,342,336,349
    resnet50,16,V100,1,395,389,400
"""


def test_a_job_measured_on_one_gpu_runs_on_that_gpu(ask: Asked) -> None:
    """It is in the spec, every offer has it, and the job's price is that of a machine with it."""
    answer = ask(V100, deadline=Deadline(1e8, 100 * 3600))
    assert answer.spec is not None
    assert (answer.spec.gpu, answer.spec.gpu_count) == ("V100", 1)
    assert {offer.gpu for offer in answer.instances} == {"V100"}
    assert answer.job is not None
    assert answer.job.usd is not None
    assert answer.job.usd > 200


WHOLE_MACHINES = """
    workload,vcpus,gpu,gpu_count,throughput
    job,72,,0,197
    job,36,,0,120
    job,8,,0,30
    job,2,,0,9
    job,8,V100,1,1077
"""


@pytest.mark.parametrize("objective", [{}, {"prefer": "fastest"}, {"deadline": Deadline(1e8, 100 * 3600)}])
def test_what_was_never_measured_together_is_no_machine(ask: Asked, objective: dict[str, object]) -> None:
    """The V100 came with 8 vCPUs; 72 of them with a V100 were never run."""
    answer = ask(WHOLE_MACHINES, **objective)
    assert answer.spec is not None
    assert (answer.status, answer.spec.vcpus, answer.spec.gpu) == ("recommended", 8, "V100")
    assert answer.throughput is not None
    assert answer.throughput.low < 1077 < answer.throughput.high < 1300


CONFOUNDED = """
    workload,vcpus,memory_gib,throughput
    job,2,8,50
    job,4,16,99
    job,8,32,190
    job,8,64,192
    job,16,64,215
    job,32,128,220
"""
"""vCPUs and memory move together but for one row, so 16 vCPUs with 32 GiB are anybody's guess."""

ONE_SIZE_OF_DISKS = """
    workload,vcpus,disk,disk_class,throughput
    job,1,a,ssd,30
    job,2,a,ssd,59
    job,4,a,ssd,115
    job,8,a,ssd,140
    job,16,a,ssd,142
    job,16,b,nvme,190
    job,16,c,standard,70
"""


@pytest.mark.parametrize(("table", "spec"), [(CONFOUNDED, (16, 64, None)), (ONE_SIZE_OF_DISKS, (16, None, "b"))])
def test_values_that_were_never_measured_together_are_no_answer(
    ask: Asked, tmp_path: Path, table: str, spec: tuple[object, ...]
) -> None:
    """However well the axes alone are known: what is chosen, and what it is compared with, was measured as it is."""
    measured = {_size(run.configuration) for run in runs_of(tmp_path, table)}
    for prefer in ("cheapest", "fastest", "balanced"):
        answer = ask(table, prefer)
        assert answer.spec is not None
        assert {_size(each.spec) for each in (*answer.alternatives, *answer.rejected)} <= measured
        assert _size(answer.spec) in measured
    assert _size(ask(table).spec) == spec


def _size(spec: Spec | Configuration | None) -> tuple[object, ...]:
    assert spec is not None
    return spec.vcpus, spec.memory_bytes // GIB if spec.memory_bytes else None, spec.disk


def test_what_vcpus_show_on_one_disk_they_do_not_show_on_another(ask: Asked) -> None:
    """Nobody varied the vCPUs on the fast disk, so what binds there is not known."""
    answer = ask(ONE_SIZE_OF_DISKS)
    assert answer.bottleneck is None
    assert "serial" not in " ".join(_said(answer))


def test_a_curve_of_batch_sizes_on_one_gpu_has_machines_with_it(ask: Asked) -> None:
    """The table says no vCPUs: they come with the GPU, and with it come the prices."""
    answer = ask(
        """
        workload,batch_size,gpu,throughput
        train,16,V100,300
        train,32,V100,340
        train,64,V100,370
        train,128,V100,385
        """
    )
    assert {offer.gpu for offer in answer.instances} == {"V100"}
    assert answer.instances[0].usd_per_hour is not None
    assert not {word for word in ("vcpus", "Memory", "bottleneck") if word in " ".join(_said(answer))}


KINDS = """
    workload,gpu,gpu_count,throughput
    job,T4,1,200
    job,T4,2,400
    job,T4,4,800
    job,T4,8,1590
    job,V100,1,1800
    job,V100,2,3606.2
    job,V100,4,7105
"""


def test_many_slow_accelerators_do_not_beat_few_fast_ones(ask: Asked) -> None:
    """Four V100 make 7,105, and eight T4 1,590."""
    fastest, cheapest = ask(KINDS, "fastest"), ask(KINDS)
    assert fastest.spec is not None
    assert (fastest.spec.gpu, fastest.spec.gpu_count) == ("V100", 4)
    assert cheapest.spec is not None
    # One and two of them do the work for the same; then the faster one is taken.
    assert (cheapest.spec.gpu, cheapest.spec.gpu_count) == ("V100", 2)


SYNTHETIC = """
    workload,gpu,gpu_count,input,throughput
    job,P100,1,synthetic,3000
    job,P100,2,synthetic,5900
    job,P100,4,synthetic,11000
    job,P100,8,synthetic,16000
    job,P100,1,disk,2890
    job,P100,2,disk,4448
    job,P100,4,disk,7105
"""


@pytest.mark.parametrize("prefer", ["cheapest", "balanced", "fastest"])
def test_synthetic_input_answers_for_no_job_with_data(ask: Asked, prefer: str) -> None:
    """However many rows it has."""
    answer = ask(SYNTHETIC, prefer)
    assert answer.throughput is not None
    assert answer.throughput.value in (pytest.approx(2890), pytest.approx(4448), pytest.approx(7105))
    assert answer.spec is not None
    assert answer.spec.gpu_count <= 4


def test_gpus_without_vcpus_have_a_price(ask: Asked) -> None:
    """Every candidate is some machine with that GPU."""
    answer = ask(KINDS, deadline=Deadline(1e9, 100 * 3600))
    assert answer.job is not None
    assert answer.job.usd is not None
    assert {offer.gpu for offer in answer.instances} == {"V100"}
    assert "not known" not in " ".join(_said(answer))


def test_what_is_too_late_on_every_machine_is_said_without_a_bottleneck(ask: Asked) -> None:
    """A table of GPUs and rates shows none."""
    answer = ask(KINDS, deadline=Deadline(1e9, 3600))
    assert answer.status == "refused"
    assert "bound by" not in " ".join(_said(answer))


def test_measured_sizes_are_candidates_as_they_are(ask: Asked) -> None:
    """61 GiB and 36 vCPUs were measured, and are not rounded to what others sell."""
    answer = ask(
        """
        workload,vcpus,memory_gib,throughput
        job,8,15,50
        job,16,30,99
        job,36,61,220
        """
    )
    assert answer.spec is not None
    assert (answer.spec.vcpus, answer.spec.memory_bytes) == (36, 61 * 2**30)


def test_the_price_of_the_table_counts(ask: Asked) -> None:
    """The table names its machines and prices; the dearer one is faster and makes a million samples for less."""
    answer = ask(
        """
        workload,instance_type,usd_per_hour,vcpus,gpu,gpu_count,throughput
        job,small.a,1.0,4,T4,1,100
        job,small.b,1.5,4,A10G,1,300
        job,small.c,9.0,4,H100,1,900
        """
    )
    assert answer.spec is not None
    assert answer.spec.gpu == "A10G"
    assert (answer.instances[0].instance_type, answer.instances[0].usd_per_hour) == ("small.b", 1.5)
    assert answer.instances[0].usd_per_million_samples == pytest.approx(1.5 / 3600 / 300 * 1e6)


def test_cheapest_is_dollars_for_the_work_and_not_the_newest_gpu(ask: Asked) -> None:
    """Eight H100 are 95 % of themselves, and a T4 makes a million samples for less."""
    table = """
        workload,gpu,gpu_count,throughput
        job,T4,1,400
        job,H100,8,24000
    """
    answer = ask(table)
    assert answer.spec is not None
    assert (answer.spec.gpu, answer.spec.gpu_count) == ("T4", 1)
    assert [each.spec.gpu for each in answer.alternatives] == ["T4", "H100"]
    assert [each.dominated for each in answer.alternatives] == [False, False]
    assert any("The fastest is 8 x H100" in said or "Next comes 8 x H100" in said for said in _said(answer))


def test_what_did_not_fit_is_remembered(tmp_path: Path) -> None:
    """128 images did not fit on a K80, so 256 do not; on a V100 they did."""
    runs = runs_of(
        tmp_path,
        """
        workload,gpu,gpu_count,batch_size,throughput,outcome
        vgg16,K80,1,16,100,
        vgg16,K80,1,32,110,
        vgg16,K80,1,64,116,
        vgg16,K80,1,128,,out_of_memory
        vgg16,V100,1,64,400,
        vgg16,V100,1,128,430,
        """,
    )
    model = fit(runs).workload("vgg16")
    fits = {
        (gpu, batch): not predict(model, Configuration(None, None, None, batch, gpu, 1)).out_of_memory
        for gpu, batch in (("K80", 64), ("K80", 128), ("K80", 256), ("V100", 128))
    }
    assert fits == {("K80", 64): True, ("K80", 128): False, ("K80", 256): False, ("V100", 128): True}


@pytest.mark.parametrize(("second", "count"), [(128, 1), (290, 2)])
def test_two_values_are_compared_without_a_curve(ask: Asked, second: float, count: int) -> None:
    """A second GPU that gives 28 % is not worth twice the price; one that gives 190 % is."""
    answer = ask(f"workload,gpu,gpu_count,throughput\njob,V100,1,100\njob,V100,2,{second}")
    assert answer.spec is not None
    assert answer.spec.gpu_count == count


def test_an_interval_does_not_reach_far_beyond_its_neighbours(tmp_path: Path) -> None:
    """Between 60 and 107 lies no 8 and no 759."""
    runs = runs_of(
        tmp_path,
        """
        workload,vcpus,throughput
        job,1,20
        job,2,60
        job,8,107
        job,16,700
        """,
    )
    rate = predict(fit(runs).workload("job"), Configuration(4.0, None, None, None, None, None)).throughput
    assert rate.low > 60 / 2
    assert rate.high < 107 * 2


SERVING = """
    workload,kind,gpu,batch_size,throughput,latency_p99_ms
    serve,image_inference,T4,1,120,9
    serve,image_inference,T4,8,420,21
    serve,image_inference,T4,32,560,62
    serve,image_inference,V100,1,190,6
    serve,image_inference,V100,8,1100,8.5
    serve,image_inference,V100,32,1900,18
"""


@pytest.mark.parametrize(
    ("asked", "gpu", "batch"),
    [
        ({}, "T4", 32),
        ({"latency_p99": 0.020}, "V100", 32),
        ({"latency_p99": 0.030}, "T4", 8),
        ({"latency_p99": 0.012}, "V100", 8),
        ({"latency_p99": 0.030, "at_least": 500.0}, "V100", 32),
        ({"latency_p99": 0.012, "prefer": "fastest"}, "V100", 8),
    ],
)
def test_a_latency_that_is_asked_for_is_kept(ask: Asked, asked: dict[str, object], gpu: str, batch: int) -> None:
    """By the least cost of those that keep it; a batch that takes longer is no candidate, and says so."""
    answer = ask(SERVING, **asked)
    assert answer.spec is not None
    assert (answer.spec.gpu, answer.spec.batch_size) == (gpu, batch)
    assert answer.provisional is (answer.probability is None or answer.probability < 0.9)
    assert any("99 of 100 batches" in each for each in _said(answer)) is ("latency_p99" in asked)


def test_a_latency_that_nothing_keeps_or_tells_has_no_answer(ask: Asked) -> None:
    """The least that was measured is named; without any there is nothing to go by."""
    answer = ask(SERVING, latency_p99=0.003)
    assert (answer.status, answer.spec) == ("refused", None)
    assert _said(answer)[0].endswith("the least is 6 ms, with 1 x V100, batch 1.")
    answer = ask(KINDS, latency_p99=0.003)
    assert answer.status == "refused"
    assert _said(answer)[0].startswith("No run tells a p99 latency")


SPOT = """
    workload,instance_type,usd_per_hour,usd_per_hour_spot,gpu,gpu_count,throughput
    job,one,1.00,0.90,T4,1,100
    job,two,2.00,0.50,L4,1,180
    job,three,0.90,,A10G,1,105
"""


def test_spot_prices_count_where_they_are_asked_for(ask: Asked) -> None:
    """A machine without a spot price is not ranked then, and its price on demand is not taken for one."""
    on_demand, spot = ask(SPOT), ask(SPOT, spot=True)
    assert on_demand.spec is not None
    assert on_demand.spec.gpu == "A10G"
    assert spot.spec is not None
    assert spot.spec.gpu == "L4"
    assert [each.usd_per_hour for each in spot.alternatives] == [0.5, 0.9, None]
    assert [each.usd_per_hour_spot for each in on_demand.alternatives] == [None, 0.9, 0.5]
    assert ReasonCode.PRICES in {each.code for each in spot.reasons}
    without = ask(KINDS, spot=True)
    assert without.provisional
    assert {offer.usd_per_hour for offer in without.instances} == {None}


def test_a_close_choice_says_so(ask: Asked) -> None:
    """Two machines at prices and rates alike: the answer is provisional, and the runs to repeat are named."""
    answer = ask(
        """
        workload,instance_type,usd_per_hour,gpu,gpu_count,throughput
        job,one,1.00,T4,1,100
        job,two,1.08,L4,1,100.5
        """
    )
    assert answer.spec is not None
    assert answer.spec.gpu == "T4"
    assert answer.probability is not None


def test_unknown_prices_are_never_first(ask: Asked) -> None:
    """Without any price the answer says that it is no cheapest; beside one with a price, that one is taken."""
    table = "workload,gpu,gpu_count,throughput\njob,Y1,1,100\njob,{other},1,90"
    unknown, priced = ask(table.format(other="Y2")), ask(table.format(other="T4"))
    assert unknown.provisional
    assert any("No price of these machines is known" in said for said in _said(unknown))
    assert priced.spec is not None
    assert priced.spec.gpu == "T4"


def test_a_slower_machine_that_costs_less_is_not_denied(ask: Asked) -> None:
    """One V100 does the work for less than four, and is too slow for 5,000 a second."""
    said = _said(ask(KINDS, at_least=5000.0))
    assert (
        said[0] == "A million samples cost $0.462 on gcp n1-highmem-32, the least of the machines that are fast enough."
    )
    assert _said(ask(KINDS))[0].endswith("the least of 7 machines measured.")


@pytest.mark.parametrize("table", [WHOLE_MACHINES, KINDS, SYNTHETIC])
def test_sentences_say_what_matters(ask: Asked, table: str) -> None:
    """No percentage above 300, nothing negative, no attribution without grounds, no advice about what is not there."""
    answer = ask(table)
    said = " ".join(_said(answer))
    assert "CPU 99" not in said
    assert "serial part" not in said
    assert "x cpu" not in said
    assert "-" not in [word[0] for word in said.split()]
    assert not [word for word in said.replace("%", " %").split(" %")[:-1] if _last(word) > 300]
    assert answer.bottleneck is None
    assert len(answer.reasons) <= 4


def _last(text: str) -> float:
    word = text.split()[-1].replace(",", "") if text.split() else "0"
    return float(word) if word.replace(".", "").isdigit() else 0.0


def _said(answer: Answer) -> list[str]:
    terms = Terms(answer.workload, answer.sample_unit)
    return [*reason_sentences(answer, terms), *(rejection_sentences(each, terms) for each in answer.rejected)]


@pytest.mark.parametrize(
    ("table", "asked", "vcpus"),
    [
        ("p,2,60 p,4,107 p,8,200 p,16,210", {}, 8),
        ("p,2,50 p,4,98 p,8,150 p,16,152", {}, 8),
        ("p,4,421 p,8,839 p,16,1330 p,32,1501 p,64,1505", {"prefer": "fastest"}, 32),
    ],
)
def test_a_measured_size_that_is_enough_is_taken(ask: Asked, table: str, asked: dict[str, object], vcpus: int) -> None:
    """And no size between two measured ones, which only the next larger machine holds."""
    rows = "\n".join(row.replace(",", ",V100,", 1) for row in table.split())
    spec = ask(f"workload,gpu,vcpus,throughput\n{rows}", **asked).spec
    assert spec is not None
    assert (spec.vcpus, spec.gpu) == (vcpus, "V100")


@pytest.mark.parametrize("needed", [1000.0, 999.0, 995.0])
def test_a_rate_that_was_measured_is_given(ask: Asked, needed: float) -> None:
    """Exactly as measured is an even chance, and not nothing: provisional, and no other machine is fast enough."""
    answer = ask("workload,gpu,throughput\ntr,T4,400\ntr,V100,1000", at_least=needed)
    assert answer.spec is not None
    assert (answer.status, answer.provisional, answer.spec.gpu) == ("recommended", True, "V100")


def test_what_is_fast_and_what_is_prompt_need_not_be_one(ask: Asked) -> None:
    """Then it is said which is which; not that nothing is fast enough."""
    answer = ask(SERVING, latency_p99=0.007, at_least=1000.0)
    assert answer.status == "refused"
    assert _said(answer)[0].startswith("No configuration measured gives 1,000 samples/s within a p99 latency of 7 ms; ")


def test_a_slip_spoils_no_other_row(ask: Asked) -> None:
    """The answer beside it is provisional and names it; the rates of the other rows keep their intervals."""
    answer = ask("workload,vcpus,throughput\np,4,100\np,4,101\np,8,190\np,8,19\np,16,195\np,16,194")
    assert answer.provisional
    assert any("10 times apart" in each for each in _said(answer))
    assert answer.throughput is not None
    assert answer.throughput.high < 1.1 * answer.throughput.low


def test_memory_and_disks_are_compared_by_size_and_price(ask: Asked) -> None:
    """A job on the CPU needs no more memory than keeps its rate, nor a dearer disk for one percent."""
    memory = ask("workload,memory_gib,throughput\nq,8,200\nq,32,204")
    disk = ask("workload,gpu,disk,disk_class,throughput\nq,T4,x,ssd,100\nq,T4,y,nvme,101\nq,V100,x,ssd,200")
    assert memory.spec is not None
    assert memory.spec.memory_bytes == 8 * GIB
    assert disk.spec is not None
    assert (disk.spec.gpu, disk.spec.disk) == ("T4", "x")


def test_an_unpriced_machine_is_not_what_others_are_measured_by(ask: Asked) -> None:
    """Its rate is the highest, and nobody knows what it costs."""
    table = "workload,instance_type,vcpus,throughput\nj,c6i.4xlarge,16,90\nj,c7i.8xlarge,32,200\nj,ml.foo,48,500"
    answer = ask(table)
    assert answer.spec is not None
    assert answer.spec.vcpus == 32


def test_a_price_of_another_region_is_not_taken(ask: Asked) -> None:
    """The catalogue has g4dn.xlarge in us-east-1; which of the two it is, is said."""
    answer = ask(
        """
        workload,provider,instance_type,region,throughput
        tr,aws,g4dn.xlarge,us-east-1,300
        tr,aws,g4dn.xlarge,eu-central-1,330
        """
    )
    assert {(each.instance_type, each.usd_per_hour) for each in answer.alternatives} == {
        ("aws g4dn.xlarge us-east-1", 0.526),
        ("aws g4dn.xlarge eu-central-1", None),
    }


def test_one_row_is_an_answer_and_provisional(ask: Asked) -> None:
    """Beside another workload that has several."""
    answer = ask("workload,gpu,throughput\none,T4,300\ntwo,T4,300\ntwo,V100,900")
    assert answer.spec is not None
    assert answer.provisional
    assert _said(answer)[0].startswith("It is the only configuration measured")


def test_the_input_that_binds_is_said(ask: Asked) -> None:
    """With synthetic input the same accelerators were half as fast again: more of them may not help."""
    answer = ask(SYNTHETIC, "fastest")
    assert ReasonCode.HELD_BACK in {each.code for each in answer.reasons}
    assert answer.next_run is None
    only = ask("workload,gpu,input,throughput\nq,T4,synthetic,100\nq,V100,synthetic,300")
    assert ReasonCode.OTHER_INPUT in {each.code for each in only.reasons}


def test_relative_rates_have_no_deadline(ask: Asked) -> None:
    """Nobody knows how many samples a second that is."""
    answer = ask("workload,gpu,speedup\nq,T4,1.0\nq,V100,3.1", deadline=Deadline(1e6, 3600))
    assert (answer.status, [each.code for each in answer.reasons]) == ("refused", [ReasonCode.RELATIVE_HAS_NO_TIME])


def test_the_fastest_may_need_the_dearer_disk(ask: Asked) -> None:
    """What a disk may cost is no question of who asks for the highest rate: 1.9 % count there, and 1 % do not."""
    table = "workload,gpu,disk,disk_class,throughput\nq,T4,x,ssd,{plain}\nq,T4,y,nvme,1000"
    near, far = ask(table.format(plain=995), "fastest"), ask(table.format(plain=981), "fastest")
    assert near.spec is not None
    assert far.spec is not None
    assert (near.spec.disk, far.spec.disk) == ("x", "y")


def test_one_that_answers_soon_enough_only_likely_is_better_than_none(ask: Asked) -> None:
    """Another one keeps the latency surely, and is too slow for what is asked."""
    table = "workload,gpu,batch_size,throughput,latency_p99_ms\nb,T4,8,1200,24.5\nb,T4,1,400,6"
    answer = ask(table, latency_p99=0.025, at_least=1000.0)
    assert answer.spec is not None
    assert (answer.spec.batch_size, answer.provisional) == (8, True)


def test_an_unknown_latency_beats_none_that_is_known(ask: Asked) -> None:
    """It is as fast and costs no more, but nobody knows how soon it answers."""
    table = "workload,gpu,batch_size,throughput,latency_p99_ms\nb,T4,8,1200,\nb,T4,4,1000,9"
    assert not any(each.dominated for each in ask(table).alternatives)


def test_what_was_never_measured_together_is_not_recommended_for_a_rate(make_run: Callable[..., Run]) -> None:
    """Every size that exists was never run on that disk: it is a bound at the most."""
    points = (("a", 0.25, 30), ("a", 0.5, 59), ("a", 0.75, 80), ("b", 2, 190), ("b", 3, 195), ("b", 4, 196))
    runs = [replace(make_run(rate, vcpus, disk=disk), demand=None) for disk, vcpus, rate in points]
    (answer,) = recommend(fit(runs), runs, Objective(at_least=100.0), Catalog.load()).workloads
    assert answer.spec is not None
    assert answer.spec.disk == "b"
