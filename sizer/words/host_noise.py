"""What the host did to the runs of a study, how far it was taken off rates, and why it was not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from sizer.model import NoCorrection, Uncorrected
from sizer.plan import Spread
from sizer.records import Correction
from sizer.words.figures import small_share
from sizer.words.language import _, _n
from sizer.words.runs import spread_in_words


def host_lines(drift: Spread | None, beside_others: int, runs: int) -> list[str]:
    """That it became slower or faster meanwhile, and beside how many of the completed runs of the study something else
    used its CPUs."""
    found = [] if drift is None else [_("The host drifted: {spread}.", spread=spread_in_words(drift))]
    if beside_others:
        told = _n(
            "Something else used CPUs of the host beside {count} of {runs} runs of the study; a quiet host measures "
            "better.",
            "Something else used CPUs of the host beside {count} of {runs} runs of the study; a quiet host measures "
            "better.",
            beside_others,
            runs=runs,
        )
        found.append(told)
    return found


def corrections_in_words(corrections: Sequence[Correction]) -> str:
    """By how much rates were corrected, which are some."""
    changes = [abs(math.expm1(each.log)) for each in corrections]
    return _n(
        "The rate of {count} run was corrected for the noise of the host, by {most}.",
        "The rates of {count} runs were corrected for the noise of the host, by {middle} in the median and {most} at "
        "most.",
        len(changes),
        middle=small_share(median(changes)),
        most=small_share(max(changes)),
    )


def uncorrected_in_words(found: Uncorrected) -> str:
    """That the rates of a workload are as measured although a probe was asked for, and why."""
    return _(
        "The rates of `{workload}` are as measured, not corrected for the noise of the host: {why}.",
        workload=found.workload,
        why=_why_uncorrected(found),
    )


def _why_uncorrected(found: Uncorrected) -> str:
    known = {"needed": found.needed, "runs": found.runs}
    if found.why is NoCorrection.FEW_RUNS:
        return _n(
            "it has {count} run, and {needed} are needed",
            "it has {count} runs, and {needed} are needed",
            found.runs,
            needed=found.needed,
        )
    return {
        NoCorrection.NO_PROBE: _("its runs were made without the probe"),
        NoCorrection.PACED: _(
            "something else than the CPU, such as an accelerator or a disk, sets its pace, and the probe tells of CPUs "
            "and memory alone"
        ),
        NoCorrection.COSTLY: _(
            "in {costly} of its {runs} runs sizer took more than 1 % of the core-seconds, and the probe of such a run "
            "is not believed",
            costly=found.costly,
            **known,
        ),
        NoCorrection.FEW_LOOKS: _(
            "{telling} of its {runs} runs have looks enough at the host, and {needed} are needed; longer runs have "
            "room for more",
            telling=found.telling,
            **known,
        ),
        NoCorrection.UNTOLD: _("they did not move with what the probe cost, as on a quiet host"),
    }[found.why]
