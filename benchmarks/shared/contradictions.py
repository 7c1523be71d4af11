"""Statements of one answer that cannot both be true, by their codes and figures. Pure.

for answer in recommendation.workloads:
    for each in contradictions(answer, recommendation.objective.target):
        print(each)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sizer.model.edge import GAIN
from sizer.recommend.table import SURE
from sizer.records.answer import Answer, Event
from sizer.records.configuration import Bottleneck
from sizer.records.prediction import Reason, ReasonCode

SLACK = 0.02
"""Shares, and probabilities, that differ by no more do not contradict one another: both are rounded."""

CPU_BINDS = frozenset({Bottleneck.CPU, Bottleneck.SERIAL})
DISK_BINDS = frozenset({Bottleneck.DISK_BANDWIDTH, Bottleneck.DISK_IOPS, Bottleneck.DISK_WRITE})
"""Accounting cannot tell these from one another."""


@dataclass(frozen=True)
class Contradiction:
    """Two statements: codes of reasons, or names of fields of the answer; `why` has their figures."""

    first: str
    second: str
    why: str

    def __str__(self) -> str:
        return f"{self.first} / {self.second}: {self.why}"


def reasons_of(answer: Answer) -> tuple[Reason, ...]:
    """All that is said of an answer: its reasons, those of each rejected spec, and of the run that would settle it."""
    rejected = [each for rejection in answer.rejected for each in rejection.why]
    advised = [answer.next_run.why] if answer.next_run is not None and answer.next_run.why is not None else []
    return (*answer.reasons, *rejected, *advised)


def contradictions(answer: Answer, target: float) -> tuple[Contradiction, ...]:
    """Every pair that a rule finds, in the order of the rules; `target` is the share of the best that is asked for."""
    return (*_share_of_target(answer, target), *(each for rule in RULES for each in rule(answer)))


def _of(answer: Answer, code: ReasonCode, *figures: str) -> Iterator[Reason]:
    """Its reasons of this kind that have these figures."""
    return (each for each in answer.reasons if each.code is code and all(map(each.has, figures)))


def _reaches(answer: Answer) -> float | None:
    """The probability that the answer reaches the target; None where it is that of something else."""
    return answer.probability if answer.probability_of is Event.REACHES_TARGET else None


def _more_may_pay(answer: Answer) -> Iterator[Contradiction]:
    """Who surely reaches the target of the best leaves no more than the rest for a faster, larger size."""
    likely = _reaches(answer)
    for each in _of(answer, ReasonCode.GAIN_UNKNOWN, "probability"):
        if likely is not None and likely + each.number("probability") > 1 + SLACK:
            why = f"{likely:.2f} that it reaches the target, {each.number('probability'):.2f} that more vCPUs pay"
            yield Contradiction("reaches_target", each.code.value, why)


def _size_open(answer: Answer) -> Iterator[Contradiction]:
    likely = _reaches(answer)
    for each in _of(answer, ReasonCode.SIZE_OPEN):
        if likely is not None and likely >= SURE:
            yield Contradiction("reaches_target", each.code.value, f"{likely:.2f}, and not known whether right")


def _share_of_target(answer: Answer, target: float) -> Iterator[Contradiction]:
    """A share of the best rate above the target beside a probability that it is rather not, and the other way round."""
    likely = _reaches(answer)
    for each in _of(answer, ReasonCode.GIVES, "share"):
        share = each.number("share")
        over = share - target
        if likely is not None and ((over > SLACK and likely < 0.5) or (over < -SLACK and likely > 0.5)):
            yield Contradiction("reaches_target", each.code.value, f"{likely:.2f} at {share:.0%} of the best rate")


def _beside_measured(answer: Answer) -> Iterator[Contradiction]:
    """A rate that is surely not the one measured there."""
    rate = answer.throughput
    for each in _of(answer, ReasonCode.MEASURED_BESIDE_OTHERS):
        measured = each.number("measured_rate")
        if rate is not None and not rate.low * (1 - SLACK) <= measured <= rate.high * (1 + SLACK):
            why = f"{measured:.4g} measured, {rate.value:.4g} ({rate.low:.4g} to {rate.high:.4g}) told"
            yield Contradiction("throughput", each.code.value, why)


def _cpu_with_more_measured(answer: Answer) -> Iterator[Contradiction]:
    """vCPUs bind, without them it would be much faster, and the largest that was measured has more and is not."""
    bound = [each for each in _of(answer, ReasonCode.BOUND_BY) if each.text("bottleneck") == Bottleneck.CPU.value]
    largest, own = answer.baseline, answer.spec
    if not bound or largest is None or largest.named or own is None or not (own.vcpus and largest.spec.vcpus):
        return
    more, gained = largest.spec.vcpus / own.vcpus, 1 / largest.share - 1
    for each in _of(answer, ReasonCode.NEXT_LIMIT, "next"):
        gain = min(each.number("gain"), more - 1)
        if gain > 2 * GAIN and gained < GAIN:
            why = f"{more:.2g} times the vCPUs, which bind, gain {gained:.0%} of {each.number('gain'):.0%}"
            yield Contradiction(bound[0].code.value, each.code.value, why)


def _upgrade_of_best(answer: Answer) -> Iterator[Contradiction]:
    """A larger size gains more than the answer's share of the best rate leaves."""
    for reached in _of(answer, ReasonCode.GIVES, "share"):
        for each in (each for each in _of(answer, ReasonCode.NEXT_LIMIT) if each.spec is not None):
            share, gain = reached.number("share"), each.number("gain")
            if share * (1 + gain) > 1 + SLACK:
                why = f"{share:.0%} of the best rate, and {gain:.0%} faster with a larger size"
                yield Contradiction(reached.code.value, each.code.value, why)


