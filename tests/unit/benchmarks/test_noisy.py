"""Noisy and crowded studies are what they say."""

from __future__ import annotations

import math

import crowded_studies
import pytest
from noisy_studies import DRIFT, KINDS, drawn_host, drawn_study

from sizer.model.observations import completed
from sizer.records.run import WarningKind


def test_hosts_drift_by_twenty_percent_in_every_way() -> None:
    """Steps, ramps and spells, each with every way of being felt."""
    hosts = [drawn_host(number, 2, 5) for number in range(12)]
    assert {(host.kind, host.everywhere, host.seen) for host in hosts} == {
        (kind, everywhere, seen) for kind in KINDS for everywhere in (True, False) for seen in (True, False)
    }
    for host in hosts:
        path = [host.path(at / 1000) for at in range(1001)]
        assert max(path) - min(path) == pytest.approx(DRIFT, rel=0.02)
        other = 1 - host.only
        assert host.everywhere or all(host.slower(other, at / 10) == 0 for at in range(11))


def test_a_study_is_measured_as_sizer_does_and_its_twin_is_quiet() -> None:
    """A reference between, first and last; repeats that differ where the host drifts, and agree in the twin."""
    study = drawn_study(0)
    noisy, twin = study.runs(noisy=True), study.runs(noisy=False)
    assert [run.spec for run in noisy] == [run.spec for run in twin]
    assert noisy[0].configuration == noisy[-1].configuration
    assert len({run.id for run in noisy}) == len(noisy)
    assert [run.started_at for run in noisy] == sorted(run.started_at or "" for run in noisy)
    assert any(warning.kind is WarningKind.DRIFTING for run in noisy for warning in run.warnings)
    assert not any(run.warnings for run in twin)
    rates = {run.id: run.throughput.value for run in completed(noisy) if run.throughput is not None}
    again = {run.id: run.throughput.value for run in completed(drawn_study(0).runs(noisy=True)) if run.throughput}
    assert rates == again
    ratios = [math.log(run.throughput.value / rates[run.id]) for run in completed(twin) if run.throughput is not None]
    assert max(ratios) > 0.1


def test_others_take_cpus_and_their_twin_has_them_for_itself() -> None:
    """A run beside others is marked, no faster than in the twin, and what they used was left by it."""
    study = crowded_studies.drawn_study(2)
    crowded, twin = study.runs(crowded=True), study.runs(crowded=False)
    assert [run.spec for run in crowded] == [run.spec for run in twin]
    assert not any(run.warnings for run in twin)
    beside = [run for run in crowded if (run.conditions.other_cores or 0.0) > 0.05]
    assert beside
    for run, alone in zip(crowded, twin, strict=True):
        contended = any(warning.kind is WarningKind.CONTENDED for warning in run.warnings)
        assert contended == (run in beside)
        assert run.throughput.value < 1.2 * alone.throughput.value
        used = run.throughput.value * (run.demand.core_seconds or 0.0)
        assert used + (run.conditions.other_cores or 0.0) < 1.2 * study.cpus
