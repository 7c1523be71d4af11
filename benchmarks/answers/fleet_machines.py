"""Fleets of machines as clouds sell them, with a job whose true rate on every machine is known. Pure.

A job decodes on the CPU and computes on the accelerator, or on the CPU where there is none: two stations of a closed
network with so many batches on their way. Nothing of it is the model's equation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from answers_jobs import Machine, Sold

SEED = 2026
SPEED = {
    "K80": 0.14,
    "M60": 0.16,
    "P4": 0.3,
    "T4": 0.34,
    "T4G": 0.34,
    "P100": 0.6,
    "V100": 1.0,
    "L4": 0.8,
    "A10G": 0.9,
    "RTX-PRO-4500": 1.5,
    "L40S": 1.8,
    "A100": 2.0,
    "RTX-PRO-SERVER-6000": 3.0,
    "H100": 3.6,
    "H200": 3.8,
    "B200": 5.5,
    "B300": 6.0,
}
"""Of one GPU, with a V100 as 1: about the ratios of published rates of ResNet-50. A job has its own, near these."""
DECIDED_BY_NOISE = 0.08
"""A deadline is drawn again if it asks for a rate so near to a machine's own."""
KINDS_OF_FLEET = ("gpu", "gpu", "gpu", "gpu", "cpu", "mixed")


@dataclass(frozen=True)
class FleetJob:
    """What a job asks of a machine: rates in samples/s of one vCPU and of a V100, and what is lost by more of each."""

    decode: float
    compute: float
    serial: float
    loss: float
    batches: int
    cpu_step: float
    speeds: dict[str, float]
    families: dict[str, float]

    def rate(self, sold: Sold) -> float:
        """The true samples/s."""
        family = self.families.get(family_of(sold), 1.0)
        threads = family * sold.vcpus / (1 + self.serial * (sold.vcpus - 1))
        if sold.gpu is None:
            return threads / (1 / self.decode + 1 / self.cpu_step)
        devices = sold.gpu_count / (1 + self.loss * (sold.gpu_count - 1))
        return both(self.decode * threads, self.compute * self.speeds[sold.gpu] * devices, self.batches)


def both(one: float, other: float, batches: int) -> float:
    """The rate of two exponential servers in a ring with so many customers (Gordon and Newell)."""
    load = min(one, other) / max(one, other)
    passed = sum(load**number for number in range(batches))
    return min(one, other) * passed / (passed + load**batches)


@dataclass(frozen=True)
class Fleet:
    """Machines, their prices an hour, and what was measured on each; `told_prices` if the table has them.

    `needed` is the rate that a deadline asks for; None where the least cost of the work is asked.
    """

    number: int
    kind: str
    job: FleetJob
    sold: tuple[Sold, ...]
    usd_per_hour: tuple[float, ...]
    measured: tuple[tuple[float, ...], ...]
    told_prices: bool
    needed: float | None

    @property
    def machines(self) -> tuple[Machine, ...]:
        """As the code that looks for the truth knows them."""
        return tuple(Machine(machine.gpu, machine.gpu_count, name_of(machine), machine.vcpus) for machine in self.sold)

    @property
    def rates(self) -> tuple[float, ...]:
        """The true ones."""
        return tuple(self.job.rate(machine) for machine in self.sold)


def name_of(sold: Sold) -> str:
    """Of one type: some providers sell one type with several GPUs."""
    return f"{sold.provider} {sold.instance_type} {sold.gpu or ''}".strip()


def family_of(sold: Sold) -> str:
    """Machines of one family have one CPU."""
    return f"{sold.provider} {sold.instance_type.split('.')[0].split('-')[0]}"


def drawn_fleet(number: int, on_offer: Sequence[Sold], seed: int = SEED) -> Fleet:
    """The fleet of that number; the same for the same seed."""
    random = np.random.default_rng([seed, number])
    usable = [sold for sold in on_offer if sold.gpu is None or (sold.gpu in SPEED and sold.gpu_count)]
    priced = [sold for sold in usable if sold.usd_per_hour is not None]
    kind = KINDS_OF_FLEET[number % len(KINDS_OF_FLEET)]
    sold = _members(kind, priced, random)
    job = _job(priced, random)
    told_prices = number % 4 < 2
    listed = [offer.usd_per_hour or 0.0 for offer in sold]
    factors = random.uniform(0.6, 1.1, len(sold)) if told_prices else np.ones(len(sold))
    prices = tuple(float(f"{usd * factor:.4g}") for usd, factor in zip(listed, factors, strict=True))
    noise, repeats = random.uniform(0.02, 0.04), int(random.integers(1, 4))
    rates = [job.rate(machine) for machine in sold]
    measured = tuple(
        tuple(float(rate * math.exp(noise * draw)) for draw in random.standard_normal(repeats)) for rate in rates
    )
    needed = _needed(rates, random) if number % 2 else None
    return Fleet(number, kind, job, sold, prices if told_prices else tuple(listed), measured, told_prices, needed)


def _members(kind: str, priced: Sequence[Sold], random: np.random.Generator) -> tuple[Sold, ...]:
    """Three to nine types of as few kinds of GPU, or families of CPU, as the draw gives; `mixed` has some of both."""
    count = int(random.integers(3, 10))
    plain = _of_some([sold for sold in priced if sold.gpu is None], family_of, count, random)
    with_gpu = _of_some([sold for sold in priced if sold.gpu], lambda machine: machine.gpu or "", count, random)
    if kind == "mixed":
        return (*plain[: count // 3], *with_gpu[count // 3 :])
    return plain if kind == "cpu" else with_gpu


def _of_some(
    offers: Sequence[Sold], kind_of: Callable[[Sold], str], count: int, random: np.random.Generator
) -> tuple[Sold, ...]:
    """So many of one to four kinds, and of more where those are not enough."""
    kinds = random.permutation(sorted({kind_of(sold) for sold in offers})).tolist()
    wanted = int(random.integers(1, 5))
    while len(kept := [offer for offer in offers if kind_of(offer) in kinds[:wanted]]) < count:
        wanted += 1
    return tuple(kept[index] for index in random.permutation(len(kept))[:count].tolist())


def _job(priced: Sequence[Sold], random: np.random.Generator) -> FleetJob:
    """Decoding takes from nothing to all of the time of the machines that are sold."""
    compute = math.exp(random.uniform(math.log(30), math.log(3000)))
    decode = compute / math.exp(random.uniform(math.log(1.5), math.log(30)))
    return FleetJob(
        decode=decode,
        compute=compute,
        serial=float(random.uniform(0.0, 0.02)),
        loss=float(random.uniform(0.003, 0.06)),
        batches=int(random.integers(3, 20)),
        cpu_step=compute / math.exp(random.uniform(math.log(20), math.log(200))),
        speeds={gpu: speed * math.exp(0.2 * random.standard_normal()) for gpu, speed in SPEED.items()},
        families={
            name: math.exp(0.12 * random.standard_normal()) for name in sorted({family_of(sold) for sold in priced})
        },
    )


def _needed(rates: Sequence[float], random: np.random.Generator) -> float:
    """A rate that some machine reaches, and that noise does not decide on."""
    for _ in range(1000):
        needed = max(rates) * math.exp(random.uniform(math.log(0.1), math.log(0.9)))
        if all(abs(math.log(rate / needed)) > DECIDED_BY_NOISE for rate in rates):
            return float(needed)
    return 0.5 * min(rates)
