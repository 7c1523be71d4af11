"""Headers without a unit: what another column shows it to be, and what is asked for where none does."""

from __future__ import annotations

import pytest

from sizer.records.errors import InputError
from tests.tables import Read


@pytest.mark.parametrize(
    ("table", "asked"),
    [
        # At batch 8, 0.020 are 400 samples/s if they are seconds, and 400,000 if they are milliseconds.
        ("gpu,batch,latency\nT4,8,0.020\nL4,8,0.012\n", "latency (ms)' or --map"),
        ("gpu,batch,step time\nT4,32,250\nL4,32,140\n", "step time (ms)' or --map"),
        ("gpu,batch,time per iteration\nT4,32,0.25\n", "time per iteration (ms)' or --map"),
        ("gpu,time per image\nT4,2.5\n", "time per image (ms)' or --map"),
        ("gpu,images,epoch time\nT4,50000,12\n", "epoch time (s)' or --map"),
        ("gpu,batch,延迟\nT4,8,20\n", "延迟 (ms)' or --map"),
        ("gpu,batch,throughput,unit\nT4,8,20,latency\n", "not a unit of rates"),
    ],
)
def test_a_rate_does_not_follow_from_a_time_without_a_unit(read: Read, table: str, asked: str) -> None:
    """It would be a thousandfold wrong, and surely; the sentence says what to call the column."""
    with pytest.raises(InputError) as caught:
        read(table)
    assert asked.replace("`", "") in str(caught.value).replace("`", "")


@pytest.mark.parametrize(
    ("table", "rates"),
    [
        ("gpu,batch,latency (s)\nT4,8,0.020\n", [400]),
        ("gpu,batch,latency (ms)\nT4,8,20\n", [400]),
        ("gpu,batch,latency\nT4,8,20 ms\nL4,8,0.01 s\n", [400, 800]),
        ("gpu,batch,step time (min)\nT4,600,0.5\n", [20]),
        ("gpu,images,epoch time (h)\nT4,36000,0.5\n", [20]),
        ("gpu,seconds per epoch,images\nT4,100,5000\n", [50]),
        ("gpu,吞吐量(张/秒)\nT4,1.2万\n", [12000]),
    ],
)
def test_a_rate_follows_from_a_time_whose_unit_is_known(read: Read, table: str, rates: list[float]) -> None:
    """By the header, by each cell, or by rows that have a rate as well."""
    assert [run.throughput.value for run in read(table).runs if run.throughput] == pytest.approx(rates)


@pytest.mark.parametrize(
    ("header", "cells", "gib"),
    [
        ("mem", ("5.8/40.0", "28.3/40.0"), [None, None]),
        ("显存占用", ("5.8/40.0", "28.3/40.0"), [None, None]),
        ("Mem (GPU)", ("40", "40"), [None, None]),
        ("VRAM", ("40", "80"), [None, None]),
        ("Memory", ("5.8", "28.3"), [None, None]),
        ("memory", ("2342MiB / 40960MiB", "9000MiB / 40960MiB"), [None, None]),
        ("memory", ("61", "122"), [61, 122]),
        ("RAM", ("5.8", "28.3"), [5.8, 28.3]),
        ("memory_gib", ("5.8", "28.3"), [5.8, 28.3]),
    ],
)
def test_memory_of_accelerators_is_not_the_machines(
    read: Read, header: str, cells: tuple[str, str], gib: list[float | None]
) -> None:
    """Nor is what was used of it; machines come in whole quarters of a GiB unless the header says that it is theirs."""
    found = read(f"gpu,batch,{header},img/s\nA100,32,{cells[0]},400\nA100,64,{cells[1]},500\n")
    sizes = [run.configuration.memory_bytes for run in found.runs]
    assert [size and size / 2**30 for size in sizes] == [None if each is None else pytest.approx(each) for each in gib]
