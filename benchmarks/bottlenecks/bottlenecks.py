"""What binds a run, named from its accounting alone, against what relaxing a resource by 1.5 x really does.

    python benchmarks/bottlenecks/bottlenecks.py [--seconds 4] [--repeats 3] [--only NAME ...] [--quick] [--out DIR]

Eight configurations of this machine (`bottleneck_cases.py`), each measured as it is and with one of two resources
relaxed. A name is right if relaxing what it names raises the rate and relaxing the other does not
(`Finding`). The runs of a pair are neighbours, in an order that is shuffled; a configuration that is not
right is measured twice more before it is judged. Needs root, for emulated disks; these are taken at the rates that
they declare, which `disk_tiers.py` checks. A core that something else uses is one that no limit can give: on such a
host the CPU's names cannot be judged, and the last lines say how much that was.

Aim: at least 7 of 8 names are right, and one that is not is `ambiguous`.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, partial
from pathlib import Path
from statistics import fmean, stdev

from bottleneck_cases import Case, Known, MeasuredPoint, cases, measured_needs, probe
from scipy.special import stdtrit

from sizer.api import measurement, plan_study, this_host
from sizer.cli.progress import EventPrinter
from sizer.records.prediction import Bottleneck, Estimate
from sizer.records.run import Run
from sizer.records.study import Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.storage.disk_check import Fio
from sizer.words.failures import failure_line
from sizer.words.runs import evidence_in_words

Runs = Mapping[str, Run]

RISES = 1.15
"""Ratio from which a rate has risen, where 1.5 x of a resource that alone binds gives 1.5."""

STAYS = 1.07
"""Ratio up to which a rate has stayed: the same run measured twice differs by 5 to 10 % on a shared machine."""

IMAGES = 400
SEED = 1
AGAIN = 2
"""Repeats that are added where a name is not right: three pairs are the fewest whose interval says something."""

PRECISION = 0.0001
"""Finer than any run here gets, so that each takes its full time."""

AS_DECLARED = Fio(figures=())
QUICK = {"seconds": 2.0, "repeats": 1}
WRONG_AT_MOST = 1


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
        own, others = self.ratios[self.named], [self.ratios[other] for other in self.others]
        if rises(own) and all(stays(other) for other in others):
            return Verdict.RIGHT
        settled = own.high < RISES or any(rises(other) for other in others)
        return Verdict.WRONG if settled else Verdict.UNSURE

    @property
    def others(self) -> tuple[Bottleneck, ...]:
        """The resources that were relaxed and are not the one named."""
        return tuple(ratio for ratio in self.ratios if ratio is not self.named)


def rises(ratio: Estimate) -> bool:
    """Whether the rate has surely and markedly risen."""
    return ratio.value >= RISES and ratio.low > 1


def stays(ratio: Estimate) -> bool:
    """Whether the rate has not risen, or not by more than chance makes of an equal one."""
    return ratio.value <= STAYS or (ratio.low <= 1 and ratio.value < RISES)


def ratio_of(relaxed: Sequence[float], base: Sequence[float]) -> Estimate:
    """Relaxed over base, in pairs of one repeat: geometric mean with Student's interval of the mean logarithm.

    One pair has no interval and is taken as it is.
    """
    logs = [math.log(after / before) for after, before in zip(relaxed, base, strict=True)]
    mean = fmean(logs)
    if len(logs) == 1:
        return Estimate(math.exp(mean), math.exp(mean), math.exp(mean))
    half = float(stdtrit(len(logs) - 1, 0.975)) * stdev(logs) / math.sqrt(len(logs))
    return Estimate(math.exp(mean), math.exp(mean - half), math.exp(mean + half))


def holds(findings: Sequence[Finding], exceptions: int) -> bool:
    """Whether all names but at most `exceptions` are right, and those are `ambiguous`."""
    rest = [finding for finding in findings if finding.verdict is not Verdict.RIGHT]
    return len(rest) <= exceptions and all(finding.named is Bottleneck.AMBIGUOUS for finding in rest)


def main() -> int:
    arguments = _arguments()
    length = Measure(arguments.repeats + AGAIN, arguments.seconds, PRECISION, SEED)
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(arguments.out or temporary)
        chosen = cases(cache(partial(probed, out / "probe", length)), arguments.only or ())
        findings = judged(out / "runs", chosen, length, arguments.repeats)
    return show(findings)


def probed(out: Path, length: Measure) -> Known:
    """What a run on raw images shows."""
    first = probe().spec(length)
    return measured_needs(measured(out, [probe()], [first], length)[first.id])


def judged(out: Path, chosen: Sequence[Case], length: Measure, first: int) -> list[Finding]:
    """Every case measured `first` times and judged; those that are not right measured `length.repeats` times in all."""
    points = [point for case in chosen for point in case.points]
    findings: dict[str, Finding] = {}
    for repeats in (range(first), range(first, length.repeats)):
        todo = [case for case in chosen if case.name not in findings or not _is_right(findings[case.name])]
        runs = measured(out, points, interleaved(todo, length, repeats), length) if todo else {}
        for case in todo:
            findings[case.name] = finding(case, runs, length, range(repeats.stop))
        right = sum(map(_is_right, findings.values()))
        print(f"{right} of {len(findings)} right after {repeats.stop} repeats of what was not right before", flush=True)
    return list(findings.values())


def interleaved(chosen: Sequence[Case], length: Measure, repeats: Iterable[int]) -> list[RunSpec]:
    """Repeat after repeat, the cases in a shuffled order, and the runs of a case beside each other."""
    specs = []
    for repeat in repeats:
        shuffle = random.Random(length.seed + repeat)
        for case in shuffle.sample(chosen, len(chosen)):
            specs += [point.spec(length, repeat) for point in shuffle.sample(case.points, len(case.points))]
    return specs


def measured(out: Path, points: Sequence[MeasuredPoint], specs: Sequence[RunSpec], length: Measure) -> Runs:
    """The runs of the study of these points by their id. SystemExit names one that was not completed."""
    host = this_host(AS_DECLARED)
    study = study_of(out.name, points, length)
    plan = replace(plan_study(study, out, host), specs=specs)
    with measurement(plan, host, EventPrinter(study.emulated_disks)) as measuring:
        measuring.run()
        runs = {run.id: run for run in measuring.folder.runs()}
    for spec in specs:
        run = runs.get(spec.id)
        if run is None or run.throughput is None:
            raise SystemExit(f"bottlenecks: {spec.workload.name}: {failure_line(run) if run else 'interrupted'}")
    return runs


def study_of(name: str, points: Sequence[MeasuredPoint], length: Measure) -> Study:
    """The study that these points belong to, so that its folder can be looked at with every command of sizer."""
    disks = dict.fromkeys(point.disk for point in points if point.disk is not None)
    workloads = dict.fromkeys(point.workload for point in points)
    plans = tuple(_plan(workload, [point for point in points if point.workload == workload]) for workload in workloads)
    return Study(name, plans, tuple(disks), measure=length, embedded_images=IMAGES)


def _plan(workload: Workload, points: Sequence[MeasuredPoint]) -> WorkloadPlan:
    return WorkloadPlan(
        workload,
        batch_size=tuple(dict.fromkeys(point.batch_size for point in points)),
        vcpus=tuple(dict.fromkeys(point.vcpus for point in points)),
        memory_bytes=tuple(dict.fromkeys(point.memory_bytes for point in points if point.memory_bytes is not None)),
        disk=tuple(dict.fromkeys(point.disk.name for point in points if point.disk is not None)),
    )


def finding(case: Case, runs: Runs, length: Measure, repeats: range) -> Finding:
    """What was named, by most runs of the case as it is, and what relaxing a resource did."""

    def rates(point: MeasuredPoint) -> list[float]:
        return [_throughput(runs[point.spec(length, repeat).id]) for repeat in repeats]

    evidence = [_evidence(runs[case.base.spec(length, repeat).id]) for repeat in repeats]
    ((named, agreeing),) = Counter(name for name, _ in evidence).most_common(1)
    reason = next(why for name, why in evidence if name is named)
    ratios = {resource: ratio_of(rates(point), rates(case.base)) for resource, point in case.relaxed.items()}
    others = max(
        runs[point.spec(length, repeat).id].conditions.other_cores or 0.0 for point in case.points for repeat in repeats
    )
    return Finding(case.name, named, agreeing, len(evidence), reason, ratios, others)


def show(findings: Sequence[Finding]) -> int:
    """One line a configuration, then how many are right; the exit status."""
    columns = "{:15} {:15} {:6} {:33} {:66} {:7} {}"
    print(columns.format("configuration", "named", "runs", "named x 1.5", "other x 1.5", "", "evidence"))
    for finding in findings:
        own = [finding.named] if finding.named in finding.ratios else []
        print(
            columns.format(
                finding.configuration,
                finding.named.value,
                f"{finding.agreeing} of {finding.runs}",
                _ratios(finding, own) or "-",
                _ratios(finding, finding.others),
                finding.verdict.value,
                finding.reason,
            )
        )
    right = sum(_is_right(finding) for finding in findings)
    good = holds(findings, WRONG_AT_MOST)
    print(f"cores that something else on this host used: up to {max(finding.other_cores for finding in findings):.2f}")
    print(f"{right} of {len(findings)} right: {'holds' if good else 'DOES NOT HOLD'}")
    return 0 if good else 1


def _ratios(finding: Finding, resources: Iterable[Bottleneck]) -> str:
    return ", ".join(f"{resource.value} {_interval(finding.ratios[resource])}" for resource in resources)


def _interval(ratio: Estimate) -> str:
    return f"{ratio.value:.2f} ({ratio.low:.2f}-{ratio.high:.2f})"


def _is_right(finding: Finding) -> bool:
    return finding.verdict is Verdict.RIGHT


def _throughput(run: Run) -> float:
    assert run.throughput is not None
    return run.throughput.value


def _evidence(run: Run) -> tuple[Bottleneck, str]:
    assert run.evidence is not None
    return run.evidence.bottleneck, evidence_in_words(run.evidence)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4.0, help="of each run (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="pairs of each configuration (default: %(default)s)")
    parser.add_argument("--only", action="append", metavar="NAME", help="a configuration of the table; may be repeated")
    parser.add_argument("--quick", action="store_true", help="--seconds 2 --repeats 1")
    parser.add_argument("--out", metavar="DIR", help="keep the studies there (default: temporary)")
    arguments = parser.parse_args()
    for name, value in QUICK.items() if arguments.quick else ():
        setattr(arguments, name, value)
    return arguments


if __name__ == "__main__":
    raise SystemExit(main())
