"""The next run of an adaptive plan, the one that takes most doubt from the answers for its seconds, or how it ended;
and what a bound has room for. Pure.

What is chosen follows from the study, the host's size and the stored runs alone, so that a study that was killed goes
on as it would have gone on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice

from sizer.catalog.catalog import Catalog
from sizer.model.model import Model
from sizer.model.observations import completed
from sizer.model.runs import as_asked
from sizer.plan.conclusions import Conclusions, names_of_devices, own, place_of, why
from sizer.plan.configurations import Axes, axes_of, not_seen, position, repeated, start_of
from sizer.plan.following import Following, TwoEpochs
from sizer.plan.run_order import MOST_BETWEEN, estimate_seconds, is_measurement, plan, reference, seconds_by_run
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Adaptive, PlanEndKind, RunReason, RunReasonKind, RunSpec, Study
from sizer.study.presets import HostSize

# What an adaptive plan does after the runs so far: the next run, or how it ended, and what a bound has room for.

FEWEST_MORE = 4
"""Runs that a larger bound has room for: as many as half of all curves take (`benchmarks/choosing`)."""


@dataclass(frozen=True)
class NextRun:
    """A run to make, and why; `why` is None for one that the study asks for whatever the answer is."""

    spec: RunSpec
    why: RunReason | None


@dataclass(frozen=True)
class PlanEnd:
    """How the plan ended: the workloads that are `settled`, those that are still `open`, and of these the ones that
    `failed` in every run that was made of them, after how many runs and seconds of them.

    `then` is the run that its bound has no room for, None where no bound is in the way, and `enough` a budget in
    seconds, or a number of runs, that has room for it and for as many more as were made.
    """

    kind: PlanEndKind
    settled: tuple[str, ...]
    open: tuple[str, ...]
    runs: int
    seconds: float
    failed: tuple[str, ...] = ()
    then: NextRun | None = None
    enough: float | None = None


def next_of(chosen: NextRun | PlanEnd | None) -> NextRun | None:
    """The run that it makes next, or would make if its bound had room."""
    return chosen.then if isinstance(chosen, PlanEnd) else chosen


def within(asked: Adaptive, left: Sequence[RunSpec], runs: Sequence[Run]) -> tuple[int, float]:
    """How many of the runs that are left may be made at the most, and how many seconds these take."""
    if asked.runs is not None:
        left = left[: max(0, asked.runs - len(runs))]
    seconds = sorted(seconds_by_run(left, runs))
    if asked.budget is not None:
        spent = list(accumulate(seconds, initial=seconds_spent(runs)))
        seconds = [estimate for estimate, whole in zip(seconds, spent[1:], strict=True) if whole <= asked.budget]
    return len(seconds), sum(seconds)


def no_room(asked: Adaptive, seconds: float, runs: Sequence[Run]) -> PlanEndKind | None:
    """Which bound has no room for a run of so many seconds; None where it can be made."""
    if asked.runs is not None and len(runs) >= asked.runs:
        return PlanEndKind.RUNS
    if asked.budget is not None and seconds_spent(runs) + seconds > asked.budget:
        return PlanEndKind.BUDGET
    return None


def enough(bound: PlanEndKind, seconds: Sequence[float], runs: Sequence[Run]) -> float:
    """The seconds of a budget, or the number of runs, that has room for more runs, of which each takes so long."""
    return len(runs) + len(seconds) if bound is PlanEndKind.RUNS else seconds_spent(runs) + sum(seconds)


def more_room(bound: PlanEndKind, seconds: float, left: int, runs: Sequence[Run]) -> float:
    """The same for one more run of so many seconds and as many as were made, of which so many are left."""
    more = max(1, min(left, max(len(runs), FEWEST_MORE)))
    return enough(bound, [seconds] * more, runs)


def seconds_spent(runs: Sequence[Run]) -> float:
    """What a budget counts: the seconds of the runs, not the time between them."""
    return sum(run.wall_seconds for run in runs)


@dataclass(frozen=True)
class Unfinished:
    """A search or pass whose next run is still to be made. `bound` is what has no room for that run, None where nothing
    but an interruption kept it from being made; `enough` the budget in seconds, or the number of runs, that would have
    room for as many runs as it and those before it usually take, runs that the same bound kept an answer from among
    them."""

    following: Following
    bound: PlanEndKind | None = None
    enough: float | None = None


def unfinished(
    following: Iterable[Following], runs: Sequence[Run], study: Study, chosen: NextRun | PlanEnd | None = None
) -> tuple[Unfinished, ...]:
    """What these runs of a study leave open of its searches and passes; `chosen` is what its adaptive plan does."""
    names = {workload.workload.name for workload in study.workloads}
    runs = [run for run in runs if run.spec.workload.name in names]
    asked = study.adaptive
    searches: list[Unfinished] = []
    usual: list[float] = []
    for search in following:
        spec = search.next_run(runs)
        if spec is None:
            continue
        seconds = _seconds(search, spec, runs)
        usual += [seconds] * max(1, search.usual_runs - _made(search, runs))
        bound = None if asked is None else no_room(asked, seconds, runs)
        room = None if bound is None else enough(bound, usual, runs) + _for_answers(bound, chosen)
        searches.append(Unfinished(search, bound, room))
    return tuple(searches)


def most_to_follow(following: Iterable[Following], runs: Sequence[Run]) -> list[RunSpec]:
    """As many runs as searches and passes may take after these at the most, each as its next one."""
    return [
        spec
        for search in following
        if (spec := search.next_run(runs)) is not None
        for _ in range(max(1, search.most_runs - _made(search, runs)))
    ]


def _for_answers(bound: PlanEndKind, chosen: NextRun | PlanEnd | None) -> float:
    """What of a larger bound the runs take first that answers are still open for."""
    if not isinstance(chosen, PlanEnd) or chosen.enough is None or chosen.kind is not bound:
        return 0.0
    return chosen.enough - (chosen.runs if bound is PlanEndKind.RUNS else chosen.seconds)


def _seconds(search: Following, spec: RunSpec, runs: Sequence[Run]) -> float:
    """How long the next run takes: a pass two epochs at the least, which other runs do not show."""
    seconds = estimate_seconds([spec], runs)
    return max(seconds, search.least_seconds(runs)) if isinstance(search, TwoEpochs) else seconds


def _made(search: Following, runs: Iterable[Run]) -> int:
    """How many of these runs a search or pass has made."""
    return sum(search.includes(run.spec) and run.spec.purpose is search.base.purpose for run in runs)


PRIOR_DOUBT = 0.25
"""What a run takes from the doubt where nothing is known yet: a value that no run had, or runs that carry no answer."""
LEAST_VALUE = 0.05
"""By which a run must lower the probability that draws disagree; what lowers it by less is told by many runs alone,
which are made where a budget or a number of runs says how many may be."""
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
class _Worth:
    """A run that could be made: by how much it should lower the probability of a wrong answer, and its seconds."""

    spec: RunSpec
    value: float
    seconds: float
    why: RunReason | None


class Chooser:
    """Chooses among the runs of a study; keeps what it has concluded from runs that it saw before."""

    def __init__(
        self, study: Study, host: HostSize, catalog: Catalog, asked: Adaptive, fitted: Model | None = None
    ) -> None:
        """`fitted` is the model of the very runs that `next_run` is asked about, where it is there already."""
        self._study, self._host, self._asked = study, host, asked
        self._specs = plan(study, host)
        self._reference = reference(study, host)
        self._axes = {workload.workload.name: axes_of(workload, study, host) for workload in study.workloads}
        self._conclusions = Conclusions(study, host, catalog, self._axes, fitted)

    def next_run(self, runs: Sequence[Run]) -> NextRun | PlanEnd:
        """The next run after these, in the order in which they were made, or why none is."""
        runs = [run for run in runs if run.spec.workload.name in self._axes]
        worth = self._asked_for(runs)
        if not worth:
            worth = self._worth(runs)
            worth += self._worth_of_host(runs, due=bool(worth))
        fitting = [candidate for candidate in worth if no_room(self._asked, candidate.seconds, runs) is None]
        best = max(fitting or worth, key=lambda one: one.value / max(one.seconds, 1e-3), default=None)
        if best is None:
            return self._end(PlanEndKind.NOTHING_LEFT, runs)
        return NextRun(best.spec, best.why) if fitting else self._bounded(best, runs)

    def at_most(self, runs: Sequence[Run], after: Sequence[RunSpec] = ()) -> tuple[int, float]:
        """How many more runs may be made after these, and how many seconds they may take. `after` are those that
        searches and passes may take."""
        return within(self._asked, [*self._left(runs), *after], runs)

    def start(self) -> tuple[RunSpec, ...]:
        """The first runs, whatever they show: of each workload the most of every axis, the least, and the middle."""
        starts = [start_of(axes) for axes in self._axes.values()]
        longest = max(map(len, starts), default=0)
        specs = [start[number] for number in range(longest) for start in starts if number < len(start)]
        first = [spec for spec in specs if self._reference is not None and is_measurement(spec, self._reference)]
        return tuple(dict.fromkeys([*first, *specs]))

    def _asked_for(self, runs: Sequence[Run]) -> list[_Worth]:
        """Of the first runs, and those that isolate a stage, the next one that was not made, whatever it is worth."""
        made = {run.id for run in runs}
        asked: list[tuple[RunSpec, RunReason | None]] = []
        for spec in self.start():
            alone = len(self._axes[spec.workload.name].specs) == 1
            asked.append((spec, RunReason(RunReasonKind.ONLY_ONE if alone else RunReasonKind.START)))
        asked += [(spec, None) for spec in self._specs if spec.stage is not None]
        left = ((spec, because) for spec, because in asked if spec.id not in made)
        return [_Worth(spec, 0.0, estimate_seconds([spec], runs), because) for spec, because in islice(left, 1)]

    def _worth_of_host(self, runs: Sequence[Run], due: bool) -> Iterator[_Worth]:
        """The reference, where the answers would be surer if it was known better how slow the host was; and, if `due`,
        more and more where so many other runs were made since that a change of the host would go unseen."""
        of = self._reference
        spec = next((spec for spec in self._left(runs) if of is not None and is_measurement(spec, of)), None)
        since = next((count for count, run in enumerate(reversed(runs)) if of and is_measurement(run.spec, of)), 0)
        if of is None or spec is None or since < FEWEST_BETWEEN:
            return
        seconds = estimate_seconds([spec], runs)
        seen = [run for run in completed(runs) if is_measurement(run.spec, of)]
        value, name = self._conclusions.surer_by(seen[-1], runs, LEAST_VALUE) if seen else (0.0, "")
        if value >= LEAST_VALUE:
            yield _Worth(spec, value, seconds, RunReason(RunReasonKind.HOST_OPEN, {}, (name,), again=True))
        if due and since >= MOST_BETWEEN:
            unseen = RunReason(RunReasonKind.HOST_AGAIN, {"runs": float(since)}, again=True)
            yield _Worth(spec, PRIOR_DOUBT * since / MOST_BETWEEN, seconds, unseen)

    def _worth(self, runs: Sequence[Run]) -> list[_Worth]:
        worth: list[_Worth] = []
        for name, axes in self._axes.items():
            outcomes = [run.outcome for run in own(name, runs)]
            if Outcome.COMPLETED in outcomes or len(outcomes) < MOST_FAILURES:
                worth += self._worth_of(name, axes, runs)
        return worth

    def _worth_of(self, name: str, axes: Axes, runs: Sequence[Run]) -> Iterator[_Worth]:
        """The runs of one workload that could be made, with what each is worth."""
        conclusion = self._conclusions.of(name, runs)
        asked = as_asked(own(name, runs))
        nexts = self._next_repeats(axes, asked)
        fresh = {spec.id for spec, again in nexts if not again}

        def worth(spec: RunSpec, value: float, because: RunReason) -> _Worth:
            return _Worth(spec, value, estimate_seconds([spec], runs), because)

        for axis, spec in not_seen(axes, asked, self._host):
            if spec.id in fresh:
                yield worth(spec, PRIOR_DOUBT, RunReason(RunReasonKind.NOT_SEEN, {}, (axis,)))
        sure = conclusion.sure(self._study.objective.counts)
        if conclusion.opened is None and not sure:
            answered = conclusion.answer.spec is not None
            because = RunReason(RunReasonKind.NOT_COMPARED if answered else RunReasonKind.NOT_FITTED)
            yield from (worth(spec, PRIOR_DOUBT, because) for spec, again in nexts if not again)
        if conclusion.opened is None:
            return
        own_place = conclusion.opened.own_place
        least = LEAST_WHEN_SURE if sure else LEAST_VALUE
        telling = conclusion.opened.most_telling(MOST_WEIGHED)
        weighed = []
        names = names_of_devices(asked) if len(axes.devices) > 1 else None
        for spec, again in nexts:
            place = place_of(spec, self._host, names)
            if sure and not again and place == own_place:
                yield worth(spec, PRIOR_DOUBT, RunReason(RunReasonKind.OWN_RUN))
            doubt_removed = conclusion.opened.value(place) if place in telling else 0.0
            value = max(doubt_removed, conclusion.opened.gain(place)) * (OF_REPEAT if again else 1.0)
            weighed.append((value, spec, again))
        worthwhile = [candidate for candidate in weighed if candidate[0] >= least]
        if not worthwhile and not sure and self._asked.bounded:
            worthwhile = [candidate for candidate in weighed if candidate[0] > 0]
        for value, spec, again in worthwhile:
            yield worth(spec, value, why(conclusion.answer, conclusion.opened, again))

    def _bounded(self, best: _Worth, runs: Sequence[Run]) -> PlanEnd:
        """How it ended where a bound has no room for this run; a settled answer needs none."""
        kind = no_room(self._asked, best.seconds, runs) or PlanEndKind.BUDGET
        end = self._end(kind, runs)
        if end.kind is PlanEndKind.SETTLED:
            return end
        room = more_room(kind, best.seconds, len(self._left(runs)), runs)
        return replace(end, then=NextRun(best.spec, best.why), enough=room)

    def _end(self, kind: PlanEndKind, runs: Sequence[Run]) -> PlanEnd:
        left = self._conclusions.open(runs)
        if not left:
            kind = PlanEndKind.SETTLED
        settled = tuple(name for name in self._axes if name not in left)
        failed = tuple(name for name in left if (made := own(name, runs)) and not completed(made))
        return PlanEnd(kind, settled, tuple(left), len(runs), seconds_spent(runs), failed)

    def _next_repeats(self, axes: Axes, asked: Sequence[Run]) -> list[tuple[RunSpec, bool]]:
        """Of each configuration the next repeat that is left, and whether it was measured before; none of one that
        failed, which most likely would again."""
        failed = {position(run.spec, self._host) for run in asked if run.outcome is not Outcome.COMPLETED}
        made = {run.id for run in asked}
        next_repeats = []
        for spec in axes.specs:
            repeats = (repeated(spec, number) for number in range(self._study.measure.repeats))
            left = next((repeat for repeat in repeats if repeat.id not in made), None)
            if left is not None and position(spec, self._host) not in failed:
                next_repeats.append((left, left.repeat > 0))
        return next_repeats

    def _left(self, runs: Sequence[Run]) -> list[RunSpec]:
        made = {run.id for run in runs}
        return [spec for spec in self._specs if spec.id not in made]


def chooser_of(study: Study, host: HostSize, fitted: Model | None = None) -> Chooser | None:
    """What chooses the runs of a study by the catalogue of sizer; None where the study asks for all of them."""
    return None if study.adaptive is None else Chooser(study, host, Catalog.load(), study.adaptive, fitted)
