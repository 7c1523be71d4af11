"""Headers without a unit: what another column shows it to be, and what is asked for where none does."""

from __future__ import annotations

import pytest

from sizer.exchange.imported import Imported
from sizer.records.errors import InputError
from sizer.records.study import NoteKind
from sizer.words.notes import note_in_words
from tests.tables import Read


def latencies(found: Imported) -> list[float | None]:
    return [run.latency_p50 for run in found.runs]


def said(found: Imported) -> str:
    return " ".join(note_in_words(note) for note in found.notes if note.kind is NoteKind.UNIT_LEFT_OUT)


@pytest.mark.parametrize(
    ("table", "asked"),
    [
        # At batch 8, 0.020 are 400 samples/s if they are seconds, and 400,000 if they are milliseconds.
        ("gpu,batch,latency\nT4,8,0.020\nL4,8,0.012\n", "`latency (ms)` or `latency (s)`"),
        ("gpu,batch,step time\nT4,32,250\nL4,32,140\n", "`step time (ms)` or `step time (s)`"),
        ("gpu,batch,time per iteration\nT4,32,0.25\n", "`time per iteration (ms)` or `time per iteration (s)`"),
        ("gpu,time per image\nT4,2.5\n", "`time per image (ms)` or `time per image (s)`"),
        ("gpu,images,epoch time\nT4,50000,12\n", "`epoch time (s)` or `epoch time (min)`"),
        ("gpu,batch,延迟\nT4,8,20\n", "`延迟 (ms)` or `延迟 (s)`"),
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
        # A row without a rate has the unit of those that have both.
        ("gpu,batch,img/s,step time\nT4,32,128,250\nL4,32,,125\n", [128, 256]),
        ("gpu,吞吐量(张/秒)\nT4,1.2万\n", [12000]),
    ],
)
def test_a_rate_follows_from_a_time_whose_unit_is_known(read: Read, table: str, rates: list[float]) -> None:
    """By the header, by each cell, or by rows that have a rate as well."""
    assert [run.throughput.value for run in read(table).runs if run.throughput] == pytest.approx(rates)


@pytest.mark.parametrize(
    ("table", "seconds"),
    [
        ("gpu,batch,img/s,latency\nT4,8,400,0.020\nL4,8,800,0.010\n", [0.020, 0.010]),
        ("gpu,batch,img/s,latency\nT4,8,400,20\nL4,8,800,10\n", [0.020, 0.010]),
        # Sixty-four requests in flight at 1,000 a second take 64 ms each.
        ("gpu,concurrency,req/s,latency\nT4,64,1000,64\n", [0.064]),
        ("gpu,concurrency,req/s,latency\nT4,64,1000,0.064\n", [0.064]),
        # Nothing shows whether a quarter of a request or 250 were in flight.
        ("gpu,req/s,latency\nT4,1000,0.25\n", [None]),
        ("gpu,req/s,p99 latency\nT4,1000,250\n", [None]),
    ],
)
def test_a_latency_beside_a_rate_is_read_where_the_two_show_its_unit(
    read: Read, table: str, seconds: list[float | None]
) -> None:
    """As many are in flight as rate times latency; else it is not read, and the note says what to call it."""
    found = read(table)
    assert latencies(found) == [None if each is None else pytest.approx(each) for each in seconds]
    assert ("Nothing says the unit" in said(found)) == (None in seconds)


@pytest.mark.parametrize(
    ("table", "left_out"),
    [
        ("gpu,price,img/s\nT4,384,100\nL4,588,200\n", "`price (per hour)`"),
        ("gpu,memory,img/s\nT4,16384,100\nL4,32768,120\n", "`memory (GB)` or `memory (MB)`"),
    ],
)
def test_what_no_machine_has_is_of_another_unit(read: Read, table: str, left_out: str) -> None:
    """No hour costs 384 USD, and no machine beside one GPU has 16,384 GiB: neither is read."""
    found = read(table)
    assert left_out in said(found)
    assert all(run.machine is None and run.configuration.memory_bytes is None for run in found.runs)


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
