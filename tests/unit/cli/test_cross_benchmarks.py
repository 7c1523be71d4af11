"""recommend on a table of many frameworks and networks: what it compares first, then the answers in short."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.cli import main

HEADER = "framework,network,device,batch_size,mode,throughput\n"


def _said(folder: Path, capsys: pytest.CaptureFixture[str], networks: int, *asked: str) -> list[str]:
    rows = "".join(
        f"{framework},net{number},{device},{batch},train,{rate * batch**0.5 + number}\n"
        for number in range(networks)
        for framework, rate in (("mxnet", 20), ("pytorch", 24))
        for device in ("K80", "CPU c4.8xlarge")
        for batch in (8, 16)
    )
    (folder / "table.csv").write_text(HEADER + rows)
    assert main(["import", str(folder / "table.csv"), "--out", str(folder / "s")]) == 0
    capsys.readouterr()
    assert main(["recommend", str(folder / "s"), *asked]) == 0
    return capsys.readouterr().out.splitlines()


def test_of_many_programs_the_table_is_first_and_each_answer_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of them is asked for by its name."""
    lines = _said(tmp_path, capsys, 7)
    assert lines[0] == "Seconds a mini-batch:"
    answers = [line for line in lines if line.startswith("net")]
    assert len(answers) == 14
    assert lines[-15:-1] == answers
    assert lines[-1].startswith("Why an answer is so: `sizer recommend ")
    assert main(["recommend", str(tmp_path / "s"), "--workload", "net0 (mxnet)"]) == 0
    whole = capsys.readouterr().out.splitlines()
    assert whole[0] == answers[0]
    assert len(whole) > 3
    assert "Seconds a mini-batch:" not in whole


def test_a_few_answers_are_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of more than four workloads below the table, of fewer above it."""
    lines = _said(tmp_path, capsys, 3)
    assert lines[0] == "Seconds a mini-batch:"
    assert not any(line.startswith("Why an answer is so") for line in lines)
    assert lines[-1].startswith("  ")


def test_two_workloads_are_answered_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = _said(tmp_path, capsys, 1)
    assert lines[0].startswith("net0 (mxnet): ")
    assert "Seconds a mini-batch:" in lines
