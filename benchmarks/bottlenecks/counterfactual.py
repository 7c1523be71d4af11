"""Was a bottleneck named rightly: relaxing what is named raises the rate, relaxing anything else does not. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from pairs import ratio

from sizer.records.configuration import Bottleneck, Estimate

RISES = 1.15
"""Ratio from which a rate has risen, where 1.5 x of a resource that alone binds gives 1.5."""

STAYS = 1.07
"""Ratio up to which a rate has stayed: the same run measured twice differs by 5 to 10 % on a shared machine."""


class Verdict(str, Enum):
    """What the counterfactual says of a name. `unsure`: named ambiguous although one resource binds, or not settled."""

    RIGHT = "right"
    UNSURE = "unsure"
    WRONG = "wrong"


@dataclass(frozen=True)
class Finding:
    """A configuration's name, in how many of its runs it was given, and each relaxation's ratio of rates.

    `other_cores`: the most cores that something else on the host used during one of its runs.
    """

    configuration: str
    named: Bottleneck
    agreeing: int
    runs: int
    reason: str
    ratios: Mapping[Bottleneck, Estimate]
    other_cores: float = 0.0

    @property
    def verdict(self) -> Verdict:
        if self.named is Bottleneck.AMBIGUOUS:
            return Verdict.UNSURE if any(map(rises, self.ratios.values())) else Verdict.RIGHT
        if self.named not in self.ratios:
            return Verdict.WRONG
        own, others = self.ratios[self.named], [self.ratios[each] for each in self.others]
        if rises(own) and all(stays(other) for other in others):
            return Verdict.RIGHT
        settled = own.high < RISES or any(rises(other) for other in others)
        return Verdict.WRONG if settled else Verdict.UNSURE

    @property
    def others(self) -> tuple[Bottleneck, ...]:
        """The resources that were relaxed and are not the one named."""
        return tuple(each for each in self.ratios if each is not self.named)


def rises(found: Estimate) -> bool:
    """Whether the rate has surely and markedly risen."""
    return found.value >= RISES and found.low > 1


def stays(found: Estimate) -> bool:
    """Whether the rate has not risen, or not by more than chance makes of an equal one."""
    return found.value <= STAYS or (found.low <= 1 and found.value < RISES)


def ratio_of(relaxed: Sequence[float], base: Sequence[float]) -> Estimate:
    """Relaxed over base, in pairs of one repeat: geometric mean with Student's interval of the mean logarithm.

    One pair has no interval and is taken as it is.
    """
    ratios = [after / before for after, before in zip(relaxed, base, strict=True)]
    return ratio(ratios) if len(ratios) > 1 else Estimate(ratios[0], ratios[0], ratios[0])


def holds(findings: Sequence[Finding], exceptions: int) -> bool:
    """Whether all names but at most `exceptions` are right, and those are `ambiguous`."""
    rest = [each for each in findings if each.verdict is not Verdict.RIGHT]
    return len(rest) <= exceptions and all(each.named is Bottleneck.AMBIGUOUS for each in rest)
