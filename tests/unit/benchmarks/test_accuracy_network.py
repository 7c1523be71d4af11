"""The simulator that models are judged by agrees with theory, and with a second simulator written another way."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np
import pytest
from accuracy_network import Stations, Variability, hit_share, rates

PLAIN = Stations(
    samples=1.0,
    slots=8,
    holders=64,
    cores=1,
    chunks=1,
    blocking=False,
    disk=0.0,
    latency=0.0,
    lock=0.0,
    cpu=0.01,
    write=0.0,
    accelerator=0.0,
)
STEADY = Variability(0.0, 0.0, 0.0)


def simulated(stations: Stations, variability: Variability = STEADY) -> float:
    seeds = range(1 if variability == STEADY else 3)
    return float(np.mean([rates([stations], variability, np.random.default_rng(seed))[0] for seed in seeds]))


@pytest.mark.parametrize(("cores", "expected"), [(1, 100.0), (4, 400.0), (32, 3200.0)])
def test_steady_cores_serve_their_number(cores: int, expected: float) -> None:
    """c cores of 10 ms a sample serve 100 c samples a second."""
    assert simulated(replace(PLAIN, cores=cores, slots=2 * cores)) == pytest.approx(expected, rel=0.005)


def test_a_blocking_workers_times_add() -> None:
    """A worker that waits 30 ms for the disk and computes 10 ms serves 25 samples a second, and two serve 50."""
    one = replace(PLAIN, blocking=True, holders=1, slots=16, latency=0.03)
    assert simulated(one) == pytest.approx(25.0, rel=0.005)
    assert simulated(replace(one, holders=2, cores=2)) == pytest.approx(50.0, rel=0.005)


def test_readers_that_prefetch_hide_the_disk() -> None:
    """With enough readers the slower of disk and CPU is the rate."""
    ahead = replace(PLAIN, slots=64, latency=0.03)
    assert simulated(ahead) == pytest.approx(100.0, rel=0.01)
    assert simulated(replace(ahead, holders=2)) == pytest.approx(2 / 0.03, rel=0.01)


def test_a_lock_is_passed_by_one_at_a_time() -> None:
    """A lock of 2 ms bounds any number of cores at 500 a second, and adds to the time of one core."""
    locked = replace(PLAIN, lock=0.002, slots=64)
    assert simulated(replace(locked, cores=16)) == pytest.approx(500.0, rel=0.005)
    assert simulated(locked) == pytest.approx(1 / 0.012, rel=0.005)


@pytest.mark.parametrize("customers", [1, 2, 5, 12])
def test_exponential_stations_agree_with_mean_value_analysis(customers: int) -> None:
    """Three exponential single servers in a ring are a product-form network: Reiser and Lavenberg 1980 is exact."""
    ring = replace(PLAIN, slots=customers, disk=0.006, accelerator=0.008)
    # The slot is free when the accelerator takes the ticket, so the one being served is one customer more.
    exact = mean_value_analysis([0.006, 0.01, 0.008], customers)
    found = simulated(ring, Variability(1.0, 1.0, 1.0))
    assert found >= 0.99 * exact
    assert found <= 1.02 * mean_value_analysis([0.006, 0.01, 0.008], customers + 1)


def mean_value_analysis(demands: list[float], customers: int) -> float:
    queue, found = np.zeros(len(demands)), 0.0
    for number in range(1, customers + 1):
        waiting = np.array(demands) * (1 + queue)
        found = number / waiting.sum()
        queue = found * waiting
    return found


CASES = [
    replace(PLAIN, cores=4, slots=12, holders=16, disk=0.002, latency=0.01, accelerator=0.0028),
    replace(PLAIN, cores=3, slots=7, holders=3, blocking=True, disk=0.002, latency=0.02, accelerator=0.006),
    replace(PLAIN, cores=4, slots=20, holders=8, chunks=4, disk=0.002, lock=0.001, accelerator=0.003),
    replace(PLAIN, cores=8, slots=9, holders=4, disk=0.0015, latency=0.004, write=0.0014),
    replace(PLAIN, cores=2, slots=6, holders=2, blocking=True, disk=0.004, lock=0.002),
]


@pytest.mark.parametrize("stations", CASES)
@pytest.mark.parametrize("variation", [0.0, 0.5, 1.0])
def test_a_second_simulator_by_events_agrees(stations: Stations, variation: float) -> None:
    """An event-driven simulator with first-come queues, in which tickets may overtake, is within three percent."""
    variability = Variability(variation, variation, 0.05)
    by_events = np.mean([Ring(stations, variability, seed).rate() for seed in range(2)])
    assert simulated(stations, variability) == pytest.approx(by_events, rel=0.03)


class Ring:
    """The same network by a list of events: every station has a queue, whoever comes first is served first."""

    def __init__(self, stations: Stations, variability: Variability, seed: int) -> None:
        self.at, self.luck = stations, np.random.default_rng(seed)
        self.variation = {"disk": variability.disk, "step": variability.accelerator}
        self.other = variability.cpu
        self.now, self.events, self.order = 0.0, [], 0
        self.free = {
            "slot": stations.slots,
            "holder": stations.holders,
            "disk": 1,
            "core": stations.cores,
            "lock": 1,
            "write": 1,
            "step": 1,
        }
        self.queues: dict[str, list] = {name: [] for name in self.free}
        self.next_ticket, self.done, self.delivered, self.finished = 0, set(), 0, []

    def rate(self, tickets: int = 4000) -> float:
        for _ in range(self.at.slots):
            self.take("slot", self.start)
        while len(self.finished) < tickets:
            self.now, _, what = heapq.heappop(self.events)
            what()
        half = tickets // 4
        served = (len(self.finished) - half) * self.at.samples
        return served / (self.finished[-1] - self.finished[half - 1])

    def after(self, name: str, seconds: float, what) -> None:
        variation = self.variation.get(name, self.other)
        steady = name == "latency" or variation < 0.02
        factor = 1.0 if steady else self.luck.gamma(variation**-2, variation**2)
        self.order += 1
        heapq.heappush(self.events, (self.now + seconds * factor, self.order, what))

    def take(self, name: str, what) -> None:
        if self.free[name]:
            self.free[name] -= 1
            what()
        else:
            self.queues[name].append(what)

    def give(self, name: str) -> None:
        if self.queues[name]:
            self.queues[name].pop(0)()
        else:
            self.free[name] += 1

    def start(self) -> None:
        ticket, self.next_ticket = self.next_ticket, self.next_ticket + 1
        self.take("holder", lambda: self.read(ticket))

    def read(self, ticket: int) -> None:
        def served() -> None:
            if self.at.disk:
                self.give("disk")
            self.after("latency", self.at.latency, lambda: self.arrived(ticket))

        if self.at.disk:
            self.take("disk", lambda: self.after("disk", self.at.disk, served))
        else:
            served()

    def arrived(self, ticket: int) -> None:
        if not self.at.blocking:
            self.give("holder")
        self.take("core", lambda: self.locked(ticket))

    def locked(self, ticket: int) -> None:
        def passed() -> None:
            if self.at.lock:
                self.give("lock")
            self.after("cpu", self.at.cpu, lambda: self.decoded(ticket))

        if self.at.lock:
            self.take("lock", lambda: self.after("lock", self.at.lock, passed))
        else:
            passed()

    def decoded(self, ticket: int) -> None:
        self.give("core")
        if self.at.blocking:
            self.give("holder")
        if not self.at.write:
            self.deliver(ticket)
            return

        def written() -> None:
            self.give("write")
            self.deliver(ticket)

        self.take("write", lambda: self.after("write", self.at.write, written))

    def deliver(self, ticket: int) -> None:
        """In order, as loaders do; whole batches go to the accelerator."""
        self.done.add(ticket)
        while all(self.delivered + chunk in self.done for chunk in range(self.at.chunks)):
            self.delivered += self.at.chunks
            if self.at.accelerator:
                self.take("step", self.step)
            else:
                self.finished += [self.now] * self.at.chunks
                self.leave()

    def leave(self) -> None:
        for _ in range(self.at.chunks):
            self.free["slot"] += 1
            self.take("slot", self.start)

    def step(self) -> None:
        self.leave()

        def stepped() -> None:
            self.finished += [self.now] * self.at.chunks
            self.give("step")

        self.after("step", self.at.accelerator * self.at.chunks, stepped)


def test_a_page_cache_keeps_what_theory_says() -> None:
    """Shuffled reads over a least-recently-used list hit about 1 - u + u ln u; in order nothing until all fits."""
    unseen = 0.5
    assert hit_share(0.5, False, 0.0) == pytest.approx(1 - unseen + unseen * np.log(unseen), abs=0.06)
    assert hit_share(0.9, True, 0.0) == 0.0
    assert hit_share(1.0, True, 0.0) == 1.0