def _accounting(answer: Answer) -> Iterator[Contradiction]:
    """What binds by the model is another resource than by accounting."""
    for each in _of(answer, ReasonCode.BOUND_BY):
        if not each.has("accounted"):
            continue
        both = {Bottleneck(each.text("accounted")), Bottleneck(each.text("bottleneck"))}
        if len(both) > 1 and Bottleneck.AMBIGUOUS not in both and not (both <= CPU_BINDS or both <= DISK_BINDS):
            why = f"{each.text('bottleneck')} by the model, {each.text('accounted')} by accounting"
            yield Contradiction(each.code.value, "accounted", why)


def _disk(answer: Answer) -> Iterator[Contradiction]:
    """A faster disk gains although something else binds."""
    for bound in _of(answer, ReasonCode.BOUND_BY):
        for each in _of(answer, ReasonCode.OTHER_DISK, "gain"):
            if Bottleneck(bound.text("bottleneck")) not in DISK_BINDS and each.number("gain") > 2 * GAIN:
                why = f"bound by {bound.text('bottleneck')}, and {each.number('gain'):.0%} faster on another disk"
                yield Contradiction(bound.code.value, each.code.value, why)


def _accelerator(answer: Answer) -> Iterator[Contradiction]:
    """The accelerator binds, and what is made is far less than it makes."""
    for bound in _of(answer, ReasonCode.BOUND_BY):
        for each in _of(answer, ReasonCode.EMULATED, "rate"):
            rate = answer.throughput
            if bound.text("bottleneck") != Bottleneck.ACCELERATOR.value or rate is None:
                continue
            if rate.high < (1 - 2 * GAIN) * each.number("rate"):
                why = f"bound by the accelerator, {rate.value:.4g} of its {each.number('rate'):.4g} samples/s"
                yield Contradiction(bound.code.value, each.code.value, why)


def _fewer_enough(answer: Answer) -> Iterator[Contradiction]:
    """Of a lower bound less is too little, and something with fewer vCPUs reaches the target."""
    if answer.probability_of not in (Event.FEWER_TOO_FEW, Event.LESS_TOO_LITTLE) or answer.spec is None:
        return
    likely = answer.probability or 0.0
    for rejection in answer.rejected:
        fewer = (rejection.spec.vcpus or 0.0) < (answer.spec.vcpus or 0.0)
        for each in rejection.why if fewer else ():
            if each.has("of_target") and each.number("of_target") > 1 + SLACK and likely > 0.5:
                reached = f"{rejection.spec.vcpus:g} vCPUs reach {each.number('of_target'):.0%} of the target"
                why = f"{likely:.2f} that fewer are too few, and {reached}"
                yield Contradiction(answer.probability_of.value, each.code.value, why)


def _memory(answer: Answer) -> Iterator[Contradiction]:
    """It needs more memory than it gets."""
    memory = answer.spec.memory_bytes if answer.spec is not None else None
    for each in _of(answer, ReasonCode.MEMORY_FLOOR, "memory_bytes"):
        if memory is not None and each.number("memory_bytes") > memory:
            why = f"{each.number('memory_bytes'):.4g} bytes needed, {memory} taken"
            yield Contradiction("spec", each.code.value, why)


def _rises_unbought(answer: Answer) -> Iterator[Contradiction]:
    """More vCPUs pay, and what binds is nothing that they buy."""
    for bound in _of(answer, ReasonCode.BOUND_BY):
        for each in _of(answer, ReasonCode.RISES, "vcpus"):
            if bound.text("bottleneck") != Bottleneck.CPU.value:
                why = f"{each.number('gain'):.0%} by the last doubling, and bound by {bound.text('bottleneck')}"
                yield Contradiction(each.code.value, bound.code.value, why)


def _rises(answer: Answer) -> Iterator[Contradiction]:
    """It is the answer although the rate still rises."""
    for each in _of(answer, ReasonCode.RISES):
        sure = answer.status == "recommended" and answer.probability_of is Event.REACHES_TARGET
        if sure and (each.has("vcpus") or each.has("memory_bytes")):
            yield Contradiction("recommended", each.code.value, "no lower bound, and the rate still rises")


RULES: tuple[Callable[[Answer], Iterator[Contradiction]], ...] = (
    _more_may_pay,
    _size_open,
    _beside_measured,
    _cpu_with_more_measured,
    _upgrade_of_best,
    _accounting,
    _disk,
    _accelerator,
    _fewer_enough,
    _memory,
    _rises_unbought,
    _rises,
)
