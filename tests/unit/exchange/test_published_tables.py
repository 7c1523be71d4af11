"""Tables like those that people publish: papers, spreadsheets, providers' blogs, pages in Markdown, in two languages.

Each is small, and each says what it was read as. Figures are made up.
"""

from __future__ import annotations

import pytest

from sizer.exchange.headers import meaning
from sizer.exchange.imported import Imported
from sizer.exchange.written_cells import Comma, comma_in, failure, is_not_measured, unmarked, with_point
from sizer.records.errors import InputError
from sizer.records.run_kinds import Outcome
from sizer.records.units import RELATIVE
from sizer.words.notes import note_in_words
from tests.tables import Read


def said(found: Imported) -> str:
    return "\n".join(note_in_words(note) for note in found.notes[1:])


def rates(found: Imported) -> list[float | None]:
    return [run.throughput.value if run.throughput else None for run in found.runs]


def gpus(found: Imported) -> list[tuple[str | None, int | None]]:
    return [(run.configuration.gpu, run.configuration.gpu_count) for run in found.runs]


def test_a_table_of_a_paper(read: Read) -> None:
    """Tabs, a batch of one GPU, thousands."""
    found = read(
        "Model\tGPU\t#GPUs\tBatch size/GPU\tThroughput (img/s)\n"
        "ResNet-50\tV100 SXM2 16GB\t1\t64\t383\nResNet-50\tV100 SXM2 16GB\t8\t64\t2,987\n"
    )
    assert rates(found) == [383, 2987]
    assert [run.configuration.batch_size for run in found.runs] == [64, 512]
    assert gpus(found) == [("V100-16GB", 1), ("V100-16GB", 8)]
    assert found.unknown == ()
    assert "`Batch size/GPU` is the batch of one accelerator, so `batch_size` is that times `gpu_count`." in said(found)
    assert "A comma in `Throughput (img/s)` is read as separating thousands: `2,987` as 2987." in said(found)


def test_the_batch_of_one_gpu_of_a_machine_that_may_have_several_is_not_multiplied(read: Read) -> None:
    found = read("model,instance,batch per gpu,img/s\na,own box,64,10\na,other box,64,20\n")
    assert [run.configuration.batch_size for run in found.runs] == [None, None]


@pytest.mark.parametrize("cell", ["OOM", "oom*", "Out of memory", "CUDA out of memory", "显存不足"])
def test_what_did_not_fit_is_an_outcome(read: Read, cell: str) -> None:
    """In a column of rates, and it is said."""
    found = read(f"Network,GPU,GPU mem (GB),Batch,images/sec\nVGG-16,K80,12,64,37.2\nVGG-16,K80,12,128,{cell}\n")
    assert [run.outcome for run in found.runs] == [Outcome.COMPLETED, Outcome.OUT_OF_MEMORY]
    assert rates(found) == [37.2, None]
    assert f"`{cell}` is read as out_of_memory" in said(found)
    assert found.unknown == ("GPU mem (GB)",)


@pytest.mark.parametrize(
    ("cell", "outcome"), [("timed out", Outcome.TIMEOUT), ("failed", Outcome.CRASHED), ("not supported", "unsupported")]
)
def test_other_ends_are_outcomes_too(read: Read, cell: str, outcome: Outcome) -> None:
    """Also in a column of times."""
    found = read(f"model,gpu,batch,ms/step\na,T4,8,10\na,V100,8,{cell}\n")
    assert found.runs[1].outcome == outcome


def test_what_was_not_measured_is_left_out_and_named(read: Read) -> None:
    """Elsewhere in the row such a cell is an empty one."""
    found = read(
        "Model,GPU,Batch,Throughput\nBERT,T4,8,N/A\nBERT,V100,n/a,54.2\nBERT,A100,8,140.1\nBERT,H100,8,-\nBERT,L4,8,—\n"
    )
    assert rates(found) == [54.2, 140.1]
    assert "Rows that say that nothing was measured are left out: line 2, line 5 and line 6." in said(found)


