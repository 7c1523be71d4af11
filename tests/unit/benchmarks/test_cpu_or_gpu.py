"""The published statements about CPUs, GPUs and batches."""

from __future__ import annotations

import cpu_or_gpu
import pytest


def test_every_statement_comes_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit status 0, and the table of each job as the terminal has it."""
    assert cpu_or_gpu.main() == 0
    out = capsys.readouterr().out
    assert "MISSED" not in out
    assert "n1-standard-1 + K80) is slower than 8 vCPUs" in out
