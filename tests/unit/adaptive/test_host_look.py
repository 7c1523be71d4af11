"""The reference is weighed like every other run: the host is looked at again where the answers are open by it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from sizer.adaptive import Chooser, NextRun
from sizer.catalog import Catalog
from sizer.plan.reference_runs import is_measurement, reference
from sizer.records import Adaptive, Run, RunReasonKind
from tests.unit.adaptive.machine import HOST, Rate, knee, made, study_of

BEGAN = datetime(2026, 11, 21, tzinfo=timezone.utc)


STUDY = study_of("one", "two", "three")


def on_host(path: Callable[[int], float]) -> list[Run]:
    """Every run that is made of three jobs that 4.4 vCPUs serve, a minute apart, on a host that is slower by `path` of
    the number of the run (ln)."""
    chooser, runs = Chooser(STUDY, HOST, Catalog.load(), Adaptive()), list[Run]()
    while isinstance(found := chooser.next_run(runs), NextRun):
        run = made(found.spec, slowed(path(len(runs))))
        started = BEGAN + timedelta(seconds=60 * len(runs))
        runs.append(replace(run, started_at=started.isoformat(), reason=found.why))
    return runs


def slowed(by: float) -> Rate:
    return lambda configuration: knee(4.4)(configuration) * math.exp(-by)


def looks(runs: list[Run], kind: RunReasonKind) -> list[Run]:
    return [run for run in runs if run.reason is not None and run.reason.kind is kind]


def test_a_host_that_gets_slower_is_looked_at_where_it_leaves_an_answer_open() -> None:
    """Sooner than after eight runs, and the reason names the job whose answer would be surer."""
    runs = on_host(lambda number: 0.03 * number)
    found = looks(runs, RunReasonKind.HOST_OPEN)
    of = reference(STUDY, HOST)
    assert found
    assert of is not None
    assert all(is_measurement(run.spec, of) for run in found)
    assert {run.reason.names[0] for run in found if run.reason} <= {plan.workload.name for plan in STUDY.workloads}


def test_a_quiet_host_is_looked_at_only_when_it_is_due() -> None:
    """No answer is open by how slow it was."""
    runs = on_host(lambda _number: 0.0)
    assert not looks(runs, RunReasonKind.HOST_OPEN)
    assert looks(runs, RunReasonKind.HOST_AGAIN)