def test_a_time_may_say_what_the_column_of_rates_does_not(read: Read) -> None:
    found = read("model,gpu,batch,img/s,ms/step\na,T4,8,-,400\na,V100,8,50,\n")
    assert rates(found) == [20, 50]


def test_a_table_without_any_measurement_is_refused(read: Read) -> None:
    with pytest.raises(InputError, match="has no row with a measurement"):
        read("model,gpu,img/s\na,T4,N/A\na,V100,-\n")


def test_decimal_commas(read: Read) -> None:
    """A spreadsheet of another country: points between thousands, and one cell shows it for all."""
    found = read(
        "model;vcpus;throughput (images/s);price ($/h)\nResNet50;2;96,5;0,096\nResNet50;4;187,250;0,192\n"
        "ResNet50;8;1.342,1;1.384\n"
    )
    assert rates(found) == [96.5, 187.25, 1342.1]
    assert [run.machine and run.machine.usd_per_hour for run in found.runs] == [0.096, 0.192, 1384]
    assert "is read as the decimal one: `96,5` as 96.5" in said(found)


@pytest.mark.parametrize(
    ("texts", "delimiter", "comma"),
    [
        (["1,077", "2000"], ",", Comma.THOUSANDS),
        (["1,077", "2000"], "\t", Comma.THOUSANDS),
        (["1,077", "2000"], ";", Comma.UNKNOWN),
        (["1,077", "38.5"], ";", Comma.THOUSANDS),
        (["1,077.5"], ";", Comma.THOUSANDS),
        (["96,5", "1,077"], "\t", Comma.DECIMALS),
        (["0,096"], ";", Comma.DECIMALS),
        (["1.077,5"], ",", Comma.DECIMALS),
        (["96,5", "38.5"], ";", Comma.UNKNOWN),
    ],
)
def test_what_a_comma_separates_follows_from_the_cells_that_leave_no_doubt(
    texts: list[str], delimiter: str, comma: Comma
) -> None:
    assert comma_in(texts, delimiter) is comma


@pytest.mark.parametrize(
    ("text", "comma", "expected"),
    [
        ("1,281,167", Comma.UNKNOWN, "1281167"),
        ("1 281 167", Comma.UNKNOWN, "1281167"),
        ("1'281’167", Comma.UNKNOWN, "1281167"),
        ("0,096", Comma.THOUSANDS, "0,096"),
        ("12,34", Comma.THOUSANDS, "12,34"),
        ("16,5 GB", Comma.DECIMALS, "16.5 GB"),
        ("96,125", Comma.DECIMALS, "96.125"),
        ("1.342", Comma.DECIMALS, "1342"),
        ("1,077", Comma.UNKNOWN, "1,077"),
    ],
)
def test_a_number_is_written_with_a_point_alone(text: str, comma: Comma, expected: str) -> None:
    assert with_point(text, comma) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,077*", "1,077"),
        ("219†", "219"),
        ("52 [1]", "52"),
        ("52¹", "52"),
        ("~150", "150"),
        ("≈ 150", "150"),
        ("10 (a)", "10"),
        ("96 ± 2", "96"),
        ("187±3.5 img/s", "187"),
        ("342 +/- 7", "342"),
        ("-3", "-3"),
        ("16 GB", "16 GB"),
        ("1e5", "1e5"),
    ],
)
def test_marks_around_a_figure_are_not_read(text: str, expected: str) -> None:
    assert unmarked(text) == expected


def test_marks_are_named(read: Read) -> None:
    found = read('Model,GPU,Throughput (img/s)\nR,V100,"1,077*"\nR,P100,219†\nR,K80,52 [1]\nR,T4,~150\n')
    assert rates(found) == [1077, 219, 52, 150]
    assert "What stands around the figures in `Throughput (img/s)` is not read: `1,077*` is 1,077." in said(found)


