"""The next run of an adaptive plan: the one that takes most doubt from the answers for its seconds. Pure.

What is chosen follows from the study, the host's size and the stored runs alone, so that a study that was killed goes
on as it would have gone on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sizer.adaptive.bounds import within
from sizer.adaptive.open_answer import OpenAnswer, open_answer
from sizer.adaptive.start import Axes, axes_of, not_seen, start_of
from sizer.adaptive.why import why
from sizer.catalog import Catalog
from sizer.model import (
    Drift,
    Model,
    as_asked,
    completed,
    drift_of,
    fit,
    measured_after,
    name_of_disk,
    without_host_noise,
)
from sizer.plan import (
    MOST_BETWEEN,
    estimate_seconds,
    is_measurement,
    plan,
    position,
    reference,
    repeated,
)
from sizer.recommend import SURE, recommend
from sizer.records import (
    Adaptive,
    Answer,
    Configuration,
    Outcome,
    PlanEnd,
    PlanEndKind,
    Run,
    RunReason,
    RunReasonKind,
    RunSpec,
    Study,
)
from sizer.study import HostSize

PRIOR_DOUBT = 0.25
"""What a run takes from the doubt where nothing is known yet: a value that no run had, or runs that carry no answer."""
LEAST_VALUE = 0.05
"""By which a run must lower the probability that draws disagree; what lowers it by less is told by many runs alone."""
LEAST_WHEN_SURE = 0.1
"""The same where the answer has its probability already."""
OF_REPEAT = 0.5
"""What a repeat is worth of what the draws say: it tells nothing of the form of the curve, which they know too well."""
MOST_WEIGHED = 64
"""Places of a workload whose runs are tried in thought: those whose rates have most to do with which spec passes."""
FEWEST_BETWEEN = 2
"""Runs after which the reference may tell something new of the host."""
MOST_FAILURES = 3
"""Failed runs of a workload that never completed one, after which it is given up."""


@dataclass(frozen=True)
class NextRun:
    """A run to make, and why; `why` is None for one that the study asks for whatever the answer is."""

    spec: RunSpec
    why: RunReason | None


@dataclass(frozen=True)
class _Worth:
    """A run that could be made: by how much it should lower the probability of a wrong answer, and its seconds."""

    spec: RunSpec
    value: float
    seconds: float
    why: RunReason

    @property
    def a_second(self) -> float:
        return self.value / max(self.seconds, 1e-3)


@dataclass(frozen=True)
class Known:
    """What the runs of one workload say: its answer, and how open that is, None where it cannot be said; `complete`
    where each of its configurations was tried."""

    answer: Answer
    opened: OpenAnswer | None
    complete: bool

    def sure(self, prefer: str) -> bool:
        """Whether the answer has its probability, and is as probably neither too slow nor too dear; where it cannot be
        said what else it may be, each configuration must have been tried. Never where the rate still rises."""
        if self.answer.status in ("refused", "at_least") or (self.opened is None and not self.complete):
            return False
        if self.opened is not None and self.opened.right < SURE:
            return False
        if self.answer.probability is None:
            return self.answer.status == "recommended"
        return self.answer.probability >= SURE or prefer == "fastest"


class Chooser:
    """Chooses among the runs of a study; keeps what it has concluded from runs that it saw before."""

    def __init__(
        self, study: Study, host: HostSize, catalog: Catalog, asked: Adaptive, fitted: Model | None = None
    ) -> None:
        """`fitted` is the model of the very runs that `next_run` is asked about, where it is there already."""
        self._study, self._host, self._catalog, self._asked = study, host, catalog, asked
        self._specs = plan(study, host)
        self._reference = reference(study, host)
        self._axes = {each.workload.name: axes_of(each, study, host) for each in study.workloads}
        self._fitted = {each.name: each for each in fitted.workloads} if fitted is not None else {}
        self._known: dict[str, tuple[tuple[object, ...], Known]] = {}
        self._drift: tuple[tuple[object, ...], Drift] | None = None

    def next_run(self, runs: Sequence[Run]) -> NextRun | PlanEnd:
        """The next run after these, in the order in which they were made, or why none is."""
        runs = [run for run in runs if run.spec.workload.name in self._axes]
        runs = without_host_noise(runs) if self._study.probe else runs
        spent = self._seconds_of(runs)
        if self._asked.runs is not None and len(runs) >= self._asked.runs:
            return self._end(PlanEndKind.RUNS, runs, spent)
        chosen = self._asked_for(runs)
        if chosen is None:
            worth = self._worth(runs)
            worth += self._worth_of_host(runs, due=bool(worth))
            fitting = [each for each in worth if self._fits(each.seconds, spent)]
            if worth and not fitting:
                return self._end(PlanEndKind.BUDGET, runs, spent)
            best = max(fitting, key=lambda each: each.a_second, default=None)
            if best is None:
                return self._end(PlanEndKind.NOTHING_LEFT, runs, spent)
            chosen = NextRun(best.spec, best.why)
        if not self._fits(estimate_seconds([chosen.spec], runs), spent):
            return self._end(PlanEndKind.BUDGET, runs, spent)
        return chosen

    def at_most(self, runs: Sequence[Run], after: Sequence[RunSpec] = ()) -> tuple[int, float]:
        """How many more runs may be made after these, and how many seconds they may take. `after` are those that
        searches and passes may take."""
        return within(self._asked, [*self._left(runs), *after], runs)

    def start(self) -> tuple[RunSpec, ...]:
        """The first runs, whatever they show: of each workload the most of every axis, the least, and the middle."""
        starts = [start_of(axes) for axes in self._axes.values()]
        longest = max(map(len, starts), default=0)
        found = [start[number] for number in range(longest) for start in starts if number < len(start)]
        first = [spec for spec in found if self._reference is not None and is_measurement(spec, self._reference)]
        return tuple(dict.fromkeys([*first, *found]))

    def _asked_for(self, runs: Sequence[Run]) -> NextRun | None:
        """Of the first runs, and those that isolate a stage, the next one that was not made."""
        made = {run.id for run in runs}
        for spec in self.start():
            if spec.id not in made:
                return NextRun(spec, RunReason(RunReasonKind.START))
        isolating = (spec for spec in self._specs if spec.stage is not None and spec.id not in made)
        return next((NextRun(spec, None) for spec in isolating), None)

    def _worth_of_host(self, runs: Sequence[Run], due: bool) -> Iterator[_Worth]:
        """The reference, where the answers would be surer if it was known better how slow the host was; and, if `due`,
        more and more where so many other runs were made since that a change of the host would go unseen."""
        of = self._reference
        spec = next((each for each in self._left(runs) if of is not None and is_measurement(each, of)), None)
        since = next((count for count, run in enumerate(reversed(runs)) if of and is_measurement(run.spec, of)), 0)
        if of is None or spec is None or since < FEWEST_BETWEEN:
            return
        seconds = estimate_seconds([spec], runs)
        value, name = self._told_by_host(runs, of)
        if value >= LEAST_VALUE:
            yield _Worth(spec, value, seconds, RunReason(RunReasonKind.HOST_OPEN, {}, (name,), again=True))
        if due and since >= MOST_BETWEEN:
            unseen = RunReason(RunReasonKind.HOST_AGAIN, {"runs": float(since)}, again=True)
            yield _Worth(spec, PRIOR_DOUBT * since / MOST_BETWEEN, seconds, unseen)

    def _told_by_host(self, runs: Sequence[Run], of: RunSpec) -> tuple[float, str]:
        """By how much an answer would be less open if the reference was measured now, as it was last, and of which
        workload; 0 while too little was measured again to tell how the host moves."""
        seen = [run for run in completed(runs) if is_measurement(run.spec, of)]
        if not seen or not self._drift_of(runs).moves:
            return 0.0, ""
        surer = drift_of([*completed(runs), measured_after(seen[-1], runs)])
        found = []
        for name in self._axes:
            own = _own(name, runs)
            known = self._conclude(name, runs) if own else None
            if known is None or known.opened is None or known.sure(self._study.objective.counts):
                continue
            after = self._concluded(name, own, fit(own, surer))
            if after.opened is not None:
                found.append((known.opened.doubt - after.opened.doubt, name))
        return max(found, default=(0.0, ""))

    def _worth(self, runs: Sequence[Run]) -> list[_Worth]:
        return [
            each
            for name, axes in self._axes.items()
            if not self._given_up(name, runs)
            for each in self._worth_of(name, axes, runs)
        ]

    def _worth_of(self, name: str, axes: Axes, runs: Sequence[Run]) -> Iterator[_Worth]:
        """The runs of one workload that could be made, with what each is worth."""
        known = self._conclude(name, runs)
        asked = as_asked(_own(name, runs))
        nexts = self._next_repeats(axes, asked)
        fresh = {spec.id for spec, again in nexts if not again}

        def worth(spec: RunSpec, value: float, because: RunReason) -> _Worth:
            return _Worth(spec, value, estimate_seconds([spec], runs), because)

        for axis, spec in not_seen(axes, asked, self._host):
            if spec.id in fresh:
                yield worth(spec, PRIOR_DOUBT, RunReason(RunReasonKind.NOT_SEEN, {}, (axis,)))
        sure = known.sure(self._study.objective.counts)
        if known.opened is None and not sure:
            answered = known.answer.spec is not None
            because = RunReason(RunReasonKind.NOT_COMPARED if answered else RunReasonKind.NOT_FITTED)
            yield from (worth(spec, PRIOR_DOUBT, because) for spec, again in nexts if not again)
        if known.opened is None:
            return
        own_place = known.opened.offer.places[known.opened.chosen]
        least = LEAST_WHEN_SURE if sure else LEAST_VALUE
        telling = known.opened.most_telling(MOST_WEIGHED)
        for spec, again in nexts:
            place = self._place(spec)
            if sure and not again and place == own_place:
                yield worth(spec, PRIOR_DOUBT, RunReason(RunReasonKind.OWN_RUN))
            told = known.opened.value(place) if place in telling else 0.0
            value = max(told, known.opened.gain(place)) * (OF_REPEAT if again else 1.0)
            if value >= least:
                yield worth(spec, value, why(known.answer, known.opened, again))

    def _conclude(self, name: str, runs: Sequence[Run]) -> Known:
        """The model and the answer of one workload among these runs; those of the same runs as before are kept, unless
        what others tell of the host since then moves them."""
        own, drift = _own(name, runs), self._drift_of(runs)
        key = tuple((run.id, run.started_at, run.throughput, run.warnings, drift.at(run)) for run in own)
        found = self._known.get(name)
        if found is None or found[0] != key:
            model = Model((self._fitted[name],)) if name in self._fitted else fit(own, drift)
            found = self._known[name] = key, self._concluded(name, own, model)
        return found[1]

    def _drift_of(self, runs: Sequence[Run]) -> Drift:
        """The path of the host by all of these runs, found once for all workloads."""
        key = tuple((run.id, run.started_at, run.throughput) for run in runs)
        if self._drift is None or self._drift[0] != key:
            self._drift = key, drift_of(completed(runs))
        return self._drift[1]

    def _concluded(self, name: str, own: Sequence[Run], model: Model) -> Known:
        objective = self._study.objective
        answer = recommend(model, own, objective, self._catalog, host_vcpus=float(self._host.vcpus)).workloads[0]
        workload = model.workloads[0]
        disks = {name_of_disk(disk.name) for disk in workload.measured.disks}
        places = [place for place in map(self._place, self._axes[name].specs) if place.disk in disks]
        seed = self._study.measure.seed + len(own)
        tried = {self._position(run.spec) for run in as_asked(own)}
        complete = all(self._position(spec) in tried for spec in self._axes[name].specs)
        return Known(answer, open_answer(workload, answer, places, objective, self._catalog, seed), complete)

    def _open(self, runs: Sequence[Run]) -> list[str]:
        """The workloads whose answer has not its probability."""
        prefer = self._study.objective.counts
        found = []
        for name in self._axes:
            if not _own(name, runs) or not self._conclude(name, runs).sure(prefer):
                found.append(name)
        return found

    def _end(self, kind: PlanEndKind, runs: Sequence[Run], spent: float) -> PlanEnd:
        left = self._open(runs)
        if not left:
            kind = PlanEndKind.SETTLED
        settled = tuple(name for name in self._axes if name not in left)
        failed = tuple(name for name in left if (own := _own(name, runs)) and not completed(own))
        return PlanEnd(kind, settled, tuple(left), len(runs), spent, failed)

    def _next_repeats(self, axes: Axes, own: Sequence[Run]) -> list[tuple[RunSpec, bool]]:
        """Of each configuration the next repeat that is left, and whether it was measured before; none of one that
        failed, which most likely would again."""
        failed = {self._position(run.spec) for run in own if run.outcome is not Outcome.COMPLETED}
        made = {run.id for run in own}
        found = []
        for spec in axes.specs:
            repeats = (repeated(spec, number) for number in range(self._study.measure.repeats))
            left = next((each for each in repeats if each.id not in made), None)
            if left is not None and self._position(spec) not in failed:
                found.append((left, left.repeat > 0))
        return found

    def _left(self, runs: Sequence[Run]) -> list[RunSpec]:
        made = {run.id for run in runs}
        return [spec for spec in self._specs if spec.id not in made]

    def _given_up(self, name: str, runs: Sequence[Run]) -> bool:
        outcomes = [run.outcome for run in _own(name, runs)]
        return Outcome.COMPLETED not in outcomes and len(outcomes) >= MOST_FAILURES

    def _place(self, spec: RunSpec) -> Configuration:
        vcpus, memory, disk, batch, count = position(spec, self._host)
        return Configuration(vcpus, memory, name_of_disk(disk), batch, gpu_count=count)

    def _position(self, spec: RunSpec) -> tuple[object, ...]:
        return position(spec, self._host)

    def _seconds_of(self, runs: Sequence[Run]) -> float:
        return sum(run.wall_seconds for run in runs)

    def _fits(self, seconds: float, spent: float) -> bool:
        return self._asked.budget is None or spent + seconds <= self._asked.budget


def chooser_of(study: Study, host: HostSize, fitted: Model | None = None) -> Chooser | None:
    """What chooses the runs of a study by the catalogue of sizer; None where the study asks for all of them."""
    return None if study.adaptive is None else Chooser(study, host, Catalog.load(), study.adaptive, fitted)


def _own(name: str, runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if run.spec.workload.name == name]
