"""Noisy studies are what they say, and answers on a few of them are right and given."""

from __future__ import annotations

import math

import pytest
from noisy import judge_study, scores
from noisy_hosts import DRIFT, KINDS, drawn_host
from noisy_studies import MOMENTS, drawn_study, rates_through

from sizer.model import completed
from sizer.records.run import WarningKind

FEW = (7, 9, 10, 13, 14, 18)
"""Steps, ramps and spells, felt by all jobs and by one; where warnings are counted, too few of them are answered."""


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


def test_the_rate_of_a_place_follows_the_host() -> None:
    """At each moment between that on the quiet host and that on one that is slower by as much as it becomes."""
    study = drawn_study(0)
    place = study.cases[0].inside[0]
    (rates,) = rates_through(study, 0, [place]).values()
    assert len(rates) == MOMENTS
    assert 1 <= max(rates) / min(rates) < 1.001 * math.exp(DRIFT)


def test_answers_on_noisy_hosts_are_right_and_given() -> None:
    """A small form of the benchmark, with its goals."""
    judged = [each for number in FEW for each in judge_study(number)]
    right, answered = scores(judged)[:2]
    assert right.met, right.line
    assert answered.met, answered.line
    assert answered.cases >= 5