def test_words_for_nothing_and_for_failures_are_no_figures() -> None:
    assert not any(is_not_measured(text) or failure(text) for text in ("0", "1.5", "none of it", "12 OOM"))


def test_shortened_thousands(read: Read) -> None:
    found = read("Model,GPU,tokens/s\nL,A100,1.2k\nL,H100,2.9K tokens/s\nL,L4,0.3k\nL,B200,1M\n")
    assert rates(found) == [1200, 2900, 300, 1e6]


def test_chinese_headers(read: Read) -> None:
    """A price in another currency is no price in dollars."""
    found = read(
        "模型,显卡,显卡数量,批大小,吞吐量（张/秒）,价格(元/小时)\nResNet50,V100,1,64,360,12.5\nResNet50,V100,2,128,700,25\n"
    )
    assert rates(found) == [360, 700]
    assert gpus(found) == [("V100", 1), ("V100", 2)]
    assert {run.sample_unit for run in found.runs} == {"image"}
    assert found.unknown == ("价格(元/小时)",)
    assert {run.machine for run in found.runs} == {None}


def test_chinese_machines_and_disks(read: Read) -> None:
    found = read(
        "任务\tvCPU数\t内存(GB)\t云盘\t吞吐(samples/s)\n训练\t4\t8\tESSD PL1\t120\n训练\t8\t16\t高效云盘\t130\n"
    )
    one, two = found.runs
    assert (one.spec.workload.name, one.configuration.vcpus, one.configuration.memory_bytes) == ("训练", 4, 8e9)
    assert [run.disk and run.disk.tier.disk_class for run in (one, two)] == ["ssd", "standard"]


def test_a_table_of_a_cloud_provider(read: Read) -> None:
    """Machines of one job, which has no name but the table's."""
    found = read(
        "Instance,GPU,vCPU,RAM,Price ($/hr),Spot price,Throughput (images/sec)\n"
        "p3.2xlarge,1x V100,8,61 GB,$3.06,$0.918,1055\np3.8xlarge,4x V100,32,244 GB,$12.24,$3.67,3940\n",
        "cloud machines.csv",
    )
    assert {run.spec.workload.name for run in found.runs} == {"cloud machines"}
    assert gpus(found) == [("V100", 1), ("V100", 4)]
    assert [run.machine and run.machine.usd_per_hour_spot for run in found.runs] == [0.918, 3.67]
    assert "no column `workload`, so all its rows are one job, called `cloud machines`" in said(found)
    assert [run.configuration.memory_bytes for run in found.runs] == [61 * 2**30, 244 * 2**30]
    assert "as many GB of memory for `p3.2xlarge` and `p3.8xlarge` as these have GiB" in said(found)
    assert found.unknown == ()


@pytest.mark.parametrize(
    ("header", "cell", "expected"),
    [
        ("GPUs", "4×A100-80GB", ("A100-80GB", 4)),
        ("GPU", "2 x K80", ("K80", 2)),
        ("GPU", "8xV100", ("V100", 8)),
        ("Accelerator", "V100 x8", ("V100", 8)),
        ("GPU", "V100 (x2)", ("V100", 2)),
        ("Hardware", "16 x P100", ("P100", 16)),
        ("GPU", "RTX 2080", ("RTX 2080", 0)),
        ("GPU", "GTX 1080 Ti", ("GTX 1080 Ti", 0)),
        ("GPUs", "T4", ("T4", 0)),
    ],
)
def test_a_name_may_hold_a_count(read: Read, header: str, cell: str, expected: tuple[str, int]) -> None:
    found = read(f"Model,{header},samples/s\nGPT-2,{cell},412\nGPT-2,1 x L4,80\n")
    assert gpus(found)[0] == expected


def test_an_own_column_of_counts_counts(read: Read) -> None:
    found = read("Model,GPU,#GPUs,samples/s\na,2x K80,4,412\na,2x K80,8,800\n")
    assert gpus(found) == [("K80", 4), ("K80", 8)]


