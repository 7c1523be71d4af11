"""The right machine: small tables, each with the answer that anyone would give who looked at it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.records.answer import Answer
from sizer.records.prediction import Configuration, ReasonCode
from sizer.records.study import Deadline
from sizer.words.answers import how_sure
from sizer.words.names import Terms, spec_name
from tests.tables import runs_of, sentences_of

Asked = Callable[..., Answer]
GPUS = "workload,gpu,gpu_count,throughput"
V100 = (
    "workload,vcpus,gpu,gpu_count,throughput,throughput_low,throughput_high / r,2,V100,1,96,94,98 / "
    "r,4,V100,1,187,183,190 / r,8,V100,1,342,336,349 / r,16,V100,1,395,389,400"
)
WHOLE_MACHINES = (
    "workload,vcpus,gpu,gpu_count,throughput / job,72,,0,197 / job,36,,0,120 / job,8,,0,30 / job,2,,0,9 / "
    "job,8,V100,1,1077"
)
CONFOUNDED = (
    "workload,vcpus,memory_gib,throughput / job,2,8,50 / job,4,16,99 / job,8,32,190 / job,8,64,192 / job,16,64,215 / "
    "job,32,128,220"
)
"""vCPUs and memory move together but for one row, so 16 vCPUs with 32 GiB are anybody's guess."""
ONE_SIZE_OF_DISKS = (
    "workload,vcpus,disk,disk_class,throughput / job,1,a,ssd,30 / job,2,a,ssd,59 / job,4,a,ssd,115 / job,8,a,ssd,140 / "
    "job,16,a,ssd,142 / job,16,b,nvme,190 / job,16,c,standard,70"
)
BATCHES = "workload,batch_size,gpu,throughput / t,16,V100,300 / t,32,V100,340 / t,64,V100,370 / t,128,V100,385"
KINDS = (
    f"{GPUS} / job,T4,1,200 / job,T4,2,400 / job,T4,4,800 / job,T4,8,1590 / job,V100,1,1800 / job,V100,2,3606.2 / "
    "job,V100,4,7105"
)
SYNTHETIC = (
    "workload,gpu,gpu_count,input,throughput / job,P100,1,synthetic,3000 / job,P100,2,synthetic,5900 / "
    "job,P100,4,synthetic,11000 / job,P100,8,synthetic,16000 / job,P100,1,disk,2890 / job,P100,2,disk,4448 / "
    "job,P100,4,disk,7105"
)
SERVING = (
    "workload,kind,gpu,batch_size,throughput,latency_p99_ms / s,image_inference,T4,1,120,9 / "
    "s,image_inference,T4,8,420,21 / s,image_inference,T4,32,560,62 / s,image_inference,V100,1,190,6 / "
    "s,image_inference,V100,8,1100,8.5 / s,image_inference,V100,32,1900,18"
)
LATENCIES = (
    "workload,gpu,batch_size,latency_p99_ms,throughput,usd_per_hour / b,T4,1,10.2,123,0.526 / b,T4,4,24,210,0.526 / "
    "b,A10G,1,4.9,250,1.006 / b,A10G,4,9.6,506,1.006 / b,L4,1,6.5,192,0.8048 / b,L4,4,12,412,0.8048"
)
PRICED = (
    "workload,instance_type,usd_per_hour,vcpus,gpu,gpu_count,throughput / job,small.a,1.0,4,T4,1,100 / "
    "job,small.b,1.5,4,A10G,1,300 / job,small.c,9.0,4,H100,1,900"
)
NAMES = (
    "instance_type,usd_per_hour,img/s / lambda-a10,0.60,300 / runpod-4090,0.44,620 / lambda-a100,1.29,800 / "
    "lambda-h100,2.49,1500"
)
SPOT = (
    "workload,instance_type,usd_per_hour,usd_per_hour_spot,gpu,gpu_count,throughput / job,one,1.00,0.90,T4,1,100 / "
    "job,two,2.00,0.50,L4,1,180 / job,three,0.90,,A10G,1,105"
)
REGIONS = (
    "workload,instance_type,region,usd_per_hour,throughput / r,g5.xlarge,eu-west-1,,300 / r,g6.xlarge,eu-west-1,,250 / "
    "r,p3dn.24xlarge,us-east-1,,420"
)
TARGET = "workload,instance_type,throughput / t,g4dn.xlarge,100 / t,g4dn.2xlarge,101 / t,g4dn.16xlarge,107"
SIZES = "workload,gpu,vcpus,throughput / p,V100,2,{} / p,V100,4,{} / p,V100,8,{} / p,V100,16,{}"
DISKS = "workload,gpu,disk,disk_class,throughput / q,T4,x,ssd,{} / q,T4,y,nvme,1000"
ONE_PRICE = (
    "gpu,gpu_count,vcpus,throughput,usd_per_hour / V100,1,1,299.0,2.95 / V100,1,2,299.2,2.95 / V100,1,4,299.1,2.95 / "
    "V100,2,4,500.0,5.91"
)
ACROSS_A_KNEE = (
    "workload,vcpus,gpu,gpu_count,throughput,core_seconds_per_sample / r,2,V100,1,96,{0} / r,4,V100,1,187,{0} / "
    "r,8,V100,1,{1},{0} / r,16,V100,1,{2},{0}"
)
"""A step that gained 15 %: either the accelerator binds now, or a half of each core was added."""
APART_MACHINES = "workload,gpu,throughput / a,T4,100 / a,T4,101 / a,V100,190 / a,V100,{}"
APART_SIZES = (
    "workload,vcpus,throughput / a,1,50 / a,1,51 / a,2,100 / a,2,101 / a,4,190 / a,4,{} / a,8,300 / a,8,301 / "
    "a,16,302 / a,16,303"
)
APART = "are 10 times apart: one of them is a slip, and no answer is reliable until it is corrected"
INSTANCES = "instance_type,throughput / g4dn.xlarge,200 / g5.xlarge,410 / g6e.xlarge,520"
RETIRED = r"^Nobody can rent aws p3.2xlarge \(retired 2026\)"
WITHIN = Deadline(1e8, 100 * 3600)


