"""Which of the machines that were measured, what is sold, and what it costs there, on the next and on the fastest."""

from __future__ import annotations

from sizer.records.prediction import ReasonCode as Code
from sizer.words.reasons.templates import Sentences, first_of
from sizer.words.reasons.templates import marked as _

SENTENCES: Sentences = {
    Code.BEST_OF_MACHINES: first_of(
        _("A million {units} cost {usd} on {where}, the only machine with a known price.", only_priced=True),
        _("A million {units} cost {usd} on {where}, the least of {all}.", by="cost"),
        _("A million {units} cost {usd} on {where}; price times time is the least of {all}.", by="cost_and_time"),
        _("The same work costs the least on {where}, of {all}.", by="cost"),
        _("On {where} price times time is the least of {all}.", by="cost_and_time"),
        _(
            "[[nearly?It costs least of those within 1 % of]][[!nearly?It is]] the fastest of {all}[[; a million "
            "{units} cost {usd} on {where}]]."
        ),
    ),
    Code.ONLY_MACHINE: first_of(
        _(
            "It is the only [[input?machine measured with {input} input]][[!input?configuration measured]]: whether "
            "another costs less or is faster is not known."
        )
    ),
    Code.UNPRICED: first_of(
        _("It is the cheapest disk that costs the job at most 2 % of its rate.", by="disk"),
        _("It is the smallest of those within 1 % of the fastest of {all}; its price is not known.", nearly=True),
        _("It is the fastest of {all}; its price is not known.", by="rate"),
        _("It is the smallest of {all} that is fast enough.", by="size"),
        _(
            "No [[spot?spot ]]price of these machines is known, so this one makes the most of each accelerator and "
            "may not cost least."
        ),
    ),
    Code.CHOICE_CLOSE: first_of(
        _("The probability that it keeps {share} of the best rate is {chance}.", event="reaches_target"),
        _("Others are close: the probability that none is {alike} faster is {chance}.", event="none_faster"),
        _("Others are close: the probability that none has {alike} less cost × time is {chance}.", event="none_better"),
        _("Others are close: the probability that none is {alike} cheaper is {chance}."),
    ),
    Code.BESIDE: first_of(
        _("The same work costs {cost} as much on {machine}, {speed} as fast; --target {target} accepts that."),
        _(
            "{which} {machine}[[ with {fastest_rate}]]: {speed} as fast[[, {cost} the cost of the same "
            "work]][[!cost?; its price is not known]]."
        ),
        _("{machine} gives it with a probability of {chance}[[, at {cost} the cost of the same work]]."),
    ),
    Code.BASELINE: first_of(
        _(
            "{answer_usd} an hour ({answer_instance}) instead of {baseline_usd}[[!named? ({instance})]] for "
            "{baseline}: {dearer}, at {at_rate}."
        ),
        _(
            "Against {baseline}: no saving, {answer_usd} an hour for either ({answer_instance}), at {at_rate}.",
            baseline_usd=True,
        ),
        _("Against {baseline}: at {at_rate}. The saving is not known, because one of the two prices is not known."),
        _("{instance} cannot be compared for this job: its rate there is not known."),
    ),
    # What is sold.
    Code.SMALLEST_SOLD: first_of(
        _("{vcpus} is the smallest size sold with at least {judged}, which its rate is known of."),
        _(
            "The job needs {needed_memory}, the memory that cannot be dropped plus a margin; the next size that "
            "families offer with {vcpus} is {memory}."
        ),
        _("The least known to be enough is {held}; the next size that families offer with {vcpus} is {memory}."),
        _("{memory} is the least that families offer with {vcpus}."),
        _("{memory} is the smallest size sold in which the job is known to run at its full rate."),
    ),
    Code.NOT_SOLD: first_of(
        _("No family offers {memory} with {vcpus}, only {most}: take a size with more vCPUs."),
        _("Families offer at most {most} with {vcpus}."),
        _("Fractions of a vCPU are not sold."),
    ),
    Code.PRICES: first_of(
        _("Not ranked by cost for lack of a known price: {unknown} of {machines} machines."),
        _("No spot price of these machines is known.", spot=True, known=False),
        _("Prices are those of spot machines, which the provider may take back at any time.", spot=True),
        _("Price unknown."),
    ),
    Code.RETIRED: first_of(
        _(
            "Nobody can rent what was measured any more: {retired}; import rates of machines that are sold, which "
            "`sizer catalog list` shows without `retired`.",
            all=True,
        ),
        _("Nobody can rent {retired} any more: measured, but neither compared nor counted in a cost."),
        _("Nobody can rent a machine with this GPU[[listed? at a known price]] any more (retired {year})."),
    ),
    # What to know of an instance type.
    Code.OTHER_GPUS: first_of(
        _("Has {gpu_count} GPUs; the job was measured with {used}."),
        _("Has a GPU that the job does not use.", gpu_count=True),
        _("It is not known whether its GPU is the one that was measured."),
    ),
    Code.ARM: first_of(_("ARM cores.")),
    Code.DISK_CAPPED: first_of(_("Caps network disks at {cap}; this rate reads {reads}.")),
    Code.FIGURES_UNSURE: first_of(_("Figures: {confidence}.")),
}