def test_a_title_above_the_header_is_left_out(read: Read) -> None:
    """Lines are counted as in the file."""
    found = read("Table 3: Training throughput,,\n\nModel,GPU,img/s\nR,V100,383\nR,P100,219\n")
    assert rates(found) == [383, 219]
    assert [run.spec.line for run in found.runs] == [4, 5]
    assert "What is above the header is left out: `Table 3: Training throughput`." in said(found)


def test_merged_cells(read: Read) -> None:
    """The cells with which a row begins are those of the row above; any other empty cell stays empty."""
    found = read(
        "Model,GPU,Batch,img/s\nR,V100,32,350\n,,64,383\n,P100,32,190\nVGG,V100,32,230\n,,64,255\nVGG,,64,9\n",
    )
    names = [run.spec.workload.name for run in found.runs]
    assert names == ["R", "R", "R", "VGG", "VGG", "VGG"]
    assert [gpu for gpu, _ in gpus(found)] == ["V100", "V100", "P100", "V100", "V100", None]
    assert "as in merged cells: line 3, line 4 and line 6." in said(found)


def test_a_table_of_a_page_in_markdown(read: Read) -> None:
    found = read("| Model | GPU | img/s |\n|:---|---|---:|\n| R | V100 | 1,383 |\n| R | P100 | 219 |\n")
    assert rates(found) == [1383, 219]
    assert [run.spec.line for run in found.runs] == [3, 4]


def test_a_table_of_results_of_a_benchmark(read: Read) -> None:
    found = read(
        "Submitter,System,# of Processors,Accelerator,# of Accelerators,Software,Benchmark,Samples/s\n"
        "A,DGX-1,2,Tesla V100-SXM2-16GB,8,MXNet,ResNet,8000\nB,TPU,,TPUv3,4,TensorFlow,ResNet,6000\n"
    )
    assert gpus(found) == [("V100-16GB", 8), ("TPUv3", 4)]
    assert {run.spec.workload.name for run in found.runs} == {"ResNet"}


def test_precisions_beside_each_other_are_rows(read: Read) -> None:
    """Jobs of their own; a merged cell counts for each."""
    found = read("Model,GPU,FP32 images/s,FP16 images/s\nR,V100,383,780\n,T4,120,\nR,P100,OOM,230\n")
    assert [run.spec.workload.precision for run in found.runs] == ["FP32", "FP16", "FP32", "FP32", "FP16"]
    assert rates(found) == [383, 780, 120, None, 230]
    assert len({run.id for run in found.runs}) == 5
    assert (
        "Each of `FP32 images/s` and `FP16 images/s` is read as a row of its own, with its `precision`; lines"
        in said(found)
    )


def test_counts_beside_each_other_are_rows(read: Read) -> None:
    found = read("Model,1 GPU (img/s),2 GPUs (img/s),8-GPU img/s\nR,383,750,2850\nVGG,255,480,1600\n")
    assert [count for _, count in gpus(found)] == [1, 2, 8, 1, 2, 8]
    assert rates(found) == [383, 750, 2850, 255, 480, 1600]
    assert len({run.id for run in found.runs}) == 6


def test_counts_without_a_unit_may_be_times(read: Read) -> None:
    with pytest.raises(InputError, match="has no column `throughput`"):
        read("Model,1 GPU,2 GPUs\nR,383,750\n")


def test_relative_performance_without_any_job(read: Read) -> None:
    found = read("GPU,Relative performance\nGTX 1080 Ti,1.00\nTesla V100,1.55x\n")
    assert rates(found) == [1, 1.55]
    assert {run.sample_unit for run in found.runs} == {RELATIVE}


def test_epochs_of_machines(read: Read) -> None:
    found = read(
        "Instance Type,GPU Type,GPU Count,Time per Epoch (min),Hourly Cost (USD),Images\n"
        'g3.4xlarge,M60,1,38.2,1.14,"1,281,167"\np3.2xlarge,V100,1,10.9,3.06,"1,281,167"\n'
    )
    assert rates(found) == pytest.approx([559, 1959], rel=0.001)
    assert [run.machine and run.machine.usd_per_hour for run in found.runs] == [1.14, 3.06]