def vcpus(**rates: float) -> str:
    """A table of vCPUs alone: `v8=6.4` are 8 of them."""
    return "workload,vcpus,throughput / " + " / ".join(f"job,{name[1:]},{rate}" for name, rate in rates.items())


# fmt: off
CASES: list[tuple[str, str, dict[str, object], str, str]] = [
    # id, table, objective, the spec and what holds of it, what is said
    ("the GPU that it was measured on", V100, {"deadline": WITHIN}, "1 x V100", ""),
    ("what was never measured together is no machine", WHOLE_MACHINES, {}, "8 vCPUs, 1 x V100; recommended", ""),
    ("nor by speed", WHOLE_MACHINES, {"prefer": "fastest"}, "8 vCPUs, 1 x V100; recommended", ""),
    ("nor by a deadline", WHOLE_MACHINES, {"deadline": WITHIN}, "8 vCPUs, 1 x V100; recommended", ""),
    ("vCPUs and memory as measured", CONFOUNDED, {}, "16 vCPUs, 64 GiB", ""),
    ("vCPUs and disk as measured", ONE_SIZE_OF_DISKS, {}, "16 vCPUs, disk b", "!serial"),
    ("vCPUs come with the GPU", BATCHES, {}, "1 x V100, batch", "!vcpus|Memory|bottleneck"),
    ("few fast ones beat many slow ones", KINDS, {"prefer": "fastest"}, "4 x V100", ""),
    ("of two that do the work for the same the faster", KINDS, {}, "2 x V100", "of 7 machines measured"),
    ("GPUs without vCPUs have a price", KINDS, {"deadline": Deadline(1e9, 360_000)}, "V100", "!not known"),
    ("too late without a bottleneck", KINDS, {"deadline": Deadline(1e9, 3600)}, "refused", "!bound by"),
    ("a slower one that costs less is not denied", KINDS, {"at_least": 5000.0}, "4 x V100",
     "of the machines that are fast enough"),
    ("no latency was measured", KINDS, {"latency_p99": 0.003}, "refused", "^No run tells a p99 latency"),
    ("sizes as they were measured", "workload,vcpus,memory_gib,throughput / j,8,15,50 / j,16,30,99 / j,36,61,220", {},
     "36 vCPUs, 61 GiB", ""),
    ("the table's prices", PRICED, {}, "4 vCPUs, 1 x A10G", ""),
    ("the least cost of the work", f"{GPUS} / job,T4,1,400 / job,H100,8,24000", {}, "1 x T4",
     "(The fastest is|Next comes) 8 x H100"),
    ("28 % more is not worth twice the price", f"{GPUS} / job,V100,1,100 / job,V100,2,128", {}, "1 x V100", ""),
    ("190 % more is", f"{GPUS} / job,V100,1,100 / job,V100,2,290", {}, "2 x V100", ""),
    ("no price is never first", f"{GPUS} / job,Y1,1,100 / job,T4,1,90", {}, "1 x T4", ""),
    ("without any price", f"{GPUS} / job,Y1,1,100 / job,Y2,1,90", {}, "1 x Y1; provisional",
     "No price of these machines is known"),
    ("an unpriced one is no measure",
     "workload,instance_type,vcpus,throughput / j,c6i.4xlarge,16,90 / j,c7i.8xlarge,32,200 / j,ml.foo,48,500", {},
     "32 vCPUs", ""),
    ("spot prices", SPOT, {"spot": True}, "1 x L4", "spot"),
    ("prices on demand", SPOT, {}, "1 x A10G", ""),
    ("no spot price is known", KINDS, {"spot": True}, "provisional", ""),
    ("the only priced machine", REGIONS, {}, "provisional", "the only machine with a known price"),
    ("of the fastest a price is no doubt", REGIONS, {"prefer": "fastest"}, "sure", "fastest of 3 machines measured"),
    ("machines that are only named", NAMES, {}, "recommended", "runpod-4090"),
    ("a batch in time", SERVING, {"latency_p99": 0.020}, "1 x V100, batch 32", "99 of 100 batches"),
    ("the cheaper in more time", SERVING, {"latency_p99": 0.030}, "1 x T4, batch 8", "99 of 100 batches"),
    ("the smaller batch in less", SERVING, {"latency_p99": 0.012}, "1 x V100, batch 8", "99 of 100 batches"),
    ("in time and fast", SERVING, {"latency_p99": 0.030, "at_least": 500.0}, "1 x V100, batch 32", "99 of 100 batches"),
    ("the fastest in time", SERVING, {"latency_p99": 0.012, "prefer": "fastest"}, "1 x V100, batch 8",
     "99 of 100 batches"),
    ("without a latency", SERVING, {}, "1 x T4, batch 32", "!99 of 100 batches"),
    ("nothing is in time", SERVING, {"latency_p99": 0.003}, "refused", r"the least is 6 ms, with 1 x V100, batch 1\.$"),
    ("fast or in time", SERVING, {"latency_p99": 0.007, "at_least": 1000.0}, "refused",
     "^No configuration measured gives 1,000 samples/s within a p99 latency of 7 ms; "),
    ("likely in time, and the surer is named", LATENCIES, {"latency_p99": 0.010}, "1 x A10G, batch 4; provisional",
     "the same work costs 2.11 times as much"),
    ("surely in time for next to no more", LATENCIES, {"latency_p99": 0.0122}, "1 x A10G, batch 4",
     "of those that are surely enough"),
    ("likely in time beats too slow",
     "workload,gpu,batch_size,throughput,latency_p99_ms / b,T4,8,1200,24.5 / b,T4,1,400,6",
     {"latency_p99": 0.025, "at_least": 1000.0}, "batch 8; provisional", ""),
    ("a rate that is likely given", "gpu,throughput,usd_per_hour / T4,102,0.5 / V100,400,3.0", {"at_least": 100.0},
     "1 x T4; provisional", ""),
    ("a rate as measured", "workload,gpu,throughput / t,T4,400 / t,V100,1000", {"at_least": 1000.0},
     "1 x V100; recommended; provisional", ""),
    ("a rate just below", "workload,gpu,throughput / t,T4,400 / t,V100,1000", {"at_least": 995.0},
     "1 x V100; recommended; provisional", ""),
    ("what costs much less below the target", TARGET, {}, "64 vCPUs, 1 x T4",
     r"\(aws g4dn.2xlarge\), 94 % as fast; --target 0.94 accepts that"),
    ("which a lower target takes", TARGET, {"target": 0.93}, "4 vCPUs, 1 x T4", ""),
    ("a measured size that is enough", SIZES.format(60, 107, 200, 210), {}, "8 vCPUs, 1 x V100", ""),
    ("as flat as it gets", SIZES.format(50, 98, 150, 152), {}, "8 vCPUs, 1 x V100", ""),
    ("the smallest of one machine's", ONE_PRICE, {}, "1 vCPU, 1 x V100", ""),
    ("no more memory than keeps the rate", "workload,memory_gib,throughput / q,8,200 / q,32,204", {}, "8 GiB", ""),
    ("a disk that gains half a percent", DISKS.format(995), {"prefer": "fastest"}, "disk x", ""),
    ("a disk that gains two", DISKS.format(981), {"prefer": "fastest"}, "disk y", ""),
    ("nor a dearer disk for one", DISKS.format(990), {}, "disk x", ""),
    ("one row", "workload,gpu,throughput / one,T4,300 / two,T4,300 / two,V100,900", {}, "1 x T4; provisional",
     "^It is the only configuration measured"),
    ("another input than the job's", "workload,gpu,input,throughput / q,T4,synthetic,100 / q,V100,synthetic,300", {},
     "1 x T4", "with data from a disk"),
    ("relative rates have no deadline", "workload,gpu,speedup / q,T4,1.0 / q,V100,3.1",
     {"deadline": Deadline(1e6, 3600)}, "refused", "only relative"),
    ("more cost more at best", "gpu,gpu_count,throughput / A100,1,900 / A100,8,7150", {}, "recommended", ""),
    ("more may be faster", "gpu,gpu_count,throughput / A100,1,900 / A100,8,7150", {"prefer": "fastest"}, "at_least",
     ""),
    ("more than eight V100 nobody sells", "gpu,gpu_count,throughput / V100,1,350 / V100,8,2600", {"prefer": "fastest"},
     "recommended", "!slip"),
    ("more than 192 vCPUs of c7i neither", "instance_type,throughput / c7i.24xlarge,400 / c7i.48xlarge,790", {},
     "recommended", ""),
    ("not even for a rate", "instance_type,throughput / c7i.24xlarge,400 / c7i.48xlarge,790", {"at_least": 900.0},
     "refused", ""),
    ("out of proportion", f"{GPUS} / j,V100,1,350 / j,V100,2,6900 / j,V100,4,1350", {}, "provisional",
     "^One rate looks like a slip: 2 x V100"),
    ("far too slow", f"{GPUS} / j,V100,1,350 / j,V100,2,60 / j,V100,4,1350", {}, "provisional",
     "^One rate looks like a slip"),
    ("machines with a slip", APART_MACHINES.format(19), {}, "unsure", APART),
    ("sizes with a slip", APART_SIZES.format(19), {}, "unsure", APART),
    ("machines that agree", APART_MACHINES.format(191), {}, "recommended; sure", "!apart"),
    ("sizes that agree", APART_SIZES.format(191), {}, "recommended; sure", "!apart"),
    ("other input is no repeat", "workload,gpu,input,throughput / a,T4,disk,10 / a,T4,synthetic,90 / a,V100,disk,50",
     {}, "", "!times apart"),
    ("a gap", vcpus(v8=6.4, v16=10.5, v64=13.9), {}, "unsure", "Nothing was measured between 16 and 64 vCPUs"),
    ("a wider gap", vcpus(v2=100, v4=198, v8=380, v64=600), {}, "unsure",
     "Nothing was measured between 8 and 64 vCPUs"),
    ("a gap on a plateau", vcpus(v1=100, v2=200, v4=390, v16=440), {}, "unsure",
     "Nothing was measured between 4 and 16 vCPUs"),
    ("a gap that a proportional rate spans", vcpus(v1=543, v2=985, v8=2350), {}, "at_least; rising",
     "!Nothing was measured"),
    ("a flat step", vcpus(v2=100, v16=101), {}, "2 vCPUs; recommended", "!Nothing was measured"),
    ("a gap below the answer", vcpus(v2=100, v4=198, v64=600, v128=605), {}, "recommended; provisional",
     "Nothing was measured between"),
    ("more than in proportion there", vcpus(v1=100, v2=200, v16=1500, v32=1510), {}, "recommended; sure",
     "!Nothing was measured"),
    ("what follows a knee is open", ACROSS_A_KNEE.format("", 342, 395), {}, "at_least; unsettled", ""),
    ("half idle across a knee is enough", ACROSS_A_KNEE.format(0.0207, 342, 395), {}, "recommended; settled", ""),
    ("what the CPU binds still rises", ACROSS_A_KNEE.format("", 350, 610), {}, "at_least; rising", ""),
    ("a step that gained nothing", ACROSS_A_KNEE.format("", 360, 361), {}, "8 vCPUs; recommended; settled", ""),
    ("a baseline that is named", INSTANCES, {"baseline": "aws g6e.xlarge"}, "",
     r"The baseline is 4 vCPUs, 1 x L40S, 32 GiB \(aws g6e.xlarge\): 127 % as fast; the same work costs 146 %"),
    ("a baseline that was not measured", INSTANCES, {"baseline": "aws p5.48xlarge"}, "",
     "p5.48xlarge cannot be compared"),
    ("price times time may fall with more", "gpu,gpu_count,throughput / V100,1,400 / V100,2,780 / V100,4,1500",
     {"prefer": "balanced"}, "at_least", ""),
    ("only retired machines", "instance_type,throughput / p3.2xlarge,400 / p3.8xlarge,1500 / NC6s v2,300", {},
     "refused", RETIRED),
    ("the fastest is retired", "instance_type,throughput / p3.2xlarge,400", {"prefer": "fastest"}, "refused", RETIRED),
    ("a retired one alone has a latency", "instance_type,latency_p99_ms,throughput / p3.2xlarge,2,400 / g5.xlarge,,300",
     {"latency_p99": 0.02}, "refused", RETIRED),
    ("two sizes far apart", vcpus(v1=100, v16=420), {}, "provisional", ""),
]
# fmt: on


