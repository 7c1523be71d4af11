"""The probe looks as often as sizer's share of a run allows, and on the CPUs of the run."""

from __future__ import annotations

import os
from itertools import count

import pytest

from sizer.records.run import Sample
from sizer.runner.probe import ROUNDS, SHARE, Probe
from sizer.runner.sampler import Sampler

COST = 0.0007
"""Of each kind in each round."""


def probe(cpus: tuple[int, ...] = (0,), idle: bool = True) -> Probe:
    """Each round of it costs the same."""
    clock = count()
    found = Probe(cpus, (lambda: None, lambda: None), used=lambda: COST * next(clock), sleep=lambda _: None)
    if idle:
        found.before()
    return found


@pytest.fixture(autouse=True)
def _allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever CPUs this host has."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, __: None)


def test_before_a_run_it_knows_what_a_round_costs_on_the_idle_host() -> None:
    """Nothing of it counts as beside the run."""
    found = probe()
    assert found.idle == pytest.approx((COST, COST))
    assert (found.rounds, found.core_seconds) == (0, (0.0, 0.0))


def test_it_never_uses_more_than_sizers_share() -> None:
    """What sizer used otherwise counts, too, and what was used before the first step does not."""
    found, sizer, used = probe(), 3.0, 100.0
    for _ in range(100):
        sizer += 0.001
        used += 0.5
        before = sum(found.core_seconds)
        found.beside(Sample(0.0, core_seconds=used, sizer_core_seconds=sizer))
        sizer += sum(found.core_seconds) - before
    assert sizer - 3.001 <= SHARE * (used - 100.5) + 1e-9
    assert found.rounds > 50
    assert found.core_seconds == pytest.approx((found.rounds * COST,) * 2)


def test_what_was_not_used_is_not_made_up_for_later() -> None:
    """So that the share holds in the steady state alone, which is a part of the run."""
    found, sizer = probe(), 0.0
    for used in (0.0, 100.0, *(100.0 + 0.25 * each for each in range(1, 41))):
        if used == 100.25:
            began = sizer
        before = sum(found.core_seconds)
        found.beside(Sample(0.0, core_seconds=used, sizer_core_seconds=sizer))
        sizer += sum(found.core_seconds) - before
    assert 0.7 * SHARE * 10 < sizer - began <= SHARE * 10 + 2 * ROUNDS * 2 * COST


def test_a_run_that_uses_little_has_none() -> None:
    """Its first look would already be more than sizer's share."""
    found = probe()
    for second in range(30):
        found.beside(Sample(0.0, core_seconds=0.001 * second, sizer_core_seconds=0.0))
    assert found.rounds == 0


def test_each_look_has_as_many_rounds_on_each_cpu() -> None:
    """So that looks compare, whatever room there was."""
    found = probe(cpus=(0, 1))
    found.beside(Sample(0.0))
    found.beside(Sample(0.0, core_seconds=50.0))
    assert found.rounds == 2 * ROUNDS


def test_where_sizer_may_not_run_on_the_cpus_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a cpuset that is not the run's."""

    def refused(_: int, __: object) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "sched_setaffinity", refused)
    found = probe()
    found.beside(Sample(0.0, core_seconds=1.0))
    found.beside(Sample(0.0, core_seconds=100.0))
    assert found.idle is None
    assert found.rounds == 0


def test_samples_have_what_the_probe_used_so_far() -> None:
    """A sampling shows what was read before it."""

    class Group:
        def sample(self, time: float) -> Sample:
            return Sample(time, core_seconds=100 * time)

    times, looking = count(), probe()
    sampler = Sampler(Group(), lambda: float(next(times)), used=lambda: 0.0, probe=looking)
    for _ in range(3):
        sampler.look_at_host(sampler.tick())
    assert [sample.probe_rounds for sample in sampler.samples] == [0, 0, ROUNDS]
    assert sampler.samples[-1].probe_core_seconds == pytest.approx(ROUNDS * COST)
    assert sampler.samples[-1].product_core_seconds == pytest.approx(ROUNDS * COST)


def test_real_reads_and_products_take_time_and_leave_the_affinity_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU that this process may use."""
    monkeypatch.undo()
    allowed = os.sched_getaffinity(0)
    found = Probe([min(allowed)])
    found.before()
    assert found.idle is not None
    assert min(found.idle) > 1e-5
    assert os.sched_getaffinity(0) == allowed
