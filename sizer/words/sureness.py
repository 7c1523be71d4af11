"""How sure an answer is: a probability with its event, and what speaks against it."""

from __future__ import annotations

from sizer.recommend.table import ALIKE as SAME_COST
from sizer.recommend.table import SURE
from sizer.records.answer import Answer, Event
from sizer.records.prediction import ReasonCode
from sizer.words.figures import chance
from sizer.words.language import _
from sizer.words.names import Terms, spec_name
from sizer.words.units import percent


def how_sure(answer: Answer | None, unfinished: bool = False) -> str:
    """`very likely (0.97) to reach the target`, or why there is no probability: that of a lower bound is that less is
    too little, and what speaks against an answer stands in the place of a word that would be surer than its runs; in
    that of the figure, too, where no answer is reliable.
    """
    if unfinished:
        return _("runs are missing")
    if answer is None or (answer.status == "refused" and answer.job is None):
        return ""
    slip = _slip(answer)
    if slip:
        return slip
    doubt = _doubted(answer) if answer.provisional else ""
    likely, event = answer.probability, answer.probability_of
    if answer.job is not None:
        likely, event = answer.job.probability, Event.IN_TIME
    if likely is None or event is None:
        return doubt or (_("more may be faster") if answer.status == "at_least" else "")
    if answer.provisional and likely >= SURE:
        sure = _of_event(chance(likely), event, answer)
        return _("{sure}; {doubt}", doubt=doubt, sure=sure) if doubt else _("{sure}, by these runs", sure=sure)
    return _of_event(_("{word} ({chance})", word=_likely(likely), chance=chance(likely)), event, answer)


def sure_line(answer: Answer) -> str:
    """How sure the answer is, in a line of its own; empty where there is none, or it is no answer."""
    sure = how_sure(answer) if answer.status != "refused" else ""
    return _("How sure: {sure}.", sure=sure) if sure else ""


def _of_event(sure: str, event: Event, answer: Answer) -> str:
    """What it is the probability of."""
    memory = answer.spec.memory_bytes if answer.spec is not None else None
    fewer = _("{sure} that fewer vCPUs are too few", sure=sure)
    return {
        Event.REACHES_TARGET: _("{sure} to reach the target", sure=sure),
        Event.LESS_TOO_LITTLE: _("{sure} that fewer vCPUs or less memory is too little", sure=sure)
        if memory is not None
        else fewer,
        Event.FEWER_TOO_FEW: fewer,
        Event.NONE_CHEAPER: _none_better(sure, answer, cheaper=True),
        Event.NONE_BETTER: _none_better(sure, answer, cheaper=False),
        Event.NONE_FASTER: _("{sure} that none is {alike} faster", sure=sure, alike=percent(SAME_COST)),
        Event.GIVES_RATE: _("{sure} to give the rate asked for", sure=sure),
        Event.IN_TIME: _("{sure} to be in time", sure=sure),
    }[event]


def _none_better(sure: str, answer: Answer, cheaper: bool) -> str:
    """Where the work costs less on machines that are too slow for what is asked, that they do not count is said."""
    known = {"sure": sure, "alike": percent(SAME_COST)}
    priced, slower = not _some_unpriced(answer), any(each.has("slower_cost_less") for each in answer.reasons)
    if slower and cheaper and not priced:
        return _("{sure} that none with a price that is fast enough is {alike} cheaper", **known)
    if slower and cheaper:
        return _("{sure} that none that is fast enough is {alike} cheaper", **known)
    if slower:
        return _("{sure} that none that is fast enough has {alike} less cost × time", **known)
    if cheaper:
        plain = _("{sure} that none is {alike} cheaper", **known)
        return plain if priced else _("{sure} that none with a price is {alike} cheaper", **known)
    plain = _("{sure} that none has {alike} less cost × time", **known)
    return plain if priced else _("{sure} that none with a price has {alike} less cost × time", **known)


def _some_unpriced(answer: Answer) -> bool:
    """Whether something measured has no known price, so that nobody knows whether it is cheaper."""
    return any(each.code is ReasonCode.UNPRICED or each.has("unknown") for each in answer.reasons)


def _slip(answer: Answer) -> str:
    """Whose rate must be wrong; empty where none is known to be."""
    if any(each.code is ReasonCode.JOBS_MIXED for each in answer.reasons):
        return _("not known: its rows may be of different jobs")
    found = next((each for each in answer.reasons if each.code is ReasonCode.RUNS_APART), None)
    if found is None:
        return ""
    if found.spec is None or found.spec == answer.spec:
        return _("not known: one of its own rates looks like a slip")
    whose = spec_name(found.spec, Terms(answer.workload, answer.sample_unit))
    return _("not known: a rate of {machine} looks like a slip", machine=whose)


def _doubted(answer: Answer) -> str:
    """What speaks against an answer that is likely by its figures; empty where that is none of these."""
    codes = {each.code for each in answer.reasons}
    if ReasonCode.RUNS_DOUBTFUL in codes:
        return _("its readings are in doubt")
    if _some_unpriced(answer):
        return _("prices are missing")
    return _("only one was measured") if ReasonCode.ONLY_MACHINE in codes else ""


def _likely(probability: float) -> str:
    """A probability as a word, by the scale that climate reports use (IPCC, uncertainty guidance of 2010)."""
    if probability > 0.99:
        return _("almost certain")
    if probability >= 0.9:
        return _("very likely")
    if probability >= 0.66:
        return _("likely")
    return _("as likely as not") if probability >= 0.33 else _("unlikely")
