"""More cases of the kind in which a part of the model speaks, drawn until there are enough to tell it from chance.

Their seed chose nothing: no form, no constant and no table was made with it. A case counts where leaving the part out
changes what is said of it, in whichever direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from multiprocessing.pool import Pool

import numpy as np
from ablation_cases import BEYOND, DRAWN, GRID, HOSTS, INSIDE, Judge, Outcome, drawn_curve, machine
from ablation_chosen import ANSWERS, OF_DRAWN, OF_REAL, by_few_runs, studies
from ablation_drawn import RISING, caps_case, edge_case, memory_counts, said_of_more, without_waiting
from ablation_parts import OF_PAIRS, OF_VCPUS, parts, touched
from ablation_real import (
    EDGE,
    FEW,
    FURTHER,
    PAIRS,
    further,
    further_curves,
    grid_designs,
    noisy_edges,
    pairs,
    plateaus,
    sparse_designs,
    tables_of_three,
    whole_cores,
)
from accuracy_curves import SHAPES, drawn
from accuracy_draws import SMALL_LADDERS, draw_case
from accuracy_runs import noise
from accuracy_scores import error
from accuracy_simulated import prepared, prepared_case
from noisy_hosts import drawn_host
from noisy_studies import JOBS, drawn_study, rates_through

from sizer.model import fit, predict
from sizer.records.errors import NoAnswer

SEED = 2611
MOST = 100
"""Numbers that are tried for each case that is asked for, before no more are looked for."""
LOST = 0.15
"""Of the work of a core-second at a fraction of a vCPU at most so much is lost: 0 to 17 % in
`benchmarks/limits/README.md`, "What half a vCPU loses"."""
INSTEAD = "without its disk"
OF_MEMORY = {"memory: a capacity of each cap": (0, 1), "memory: a factor of each cap": (2,)}
"""Which of four tables of caps are of what these are for."""
AT_ONCE = 8
"""Numbers that are tried before it is asked whether there are enough."""


@dataclass(frozen=True)
class Both:
    """What one case came to, by family: with the whole model, and without a part."""

    whole: dict[str, Outcome]
    without: dict[str, Outcome]


@dataclass(frozen=True)
class Source:
    """Cases of one kind, by number; `may_speak` is False where a part certainly says nothing in that of a number.

    No more than `most` of them are tried, which are counted when they are asked for: some are long to make.
    """

    families: tuple[str, ...]
    case: Callable[[int], Judge]
    may_speak: Callable[[int, str], bool]
    most: Callable[[], int] = lambda: 10**6


def _machine_may_speak(number: int, part: str) -> bool:
    """Memory where several caps were measured; that disks read less by it, where no figures tell of several disks."""
    if not part.startswith("memory: "):
        return True
    case = draw_case(number, SEED)
    several = len(case.axes.memory) > 1
    return several and ("disk" not in part or (len(case.axes.disks) > 1 and not case.accounted))


def _with_losses(number: int) -> Judge:
    """The machine of this number, on which fractions of a vCPU lose something."""
    case = draw_case(number, SEED)
    lost = float(np.random.default_rng([SEED, number, 5]).uniform(0.0, LOST))
    cores = replace(case.machine.cores, lost=lost)
    return machine(prepared_case(replace(case, machine=replace(case.machine, cores=cores))))


def _has_fractions(number: int, _: str) -> bool:
    return any(value % 1 > 0 for value in draw_case(number, SEED).axes.vcpus)


def _small_host(number: int) -> Judge:
    """An accounted study of a host with two or four CPUs."""
    return machine(prepared_case(draw_case(2 * number, SEED + 3, SMALL_LADDERS)))


def _instead(number: int) -> Judge:
    """An accounted job that reads from a disk with figures, asked what it would gain if nothing waited for that."""
    case = draw_case(2 * number, SEED + 4)
    found = prepared_case(case)

    def judge() -> dict[str, Outcome]:
        errors, held = without_waiting(found, case.machine)
        return {INSTEAD: Outcome(tuple(errors), tuple(held))}

    return judge


def _reads(number: int, _: str) -> bool:
    job = draw_case(2 * number, SEED + 4).machine.job
    return job.read_bytes > 0


def _curve(number: int) -> Judge:
    """Over vCPUs, each shape in turn."""
    shapes = [shape for shape, (axis, _) in SHAPES.items() if axis == "vcpus"]
    nth, shape = divmod(number, len(shapes))
    return drawn_curve(drawn(shapes[shape], nth, SEED), SEED + nth)


def _noisy(number: int, repeats: int | None = None) -> Judge:
    """Both jobs of a study on a host that drifts: places that were not measured, at the mean over the study's time, and
    a new run at one moment of it. `repeats`: of each configuration, instead of those that were drawn."""
    study = drawn_study(number, SEED)
    if repeats is not None:
        study = replace(study, cases=tuple(replace(case, repeats=repeats) for case in study.cases))
    random = np.random.default_rng([SEED, number, 6])
    runs, asked = study.runs(noisy=True), []
    for job, case in enumerate(study.cases):
        for place, rates in rates_through(study, job, case.inside).items():
            usual = math.exp(float(np.mean(np.log(rates))))
            asked.append((f"job{job}", place, usual, float(random.choice(rates)) * noise(case, random)))

    def judge() -> dict[str, Outcome]:
        model, errors, covered = fit(runs), list[float](), list[bool]()
        for job, place, usual, new_run in asked:
            try:
                said = predict(model.workload(job), place).throughput
            except NoAnswer:
                continue
            errors.append(error(said.value, usual))
            covered.append(said.low <= new_run <= said.high)
        return {HOSTS: Outcome(tuple(errors), tuple(covered))}

    return judge


def _is_seen(number: int, _: str) -> bool:
    """Whether accounting sees how slow the host is."""
    return drawn_host(number, JOBS, SEED).seen


def _table_of_caps(number: int) -> Judge:
    case = caps_case(number, SEED)
    assert case is not None, "asked only where there is one"
    return machine(prepared_case(case))


def _has_caps(number: int, _: str) -> bool:
    return caps_case(number, SEED) is not None


def _binding_caps(number: int) -> Judge:
    case = caps_case(number, SEED + 1)
    assert case is not None, "asked only where there is one"
    return machine(prepared_case(case))


def _has_binding_caps(number: int, part: str) -> bool:
    """Memory that slows all for a factor, a page cache for a capacity, of each cap."""
    if part in OF_MEMORY and number % 4 not in OF_MEMORY[part]:
        return False
    case = caps_case(number, SEED + 1)
    return case is not None and memory_counts(case)


def _edge(number: int) -> Judge:
    case = edge_case(number, SEED)
    assert case is not None, "asked only where there is one"
    found = prepared_case(case)
    judge = machine(found)
    return lambda: judge() | {RISING: Outcome(agrees=said_of_more(found.runs))}


def _has_edge(number: int, _: str) -> bool:
    return edge_case(number, SEED) is not None


def _always(_: int, __: str) -> bool:
    return True


MACHINES = Source((INSIDE, BEYOND), lambda number: machine(prepared(number, SEED)), _machine_may_speak)
FRACTIONS = Source((INSIDE, BEYOND), _with_losses, _has_fractions)
NO_WAITING = Source((INSTEAD,), _instead, _reads)
SMALL = Source((INSIDE, BEYOND), _small_host, _always)
CURVES = Source((DRAWN,), _curve, _always)
DRIFTING = Source((HOSTS,), _noisy, _is_seen)
ONCE = Source((HOSTS,), lambda number: _noisy(number, repeats=1), _is_seen)
CAPS = Source((INSIDE, BEYOND), _table_of_caps, _has_caps)
BINDING = Source((INSIDE, BEYOND), _binding_caps, _has_binding_caps)
EDGES = Source((INSIDE, BEYOND, RISING), _edge, _has_edge, lambda: 1000)
GRIDS = Source((GRID,), lambda number: grid_designs(number, SEED), _always)
SPARSELY = Source((GRID,), lambda number: sparse_designs(number, SEED), _always)
THREE = Source((FEW,), lambda number: tables_of_three()[number], _always, lambda: len(tables_of_three()))
PLATEAUS = Source((FEW,), lambda number: plateaus()[number], _always, lambda: len(plateaus()))
PAIRED = Source((PAIRS,), lambda number: pairs()[number], _always, lambda: len(pairs()))
WHOLE = Source((PAIRS,), lambda number: whole_cores()[number], _always, lambda: len(whole_cores()))
NOISY = Source((EDGE,), lambda number: noisy_edges(SEED)[number], _always, lambda: len(noisy_edges(SEED)))
CHOSEN = Source(
    (ANSWERS, OF_DRAWN, OF_REAL),
    lambda number: by_few_runs(*studies(SEED)[number]),
    _always,
    lambda: len(studies(SEED)),
)
AFTER = Source((FURTHER,), lambda number: further(further_curves()[number]), _always, lambda: len(further_curves()))
SOURCES = {
    "machines": MACHINES,
    "fractions": FRACTIONS,
    "small hosts": SMALL,
    "no waiting": NO_WAITING,
    "drawn curves": CURVES,
    "drifting hosts": DRIFTING,
    "drifting hosts, once": ONCE,
    "caps": CAPS,
    "caps that count": BINDING,
    "edges": EDGES,
    "grids": GRIDS,
    "sparse grids": SPARSELY,
    "three values": THREE,
    "plateaus": PLATEAUS,
    "known pairs": PAIRED,
    "whole cores": WHOLE,
    "further": AFTER,
    "few runs": CHOSEN,
    "noisy edges": NOISY,
}


def sources(part: str) -> tuple[str, ...]:
    """Where there are more cases of what a part is for."""
    own = {
        "quota factor": ("fractions",),
        "onward": ("machines", "edges", "further"),
        "last doubling": ("machines", "edges", "further"),
    }
    if part.startswith("memory: ") and "disk" not in part:
        return "machines", "caps", "caps that count"
    if part in OF_PAIRS:
        return "known pairs", "whole cores"
    of_vcpus = ("machines", "drawn curves", "three values", "plateaus", "few runs", "noisy edges")
    return own.get(part, of_vcpus if part in OF_VCPUS else ("machines",))


def both(asked: tuple[str, int, tuple[str, ...]]) -> dict[str, Both]:
    """The case of this source and number by the parts that say something in it."""
    of, number, names = asked
    source = SOURCES[of]
    likely = [name for name in names if source.may_speak(number, name)]
    if not likely:
        return {}
    judge, chosen = source.case(number), [part for part in parts() if part.name in likely]
    with touched(chosen) as found:
        whole = judge()
    speaking = {}
    for part in chosen:
        if part.name in found:
            with part.left_out():
                speaking[part.name] = Both(whole, judge())
    return {name: each for name, each in speaking.items() if each.whole != each.without}


def more_cases(names: Sequence[str], of: str, cases: int, pool: Pool) -> Iterator[tuple[str, list[Both]]]:
    """Of each part, once they are there, the first cases of the source in which it says something: as many as asked
    for, if there are."""
    found: dict[str, list[Both]] = {name: [] for name in names}
    numbers = islice(count(), min(MOST * cases, SOURCES[of].most()))
    while found and (some := list(islice(numbers, AT_ONCE))):
        for each in pool.map(both, [(of, number, tuple(found)) for number in some], chunksize=1):
            for name, case in each.items():
                found[name].append(case)
        for name in [name for name, own in found.items() if len(own) >= cases]:
            yield name, found.pop(name)[:cases]
    yield from found.items()


def by_source(names: Sequence[str], asked: Sequence[str] = ()) -> Iterator[tuple[str, list[str]]]:
    """Each source with the parts that it can tell of; of those that are asked for, all parts."""
    for source in asked or SOURCES:
        own = [name for name in names if asked or source in sources(name)]
        if own:
            yield source, own
