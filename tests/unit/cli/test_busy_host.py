"""Whoever asks for an answer is told what the host did to its runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.cli import main
from sizer.records.run import Run
from sizer.records.study import Limits, Study, Workload, WorkloadPlan
from sizer.store.study_folder import StudyFolder
from tests.modelled import contended

WORKLOAD = Workload("train", "image_training", framework="mxnet", network="resnet50", format="recordio")
RATES = ((1.0, 100.0), (2.0, 197.0), (4.0, 300.0), (8.0, 303.0))
DRIFTED, BESIDE = "The host drifted: ", "Something else used CPUs of the host beside "
BETTER = "A quiet host, or more repeats of each configuration, measures better."


def test_recommend_says_how_the_host_was(
    make_run: Callable[..., Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of a quiet one; of another how far it drifted and how many runs were beside others."""
    runs = [
        _of_study(make_run(rate, vcpus)) for vcpus, rate in ((1.0, 100.0), (2.0, 197.0), (4.0, 300.0), (8.0, 303.0))
    ]
    again = [contended(_of_study(make_run(150.0, 8.0, repeat=repeat)), 4.0) for repeat in (1, 2)]
    assert main(["recommend", str(_stored(tmp_path / "quiet", runs))]) == 0
    assert not any(line.startswith((DRIFTED, BESIDE, BETTER)) for line in capsys.readouterr().out.splitlines())
    busy = _stored(tmp_path / "busy", [*runs, *again])
    assert main(["recommend", str(busy)]) == 0
    *_, drifted, beside, better = capsys.readouterr().out.splitlines()
    assert drifted.startswith(f"{DRIFTED}the reference configuration was measured 3 times: 150 images/s to 303")
    assert beside == f"{BESIDE}2 of 6 runs of the study."
    assert better == BETTER
    assert main(["recommend", str(busy), "--json"]) == 0
    assert BESIDE not in capsys.readouterr().out


def _of_study(run: Run) -> Run:
    limits = Limits(run.configuration.vcpus)
    return replace(run, spec=replace(run.spec, workload=WORKLOAD, limits=limits))


def _stored(path: Path, runs: Sequence[Run]) -> Path:
    plan = WorkloadPlan(WORKLOAD, (32,), tuple(sorted({run.configuration.vcpus or 0.0 for run in runs})))
    with StudyFolder.create(path, Study("study", (plan,)), {"cpus": 8, "memory_bytes": 2**34}) as folder:
        for run in runs:
            folder.add(run)
    return path
