"""recommend on a table of machines: a line for each that is worth choosing, and offers only where they say more."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.cli import main

KINDS = """workload,gpu,gpu_count,throughput
job,T4,1,200
job,V100,1,1800
job,V100,4,7105
"""
NAMED = """workload,instance_type,usd_per_hour,gpu,gpu_count,throughput
job,small.a,1.0,T4,1,100
job,small.b,1.5,A10G,1,300
job,small.c,9.0,H100,1,900
job,small.d,2.0,A10G,1,290
"""


def _said(folder: Path, capsys: pytest.CaptureFixture[str], table: str, *asked: str) -> list[str]:
    (folder / "table.csv").write_text(table)
    assert main(["import", str(folder / "table.csv"), "--out", str(folder / "s")]) == 0
    capsys.readouterr()
    assert main(["recommend", str(folder / "s"), *asked]) == 0
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_alternatives_follow_the_reasons_and_offers_come_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The instance type is only the cheapest that holds the machine, so others that do are listed, too."""
    lines = _said(tmp_path, capsys, KINDS)
    line = "1 x V100 (gcp n1-standard-8+1xV100): 1,800 samples/s, $2.86 an hour, $0.441 a million samples"
    assert lines.index(line) > next(i for i, each in enumerate(lines) if each.startswith("The work costs the least"))
    assert any(each.startswith("gcp n1-highmem-8+1xV100: $2.95 an hour (") for each in lines[lines.index(line) :])


def test_a_machine_by_its_own_name_has_no_offers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is rented as what it is; one that is dominated is left out."""
    lines = _said(tmp_path, capsys, NAMED)
    assert [line.partition(":")[0] for line in lines if line.endswith(" a million samples")] == [
        "1 x A10G (small.b)",
        "1 x H100 (small.c)",
    ]
    assert not any("the table)" in line for line in lines)


def test_the_answer_is_among_the_few(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of many machines five are shown, the fastest among them where that was asked for."""
    rows = "".join(f"job,type{i},{(1 + i) ** 1.2:.3f},V100,{i + 1},{100 * (i + 1)}\n" for i in range(8))
    header = "workload,instance_type,usd_per_hour,gpu,gpu_count,throughput\n"
    lines = _said(tmp_path, capsys, header + rows, "--objective", "fastest")
    shown = [line.partition(":")[0] for line in lines if line.endswith(" a million samples")]
    assert len(shown) == 5
    assert shown[-1] == "8 x V100 (type7)"
