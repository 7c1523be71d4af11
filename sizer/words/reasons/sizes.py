"""How the rate goes with a size, against what is asked for, what holds it back, and how much memory it needs."""

from __future__ import annotations

from sizer.records.prediction import ReasonCode as Code
from sizer.words.reasons.templates import Sentences, first_of
from sizer.words.reasons.templates import marked as _

SENTENCES: Sentences = {
    # How the rate goes with a size.
    Code.BEST_MEASURED: first_of(_("Its best measured rate is {rate}[[ ({where})]].")),
    Code.STOPS_SCALING: first_of(
        _("It is fastest at about {fastest_at} and slower with more."),
        _("More than {fewest}, the fewest measured, do not make it faster."),
        _("It stops scaling at about {vcpus}."),
    ),
    Code.RISES: first_of(
        _("The rate still rises at {vcpus}, the most measured[[: {doubled} should gain {gain}]]."),
        _(
            "The rate still rises at [[{gpus}]][[a batch of {batch}]], the most measured: twice as much should gain "
            "{gain}."
        ),
        _("The rate still rises at {memory} of memory, the most measured."),
    ),
    Code.GAIN_UNKNOWN: first_of(
        _(
            "It is not clear whether more vCPUs pay: {doubled} should change the rate by {change}; the probability of "
            "more than {worth} is {chance}."
        ),
        _("It is not clear whether more than {gpus} pay: twice as many should change the rate by {change}."),
        _("Nothing was measured between {fewer} and {vcpus}, where the rate may stop rising: fewer may be enough."),
        _("It is not clear whether more than {vcpus}, the most measured, would make it faster."),
        _("It is not clear whether more than {memory} of memory, the most measured, would make it faster."),
    ),
    Code.SIZE_OPEN: first_of(
        _(
            "{vcpus} is [[most?the most measured]][[!most?the smallest size that is probably enough]]; it is not "
            "known whether it is the right size."
        )
    ),
    Code.BEYOND: first_of(
        _("{vcpus} would take {time} (extrapolated)."),
        _(
            "Beyond {vcpus} (extrapolated, strong: the ceiling of the {accelerator} is known), about {busy} vCPUs "
            "({busy_low} to {busy_high}) keep it busy; {larger} would give about {rate}."
        ),
        _("Beyond {vcpus} (extrapolated, weak: by the curve alone), {larger} would give about {rate}."),
    ),
    Code.FEWER_NOT_MEASURED: first_of(_("Fewer than {vcpus} were not measured.")),
    Code.NOT_VARIED: first_of(
        _("{vcpus} is what was measured, not what is needed: no other size was measured."),
        _("{memory} of memory is what was measured, not what is needed: no other size was measured."),
    ),
    Code.COUNTS_NOT_TOGETHER: first_of(
        _("What {numbers} accelerators make is not compared: all else was not as with {others}."),
        _("What one more accelerator buys is not known: {numbers} of them were not measured with all else alike."),
    ),
    # How it does against what is asked for.
    Code.GIVES: first_of(
        _("With {vcpus} it reaches {share} of the best rate in the measured range ({rate}[[ with {best}]])."),
        _("It reaches {share} of the best rate in the measured range ({rate})."),
        _("Reaches {share} of the best rate[[, {bound}]]."),
        _("Reaches {of_target} of the target[[, {bound}]]."),
        _("Gives {rate}; the probability that it reaches {needed} is {chance}."),
        _("The probability that it reaches the target is {chance}."),
        _("Gives {rate}; price times time is {cost} as much there.", by="cost_and_time"),
        _("Gives {rate}[[, {speed} as fast]][[; the same work costs {cost} as much there]]."),
    ),
    Code.JOB_TAKES: first_of(
        _(
            "{samples} take {time} at the steady rate, plus the time to start. The probability of finishing within "
            "{within} is {chance}."
        ),
        _("Takes {time}, in time[[, {bound}]]; the job costs {dearer}."),
        _("Takes {time} and is in time with a probability of {chance}[[; {bound}]]."),
        _("Takes {time}, too late[[, {bound}]]."),
        _("In time."),
    )
    + first_of(_("These runs are in doubt, and with them that probability.", doubtful=True)),
    Code.JOB_COSTS: first_of(
        _("The job costs about {usd}[[ on {instance}]], by its hourly price and the expected time."),
        _("The cost of the job is not known: no instance type of the catalogue that fits has a price."),
    ),
    Code.LATENCY: first_of(
        _(
            "99 of 100 batches take at most {latency} there; the probability that a new run keeps {most_latency} is "
            "{chance}."
        ),
        _("Its p99 latency is {latency}, and {most_latency} is asked for."),
        _("Its p99 latency was not measured.", most_latency=True),
        _("No run tells a p99 latency: inference that sizer runs does, and a table with a column `latency_p99_ms`."),
    ),
    Code.NONE_ENOUGH: first_of(
        _(
            "Nothing that was measured finishes {samples} within {within} with a probability of {sure}. The fastest, "
            "{machine}, takes {time}; the probability that it is in time is {chance}."
        ),
        _(
            "No configuration measured gives {needed} within a p99 latency of {most_latency}; {machine} gives {rate} "
            "and takes {latency}."
        ),
        _("No configuration measured keeps a p99 latency of {most_latency}; the least is {latency}, with {machine}."),
        _("No machine measured gives {needed}; the likeliest, {machine}, gives {rate}."),
    )
    + first_of(_("There is no clear bottleneck there.", bottleneck="ambiguous"), _("There it is {bound}."))
    + first_of(_("{enough} would be enough there.")),
    Code.WOULD_HELP: first_of(
        _("More vCPUs do not help there; a cheaper decoder would.", bottleneck="cpu"),
        _("More vCPUs do not help there; the part that uses one core must become faster.", bottleneck="serial"),
        _("A disk with more MB/s would help.", bottleneck="disk_bandwidth"),
        _("A disk with more IOPS, or larger reads, would help.", bottleneck="disk_iops"),
        _("A disk that writes faster would help.", bottleneck="disk_write"),
        _("A faster accelerator, or more of them, would help.", bottleneck="accelerator"),
        _("More memory would help.", bottleneck="memory"),
        _("More vCPUs do not help there; another disk or a larger batch would tell what does.", bottleneck="ambiguous"),
        _("Whether more vCPUs would help was not measured."),
    ),
    # What holds it back.
    Code.BOUND_BY: first_of(_("There it is {bound} (shares: {shares}[[; accounting: {accounted}]]).")),
    Code.BOTTLENECK_UNKNOWN: first_of(
        _(
            "The bottleneck there is not known: one vCPU value cannot tell a serial part from what others took.",
            one_size=True,
        ),
        _("There is no clear bottleneck there: the model says {shares}, accounting says {accounted}."),
        _("The bottleneck there is not known[[; the model's best guess from these runs is {shares}]]."),
    ),
    Code.NEXT_LIMIT: first_of(
        _("The smallest upgrade that moves the bottleneck is {spec}: {gain} faster, then {bound}."),
        _("Without that limit it would be {gain} faster, up to the next one ({next})."),
    ),
    Code.HELD_BACK: first_of(
        _("With synthetic input the same accelerators gave {rate}, {speed} as fast: the input holds them back."),
        _(
            "With synthetic input each of {gpus} keeps {share} of its rate beside {fewer}: the exchange between them, "
            "or their host, holds them back."
        ),
    ),
    Code.OTHER_INPUT: first_of(_("All rows are with {input} input, so with data from a disk the job may be slower.")),
    Code.OTHER_DISK: first_of(
        _("It loses {loss} by its disk, more than the {most_loss} that a disk may cost."),
        _("Compared with {disk}, a faster disk gains {gain}: {other}[[ gives {then} instead of {now}]]."),
        _("No measured disk is faster than {disk} for this job; {other} [[loses {loss}]][[!loss?is as fast]]."),
        _(
            "The disk takes {share} of the time on the [[only?only]][[!only?fastest]] tier measured; a faster one may "
            "pay."
        ),
    ),
    Code.EMULATED: first_of(
        _("The {disk} is emulated: limited to its IOPS and MB/s, without its latency and its bursts."),
        _("Each step waits for as long as the {accelerator} takes: {told}."),
        _("Each step waits for as long as the {accelerator} takes[[ ({beside})]]."),
    ),
    # How much memory.
    Code.OUT_OF_MEMORY: first_of(
        _("What {numbers} accelerators make is not compared: they run out of memory where the others were."),
        _("Runs out of memory."),
    ),
    Code.MEMORY_FLOOR: first_of(
        _("{clause}."),
        _(
            "The memory floor is between {low} and {high}[[: with {caps_killed} it ran out of memory, with "
            "{caps_held} it completed]]."
        ),
        _("It completed with every memory cap that was tried, the smallest {high}; the memory floor may be lower."),
        _(
            "It ran out of memory with every memory cap measured ({caps_killed}), so the memory floor is above the "
            "largest."
        ),
        _("The runs needed {memory} of memory that cannot be dropped."),
    )
    + first_of(
        _(
            "That is the input pipeline alone; the framework of a real GPU needs more.",
            pipeline_alone=True,
            searched=False,
        )
    ),
    Code.FEW_MEMORY_CAPS: first_of(
        _("With {vcpus} it ran at {rate_low} in {low} and at {rate_high} in {high}: they differ by {apart}."),
        _("Between {low} and {high} of memory its rate differs by {apart}."),
        _("It completed in {memory} alone, so what another size does to its rate is not known.", more=True),
        _("It ran in {memory}, the only memory cap measured; what less or more would do is not known."),
    )
    + first_of(_("That [[clear?is more than]][[!clear?may be]] chance.", low_bytes=True))
    + first_of(
        _("Two sizes are no curve: what less than {low} does to the rate is not known.", predicted=True),
        _("Two sizes are no curve: no rate between or beyond them is predicted.", low_bytes=True),
    )
    + first_of(_("Runs with {more} would tell more.")),
    Code.LESS_MEMORY: first_of(
        _("{memory} rather than {untried}, because no rate was measured below {rated}."),
        _("{memory} rather than {untried}, because no cap below {held} is known to be enough."),
        _("Less than {memory} is enough, but may be slower."),
        _("Between {low} and {high} of memory only completion was tried, not the rate."),
        _("Whether {untried} is enough was not measured."),
    ),
}
