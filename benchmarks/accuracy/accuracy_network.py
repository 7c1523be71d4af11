"""A closed queueing network with finite buffers, simulated ticket by ticket for many configurations at once. Pure.

A ticket is a chunk of samples. It takes a free slot of the prefetch buffer, a reader (or a worker, which a blocking
loader keeps until the chunk is decoded), the disk, the disk's latency, a core (on which it first passes a lock that one
at a time holds), and is then written, or waits until its batch is whole and the accelerator takes it; only then is its
slot free again. Each station serves in ticket order, as loaders that deliver in order do. Service times are drawn, so
nothing here is an equation of rates: the rate is what comes out. So is what a page cache serves: `hit_share`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Random = np.random.Generator

TICKETS = 2000
WARM_UP = 400
"""Tickets before the rate is taken; buffers hold some hundred at the most."""


@dataclass(frozen=True)
class Stations:
    """One configuration. Seconds are for one ticket of `samples`; a station of 0 seconds is not there.

    `cores` serve at once, each in `cpu` seconds (already those of a core that shares, is throttled or contends);
    `holders` are workers if `blocking`, else readers; `slots` tickets are under way or buffered, `chunks` make a batch.
    """

    samples: float
    slots: int
    holders: int
    cores: int
    chunks: int
    blocking: bool
    disk: float
    latency: float
    lock: float
    cpu: float
    write: float
    accelerator: float


@dataclass(frozen=True)
class Variability:
    """Coefficient of variation of the service times at each kind of station: 0 deterministic, 1 as exponential."""

    disk: float
    cpu: float
    accelerator: float


def rates(configurations: Sequence[Stations], variability: Variability, random: Random) -> Array:
    """Samples per second of each configuration, with the same luck for all (common random numbers)."""
    lanes = _Lanes(configurations)
    disk = _unit_times(variability.disk, random)
    lock, cpu, write = (_unit_times(variability.cpu, random) for _ in range(3))
    step = _unit_times(variability.accelerator, random)
    seconds_a_ticket = np.zeros(len(configurations))
    for ticket in range(TICKETS):
        lanes.serve(ticket, disk[ticket], lock[ticket], cpu[ticket], write[ticket], step[ticket])
        if ticket >= WARM_UP:
            seconds_a_ticket += SLOPE[ticket - WARM_UP] * lanes.finished
    per_second: Array = lanes.of("samples") / seconds_a_ticket
    return per_second


CENTRED: Array = np.arange(TICKETS - WARM_UP) - (TICKETS - WARM_UP - 1) / 2
SLOPE: Array = CENTRED / (CENTRED**2).sum()
"""Weights of finishing times in the least squares slope over tickets: bursts of equal cores then do not matter."""
INFLUENCE = np.cumsum(SLOPE[::-1])[::-1]
"""Of each service time on that slope; they sum to one but for the ends."""


class _Lanes:
    """All configurations side by side: when each server of each station is free again."""

    def __init__(self, configurations: Sequence[Stations]) -> None:
        self.columns = {
            field.name: np.array([float(getattr(configuration, field.name)) for configuration in configurations])
            for field in fields(Stations)
        }
        count = len(configurations)
        self.rows = np.arange(count)
        self.slots, self.chunks = self._whole("slots"), self._whole("chunks")
        self.blocking = self.columns["blocking"] > 0
        self.stepping = self.columns["accelerator"] > 0
        self.holders = _servers(self._whole("holders"))
        self.cores = _servers(self._whole("cores"))
        self.disk, self.lock, self.write, self.accelerator = (np.zeros(count) for _ in range(4))
        self.batch_ready = np.zeros(count)
        self.finished = np.zeros(count)
        # When the slot of each of the last tickets is free again; a batch frees those of all of its chunks.
        self.freed = np.zeros((int((self.slots + self.chunks).max()) + 1, count))

    def of(self, name: str) -> Array:
        return self.columns[name]

    def _whole(self, name: str) -> NDArray[np.intp]:
        return self.columns[name].astype(np.intp)

    def serve(self, ticket: int, disk: float, lock: float, cpu: float, write: float, step: float) -> None:
        ring = len(self.freed)
        slot = np.where(ticket >= self.slots, self.freed[(ticket - self.slots) % ring, self.rows], 0.0)
        holder = self.holders.argmin(axis=1)
        begun = np.maximum(slot, self.holders[self.rows, holder])
        self.disk = np.where(self.of("disk") > 0, np.maximum(begun, self.disk) + self.of("disk") * disk, begun)
        arrived = self.disk + self.of("latency")
        core = self.cores.argmin(axis=1)
        running = np.maximum(arrived, self.cores[self.rows, core])
        self.lock = np.maximum(running, self.lock) + self.of("lock") * lock
        decoded = self.lock + self.of("cpu") * cpu
        self.cores[self.rows, core] = decoded
        self.holders[self.rows, holder] = np.where(self.blocking, decoded, arrived)
        self.write = np.maximum(decoded, self.write) + self.of("write") * write
        done = np.where(self.of("write") > 0, self.write, decoded)
        self._step(ticket, done, step)

    def _step(self, ticket: int, done: Array, step: float) -> None:
        """A whole batch goes to the accelerator, which frees the slots of its chunks as it takes them."""
        self.batch_ready = np.maximum(self.batch_ready, done)
        whole = (ticket + 1) % self.chunks == 0
        taken = np.maximum(self.batch_ready, self.accelerator)
        steps = whole & self.stepping
        self.accelerator = np.where(steps, taken + self.of("accelerator") * self.chunks * step, self.accelerator)
        ring = len(self.freed)
        self.freed[ticket % ring] = np.where(self.stepping, taken, done)
        if steps.any():
            for back in range(int(self.chunks[steps].max())):
                row, mine = (ticket - back) % ring, steps & (back < self.chunks)
                self.freed[row] = np.where(mine, taken, self.freed[row])
        finished = np.where(self.stepping, self.accelerator, self.batch_ready)
        self.finished = np.where(whole | ~self.stepping, finished, self.finished)


def _servers(counts: NDArray[np.intp]) -> Array:
    """(lanes, servers) free at once; servers that a lane lacks are never free."""
    free = np.zeros((len(counts), int(counts.max())))
    free[np.arange(free.shape[1])[None, :] >= counts[:, None]] = np.inf
    return free


def _unit_times(variation: float, random: Random) -> Array:
    """Service times of mean one as the rate sees them: gamma, so exponential where `variation` is 1."""
    if variation < 0.02:
        return np.ones(TICKETS)
    shape = 1 / variation**2
    drawn = random.gamma(shape, 1 / shape, TICKETS)
    drawn /= (INFLUENCE * drawn[WARM_UP:]).sum() / INFLUENCE.sum()
    return drawn


RECORDS = 1000
EPOCHS = 4
STEPS = 24


def hit_share(cached: float, sequential: bool, keep: float) -> float:
    """Share of reads served when this share of the data set fits (0 to 1 and above).

    `keep` 0 is least recently used, 1 keeps a fixed part, whatever is read: kernels lie between.
    """
    if cached >= 1:
        return 1.0
    if sequential or cached <= 0:
        return 0.0
    least_recent = float(np.interp(cached, np.arange(STEPS + 1) / STEPS, _shuffled()))
    return (1 - keep) * least_recent + keep * cached


@lru_cache(maxsize=1)
def _shuffled() -> list[float]:
    """Hits over the later epochs of records that are shuffled anew in each, at rising shares that fit."""
    return [_simulated(round(step / STEPS * RECORDS)) for step in range(STEPS + 1)]


def _simulated(capacity: int) -> float:
    if capacity == 0:
        return 0.0
    random, kept, hits = np.random.default_rng(capacity), OrderedDict[int, None](), 0
    for epoch in range(EPOCHS):
        for record in map(int, random.permutation(RECORDS)):
            if record in kept:
                kept.move_to_end(record)
                hits += epoch > 0
                continue
            kept[record] = None
            if len(kept) > capacity:
                kept.popitem(last=False)
    return hits / (RECORDS * (EPOCHS - 1))