def traits(answer: Answer) -> str:
    """`8 vCPUs, 1 x V100 recommended sure settled`."""
    spec = "" if answer.spec is None else spec_name(answer.spec, Terms(answer.workload))
    doubt = "provisional" if answer.provisional else "sure"
    unsure = "unsure" if answer.provisional or answer.status == "at_least" else ""
    return f"{spec} {answer.status} {doubt} {answer.edge} {unsure}"


@pytest.mark.parametrize(
    ("table", "objective", "expected", "pattern"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_the_right_machine(
    ask_table: Asked, table: str, objective: dict[str, object], expected: str, pattern: str
) -> None:
    """What the spec is, how sure, and a sentence that is said, or (!) that is not."""
    answer = ask_table(table.replace(" / ", "\n"), **objective)
    assert all(part in traits(answer) for part in expected.split("; ")), traits(answer)
    sentences = [*sentences_of(answer), answer.instances[0].instance_type] if answer.instances else sentences_of(answer)
    matches = any(re.search(pattern.removeprefix("!"), sentence) for sentence in sentences)
    assert matches is not pattern.startswith("!"), sentences
    assert len(answer.reasons) <= 6


@pytest.mark.parametrize("prefer", ["cheapest", "balanced", "fastest"])
def test_synthetic_input_answers_for_no_job_with_data(ask_table: Asked, prefer: str) -> None:
    """However many rows it has; of the fastest it says that the input holds it back."""
    answer = ask_table(SYNTHETIC.replace(" / ", "\n"), prefer)
    assert round(answer.throughput.value) in (2890, 4448, 7105)
    assert (ReasonCode.HELD_BACK in {reason.code for reason in answer.reasons}) or prefer != "fastest"
    assert answer.next_run is None or prefer != "fastest"


@pytest.mark.parametrize("table", [WHOLE_MACHINES, KINDS, SYNTHETIC])
def test_sentences_say_what_matters(ask_table: Asked, table: str) -> None:
    """No percentage above 300, nothing negative, no attribution without grounds, no advice about what is not there."""
    answer = ask_table(table.replace(" / ", "\n"))
    text = " ".join(sentences_of(answer))
    assert not re.search(r"CPU 99|serial part|x cpu|(^| )-", text)
    assert all(float(share.replace(",", "")) <= 300 for share in re.findall(r"([\d.,]+) %", text))
    assert answer.bottleneck is None
    assert len(answer.reasons) <= 4


def test_prices_of_alternatives(ask_table: Asked) -> None:
    """Of spot and on demand, of the region, and none of what the catalogue does not have there."""
    spot, on_demand = (ask_table(SPOT.replace(" / ", "\n"), spot=spot).alternatives for spot in (True, False))
    assert [offer.usd_per_hour for offer in spot] == [0.5, 0.9, None]
    assert [offer.usd_per_hour_spot for offer in on_demand] == [None, 0.9, 0.5]
    rows = "tr,aws,g4dn.xlarge,us-east-1,300\ntr,aws,g4dn.xlarge,eu-central-1,330"
    answer = ask_table(f"workload,provider,instance_type,region,throughput\n{rows}")
    assert {(alternative.instance_type, alternative.usd_per_hour) for alternative in answer.alternatives} == {
        ("aws g4dn.xlarge us-east-1", 0.526),
        ("aws g4dn.xlarge eu-central-1", None),
    }
    one = ask_table(
        "instance_type,usd_per_hour,throughput\ng5.xlarge,1.006,300\ng5.xlarge,1.20,305\ng6.xlarge,0.8,250", "fastest"
    )
    assert [alternative.usd_per_hour for alternative in one.alternatives] == [0.8, 1.006]


@pytest.mark.parametrize(
    ("table", "front"),
    [
        (f"{GPUS} / j,T4,1,200 / j,T4,8,1590 / j,V100,1,1800 / j,V100,4,7105", [("V100", 1), ("V100", 4)]),
        (f"{GPUS} / j,T4,1,400 / j,H100,8,24000", [("T4", 1), ("H100", 8)]),
    ],
)
def test_the_front_is_of_rate_and_cost_of_the_work(ask_table: Asked, table: str, front: list[object]) -> None:
    """A T4 costs less an hour, and its work more, than that of a faster V100."""
    alternatives = ask_table(table.replace(" / ", "\n")).alternatives
    assert [
        (alternative.spec.gpu, alternative.spec.gpu_count) for alternative in alternatives if not alternative.dominated
    ] == front


def test_a_slip_spoils_no_other_row(ask_table: Asked) -> None:
    """The rates of the other rows keep their intervals, and how sure the answer is names whose runs lie apart."""
    answer = ask_table("workload,vcpus,throughput\np,4,100\np,4,101\np,8,190\np,8,19\np,16,195\np,16,194")
    assert answer.throughput.high < 1.1 * answer.throughput.low
    other = ask_table("workload,vcpus,throughput\nj,1,100\nj,2,195\nj,4,380\nj,4,38\nj,8,500\n")
    own = ask_table("workload,vcpus,throughput\nj,1,100\nj,2,195\nj,4,380\nj,8,1000\nj,8,100\n")
    assert (other.spec.vcpus, own.spec.vcpus) == (8, 8)
    assert how_sure(other) == "not known: one of the rates looks like a slip"
    assert how_sure(own) == "not known: one of the rates looks like a slip"


@pytest.mark.parametrize(
    ("table", "next_vcpus"),
    [
        (vcpus(v1=543, v2=985, v8=2350), (16, 32)),
        (vcpus(v2=100, v4=198, v64=600, v128=605), (16,)),
        (vcpus(v1=100, v16=420), (4,)),
        (ACROSS_A_KNEE.format("", 342, 395), (32,)),
    ],
)
def test_the_run_in_a_gap(ask_table: Asked, table: str, next_vcpus: tuple[float, ...]) -> None:
    """Between the sizes that nobody measured, unless the rate rises at the most."""
    assert ask_table(table.replace(" / ", "\n")).next_run.vcpus == next_vcpus


def test_an_interval_does_not_reach_far_beyond_its_neighbours(tmp_path: Path) -> None:
    """Between 60 and 107 lies no 8 and no 759."""
    runs = runs_of(tmp_path, vcpus(v1=20, v2=60, v8=107, v16=700).replace(" / ", "\n"))
    rate = predict(fit(runs).workload("job"), Configuration(4.0, None, None, None, None, None)).throughput
    assert 60 / 2 < rate.low < rate.high < 107 * 2
