"""The reference is weighed like every other run: the host is looked at again where the answers are open by it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from sizer.plan.chooser import Chooser
from sizer.plan.chosen import NextRun
from sizer.plan.reference_runs import is_measurement, reference
from sizer.plan.run_order import plan
from sizer.records.run import Run
from sizer.records.study import Adaptive, RunReasonKind
from tests.tables import stored_catalog
from tests.unit.plan.machine import HOST, Rate, knee, made, study_of

BEGAN = datetime(2026, 11, 21, tzinfo=timezone.utc)


STUDY = study_of("one", "two", "three")


def on_host(path: Callable[[int], float]) -> list[Run]:
    """Every run that is made of three jobs that 4.4 vCPUs serve, a minute apart, on a host that is slower by `path` of
    the number of the run (ln)."""
    chooser, runs = Chooser(STUDY, HOST, stored_catalog(), Adaptive()), list[Run]()
    while isinstance(found := chooser.next_run(runs), NextRun):
        run = made(found.spec, slowed(path(len(runs))))
        started = BEGAN + timedelta(seconds=60 * len(runs))
        runs.append(replace(run, started_at=started.isoformat(), reason=found.why))
    return runs


def slowed(by: float) -> Rate:
    return lambda configuration: knee(4.4)(configuration) * math.exp(-by)


def looks(runs: list[Run], kind: RunReasonKind) -> list[Run]:
    return [run for run in runs if run.reason is not None and run.reason.kind is kind]


def planned(count: int, path: Callable[[int], float]) -> list[Run]:
    """So many of the runs of the whole plan, in its order, on such a host."""
    specs = plan(STUDY, HOST)[:count]
    return [
        replace(made(spec, slowed(path(number))), started_at=(BEGAN + timedelta(seconds=60 * number)).isoformat())
        for number, spec in enumerate(specs)
    ]


@pytest.mark.parametrize("slower", [0.01, 0.03])
def test_a_host_that_gets_slower_is_looked_at_where_it_leaves_an_answer_open(slower: float) -> None:
    """Sooner than after eight runs, and the reason names the job whose answer would be surer."""
    of = reference(STUDY, HOST)
    assert of is not None
    runs = planned(31, lambda number: slower * number)
    assert [is_measurement(run.spec, of) for run in runs[-7:]] == [True, *[False] * 6]
    found = Chooser(STUDY, HOST, stored_catalog(), Adaptive()).next_run(runs)
    assert isinstance(found, NextRun)
    assert found.why is not None
    assert is_measurement(found.spec, of)
    assert found.why.kind is RunReasonKind.HOST_OPEN
    assert found.why.names[0] in {workload.workload.name for workload in STUDY.workloads}


def test_a_quiet_host_is_looked_at_only_when_it_is_due() -> None:
    """No answer is open by how slow it was."""
    runs = on_host(lambda _number: 0.0)
    assert not looks(runs, RunReasonKind.HOST_OPEN)
    assert looks(runs, RunReasonKind.HOST_AGAIN)