def test_a_spreadsheet_of_windows(read: Read) -> None:
    """A mark of the byte order, two characters at the end of a line, a blank line, figures in percent beside it."""
    found = read("\ufeffModel,CPU cores,Speed (img/s),Efficiency\r\nR,1,12,100%\r\nR,2,23,95.8%\r\n\r\n")
    assert rates(found) == [12, 23]
    assert found.unknown == ("Efficiency",)


@pytest.mark.parametrize(
    ("header", "column"),
    [
        ("Hourly Cost (USD)", "usd_per_hour"),
        ("On-demand price (USD/hour)", "usd_per_hour"),
        ("US$/hour", "usd_per_hour"),
        ("价格(美元/小时)", "usd_per_hour"),
        ("Spot price ($/h)", "usd_per_hour_spot"),
        ("Cost ($)", None),
        ("Price (EUR/h)", None),
        ("价格", None),
        ("usd per month", None),
        ("Cost per 1M images ($)", None),
        ("hourly", None),
        ("GPU mem (GB)", "gpu_memory_gb"),
        ("VRAM", "gpu_memory_gb"),
        ("img/s/GPU", "throughput"),
        ("Throughput", "throughput"),
        ("Training throughput*", "throughput"),
        ("推理吞吐量(请求/秒)", "throughput"),
        ("延迟(ms)", "latency_p50_ms"),
        ("p99 (ms)", "latency_p99_ms"),
        ("p95 latency (ms)", None),
        ("# of GPUs", "gpu_count"),
        ("System memory", "memory_gib"),
    ],
)
def test_headers_with_units_and_those_of_something_else(header: str, column: str | None) -> None:
    """What is bought by the month or in another currency is not what a machine costs."""
    found = meaning(header)
    assert (found.column if found else None) == column


def test_rows_that_differ_in_what_is_not_read_are_named(read: Read) -> None:
    """Two vendors are no two runs of one machine; two runs with numbers of their own are."""
    table = "workload,{column},gpu,gpu_count,throughput\nu,{one},H100,4,100\nu,{two},H100,4,190\nu,Z,H100,8,200\n"
    vendors = said(read(table.format(column="vendor", one="A", two="B")))
    assert "differ only in `vendor`, such as line 2 and line 3, are taken as repeats of one configuration" in vendors
    assert "taken as repeats" in said(read(table.format(column="racks", one="1", two="2")))
    for column, one, two in (("run", "1", "2"), ("gpu util", "97.5", "93.0"), ("vendor", "A", "A")):
        assert "taken as repeats" not in said(read(table.format(column=column, one=one, two=two)))


def test_a_count_beside_a_gpu_is_how_many_of_it(read: Read) -> None:
    """Eight are no one of them, and are not taken for a repeat."""
    found = read("gpu,count,throughput\nV100,1,300\nV100,8,2100\n")
    assert [run.configuration.gpu_count for run in found.runs] == [1, 8]
    assert "`count` as gpu_count" in said(found)


def test_a_column_that_no_row_has_is_no_gap(read: Read) -> None:
    """A row with synthetic input needs no disk, and says nothing of one."""
    found = read("workload,gpu,input,throughput\nq,T4,disk,100\nq,V100,disk,300\nq,V100,synthetic,350\n")
    assert "is empty in line" not in said(found)


def test_inputs_by_other_names(read: Read) -> None:
    """Real data lie on a disk, and fake ones are synthetic."""
    found = read("workload,gpu,input,throughput\nq,T4,Real data,100\nq,V100,real,300\nq,V100,fake,350\n")
    assert [run.spec.workload.input for run in found.runs] == ["disk", "disk", "synthetic"]
    assert "such as `Real data` as disk" in said(found)
