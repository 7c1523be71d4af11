"""The sentences of each reason: of several the first is said whose fields are all there, so the fullest comes first.

A field is what `FIELDS` makes of a figure; a condition is a figure that the reason has, or `by_cost` where `by` is
`cost`.
"""

from __future__ import annotations

from collections.abc import Mapping

from sizer.records.prediction import ReasonCode as Code
from sizer.words.language import N_

SENTENCES: Mapping[Code, tuple[str, ...]] = {
    # Why there is no model, or no prediction.
    Code.NOT_FITTED: (N_("`{workload}` has no model."),),
    Code.NO_RUN_COMPLETED: (
        N_("What {numbers} accelerators make is not known: no run with as many completed ({outcomes})."),
        N_("Not enough data: no run of `{workload}` completed ({outcomes})."),
        N_("Not enough data: all stored runs of `{workload}` isolate one stage."),
    ),
    Code.TOO_FEW_VALUES: (
        N_("Not enough data: `{workload}` was measured with `{axis}` {values} alone, and three values are needed."),
        N_("The rows of `{workload}` differ in nothing that the model predicts; they are compared as they are."),
    ),
    Code.NOT_MEASURED: (
        N_(
            "`{workload}` computes on the CPU, with {instructions_measured}; {there} computes with {instructions}, so "
            "its rate there cannot be told from here."
        ),
        N_(
            "How fast the CPU of {there} is[[ ({cpu})]] was not published, "
            "so the rate of `{workload}` there is not known."
        ),
        N_("`{workload}` was not measured on [[{gpu}, only on {gpus_measured}]][[{disk}, only on {disks_measured}]]."),
    ),
    Code.NOT_IN_TABLE: (N_("The table has no `{column}` for `{workload}`, so other sizes cannot be predicted."),),
    Code.NOT_RECORDED: (
        N_(
            "The data set size of `{workload}` was not recorded, so it cannot be compared with {data}. Say "
            "how many times as large it is with --data-factor."
        ),
        N_(
            "[[column?The data set size of `{workload}` was not recorded, so it is not known how much of a "
            "larger one the page cache would hold. Measure it with its data, or import it with "
            "`dataset_gib`.]][[!column?The disk reads of `{workload}` were not measured, so another disk "
            "cannot be predicted from its rates.]]"
        ),
    ),
    Code.MIXED_PROGRAMS: (N_("The runs of `{workload}` are of several programs: {programs}."),),
    Code.RELATIVE_HAS_NO_TIME: (
        N_(
            "The table's rates are only relative to one another, so no time and no rate can be asked of them; "
            "leave out --samples, --within and --at-least, or import rates in samples per second."
        ),
    ),
    Code.FACTOR_NOT_POSITIVE: (N_("A speed-up or a factor must be above 0, for example 2."),),
    Code.NO_GPU_TO_SPEED_UP: (N_("`{workload}` was measured without a GPU, so there is none to speed up."),),
    Code.STEP_NOT_SEPARATE: (
        N_("`{workload}` computes its step on the CPU that also decodes, and no run separates the two."),
    ),
    # How the rate goes with a size.
    Code.BEST_MEASURED: (N_("Its best measured rate is {rate}[[ ({where})]]."),),
    Code.STOPS_SCALING: (
        N_("It is fastest at about {fastest_at} and slower with more."),
        N_("More than {fewest}, the fewest measured, do not make it faster."),
        N_("It stops scaling at about {vcpus}."),
    ),
    Code.RISES: (
        N_(
            "The rate still rises at [[{vcpus}]][[{gpus}]][[a batch of {batch}]][[{memory} of memory]], the "
            "most measured[[: twice as much should gain {gain}]]."
        ),
    ),
    Code.GAIN_UNKNOWN: (
        N_("Nothing was measured between {fewer} and {vcpus}, where the rate may stop rising: fewer may be enough."),
        N_(
            "It is not clear whether more than [[{vcpus}]][[{gpus}]][[{memory} of memory]], the most "
            "measured, would make it faster[[: twice as much should change the rate by {change}]][[; the "
            "probability of more than {worth} is {chance}]]."
        ),
    ),
    Code.SIZE_OPEN: (
        N_(
            "{vcpus} is [[most?the most measured]][[!most?the smallest size that is probably enough]]; it is "
            "not known whether it is the right size."
        ),
    ),
    Code.BEYOND: (
        N_("{vcpus} would take {time} (extrapolated)."),
        N_(
            "{larger} would give about {rate} (extrapolated[[!busy?, by the curve alone]]).[[ About {busy} "
            "vCPUs ({busy_low} to {busy_high}) keep the {accelerator} busy.]]"
        ),
    ),
    Code.FEWER_NOT_MEASURED: (N_("Fewer than {vcpus} were not measured."),),
    Code.NOT_VARIED: (
        N_("[[{vcpus}]][[{memory} of memory]] is what was measured, not what is needed: no other size was measured."),
    ),
    Code.COUNTS_NOT_TOGETHER: (
        N_("What {numbers} accelerators make is not compared: all else was not [[as with {others}]][[!others?alike]]."),
    ),
    # How it does against what is asked for.
    Code.GIVES: (
        N_(
            "[[With {vcpus} it]][[!vcpus?It]] reaches {share} of the best rate in the measured range "
            "({rate}[[ with {best}]])."
        ),
        N_("Reaches {share} of the best rate[[, {bound}]]."),
        N_("Reaches {of_target} of the target[[, {bound}]]."),
        N_(
            "[[same_price?At the same price the answer is surer to be fast enough]][[!same_price?The same work costs "
            "{cost} as much there, but the answer is surer to be fast enough]]: its probability is {surer_chance}, and "
            "{chance} here."
        ),
        N_("Gives {rate}; the probability that it reaches {needed} is {chance}."),
        N_("The probability that it reaches the target is {chance}."),
        N_("[[by_cost_and_time?Gives {rate}; price times time is {cost} as much there.]]"),
        N_("Gives {rate}[[, {speed} as fast]][[; the same work costs {cost} as much there]]."),
    ),
    Code.JOB_TAKES: (
        N_(
            "{samples} take {time} at the steady rate, plus the time to start. The probability of finishing within "
            "{within} is {chance}.[[doubtful? These runs are in doubt, and with them that probability.]]"
        ),
        N_("Takes {time}, in time[[, {bound}]]; the job costs {dearer}."),
        N_("Takes {time} and is in time with a probability of {chance}[[; {bound}]]."),
        N_("Takes {time}, too late[[, {bound}]]."),
        N_("In time."),
    ),
    Code.JOB_COSTS: (
        N_("The job costs about {usd}[[ on {instance}]], by its hourly price and the expected time."),
        N_("The cost of the job is not known: no instance type of the catalogue that fits has a price."),
    ),
    Code.LATENCY: (
        N_(
            "99 of 100 batches take at most {latency} there; the probability that a new run keeps "
            "{most_latency} is {chance}."
        ),
        N_("Its p99 latency is {latency}, and {most_latency} is asked for."),
        N_("[[most_latency?Its p99 latency was not measured.]]"),
        N_("No run tells a p99 latency: inference that sizer runs does, and a table with a column `latency_p99_ms`."),
    ),
    Code.NONE_ENOUGH: (
        N_(
            "Nothing that was measured finishes {samples} within {within} with a probability of {sure}. The "
            "fastest, {machine}, takes {time}; the probability that it is in time is {chance}.[[ There it is "
            "{bound}.]][[ {enough} would be enough there.]]"
        ),
        N_(
            "No configuration measured gives {needed} within a p99 latency of {most_latency}; {machine} gives "
            "{rate} and takes {latency}."
        ),
        N_("No configuration measured keeps a p99 latency of {most_latency}; the least is {latency}, with {machine}."),
        N_(
            "No machine measured gives {needed}; the likeliest, {machine}, gives {rate}.[[ There it is "
            "{bound}.]][[ {enough} would be enough there.]]"
        ),
    ),
    Code.WOULD_HELP: (
        N_("[[bottleneck_cpu?More vCPUs do not help there; a cheaper decoder would.]]"),
        N_("[[bottleneck_serial?More vCPUs do not help there; the part that uses one core must become faster.]]"),
        N_("[[bottleneck_disk_bandwidth?A disk with more MB/s would help.]]"),
        N_("[[bottleneck_disk_iops?A disk with more IOPS, or larger reads, would help.]]"),
        N_("[[bottleneck_disk_write?A disk that writes faster would help.]]"),
        N_("[[bottleneck_accelerator?A faster accelerator, or more of them, would help.]]"),
        N_("[[bottleneck_memory?More memory would help.]]"),
        N_("[[bottleneck?More vCPUs do not help there; another disk or a larger batch would tell what does.]]"),
        N_("Whether more vCPUs would help was not measured."),
    ),
    Code.CHOICE_CLOSE: (
        N_("[[event_reaches_target?The probability that it keeps {share} of the best rate is {chance}.]]"),
        N_("[[event_none_faster?Others are close: the probability that none is {little} faster is {chance}.]]"),
        N_(
            "[[event_none_better?Others are close: none has {little} less cost × time with a probability of {chance}.]]"
        ),
        N_("Others are close: the probability that none is {little} cheaper is {chance}."),
    ),
    # What holds it back.
    Code.BOUND_BY: (N_("There it is {bound} (shares: {shares}[[; accounting: {accounted}]])."),),
    Code.BOTTLENECK_UNKNOWN: (
        N_("There is no clear bottleneck there: the model says {shares}, accounting says {accounted}."),
        N_(
            "The bottleneck there is not known[[one_size?: one vCPU value cannot tell a serial part from what "
            "others took]][[; the model's best guess from these runs is {shares}]]."
        ),
    ),
    Code.NEXT_LIMIT: (
        N_("The smallest upgrade that moves the bottleneck is {spec}: {gain} faster, then {bound}."),
        N_("Without that limit it would be {gain} faster, up to the next one ({next})."),
    ),
    Code.HELD_BACK: (
        N_("With synthetic input the same accelerators gave {rate}, {speed} as fast: the input holds them back."),
        N_(
            "With synthetic input each of {gpus} keeps {share} of its rate beside {fewer}: the exchange "
            "between them, or their host, holds them back."
        ),
    ),
    Code.OTHER_INPUT: (N_("All rows are with {input} input, so with data from a disk the job may be slower."),),
    Code.OTHER_DISK: (
        N_("It loses {loss} by its disk, more than the {most_loss} that a disk may cost."),
        N_("Compared with {disk}, a faster disk gains {gain}: {other}[[ gives {then} instead of {now}]]."),
        N_("No measured disk is faster than {disk} for this job; {other} [[loses {loss}]][[!loss?is as fast]]."),
        N_(
            "The disk takes {share} of the time on the [[only?only]][[!only?fastest]] tier measured; a faster "
            "one may pay."
        ),
    ),
    Code.EMULATED: (
        N_("The {disk} is emulated: limited to its IOPS and MB/s, without its latency and its bursts."),
        N_("Each step waits for as long as the {accelerator} takes: {told}."),
        N_("Each step waits for as long as the {accelerator} takes[[ ({beside})]]."),
    ),
    # How much memory.
    Code.OUT_OF_MEMORY: (
        N_("What {numbers} accelerators make is not compared: they run out of memory where the others were."),
        N_("Runs out of memory."),
    ),
    Code.MEMORY_FLOOR: (
        N_("{clause}."),
        N_(
            "The memory floor is between {low} and {high}[[: with {caps_killed} it ran out of memory, with "
            "{caps_held} it completed]].[[pipeline_alone? That is the input pipeline alone; the framework of "
            "a real GPU needs more.]]"
        ),
        N_("It completed with every memory cap that was tried, the smallest {high}; the memory floor may be lower."),
        N_(
            "It ran out of memory with every memory cap measured ({caps_killed}), so the memory floor is "
            "above the largest."
        ),
        N_(
            "The runs needed {memory} of memory that cannot be dropped.[[pipeline_alone? That is the input "
            "pipeline alone; the framework of a real GPU needs more.]]"
        ),
    ),
    Code.FEW_MEMORY_CAPS: (
        N_(
            "Between {low} and {high} of memory its rate differs by {apart}[[ ({rate_low} and {rate_high} "
            "with {vcpus})]]. That [[clear?is more than]][[!clear?may be]] chance. Two sizes are no curve: "
            "[[predicted?what less than {low} does to the rate is not known]][[!predicted?no rate between or "
            "beyond them is predicted]].[[ Runs with {more} would tell more.]]"
        ),
        N_(
            "It completed in {memory} alone, so what another size does to its rate is not known. Runs with "
            "{more} would tell more."
        ),
        N_("It ran in {memory}, the only memory cap measured; what less or more would do is not known."),
    ),
    Code.LESS_MEMORY: (
        N_("{memory} rather than {untried}, because no rate was measured below {rated}."),
        N_("{memory} rather than {untried}, because no cap below {held} is known to be enough."),
        N_("Less than {memory} is enough, but may be slower."),
        N_("Between {low} and {high} of memory only completion was tried, not the rate."),
        N_("Whether {untried} is enough was not measured."),
    ),
    # Which of the machines that were measured, and what it costs there, on the next and on the fastest.
    Code.BEST_OF_MACHINES: (
        N_("[[only_priced?A million {units} cost {usd} on {where}, the only machine with a known price.]]"),
        N_(
            "[[by_cost?The work costs the least on {where}, of {compared}.]][[by_cost_and_time?On {where} "
            "price times time is the least of {compared}.]][[nearly?It costs least of those within 1 % of the "
            "fastest of {compared}.]][[fastest?It is the fastest of {compared}.]][[ A million {units} cost "
            "{usd} there.]]"
        ),
    ),
    Code.ONLY_MACHINE: (
        N_(
            "It is the only [[input?machine measured with {input} input]][[!input?configuration measured]]: "
            "whether another costs less or is faster is not known."
        ),
    ),
    Code.UNPRICED: (
        N_(
            "[[by_currency?By prices in {currency} the work costs the least on {where}, of {compared}.]] To compare "
            "with prices in US dollars, say what one is worth: `--rate {currency}=0.14`."
        ),
        N_("[[by_disk?It is the cheapest disk that costs the job at most 2 % of its rate.]]"),
        N_("[[nearly?It is the smallest of those within 1 % of the fastest of {compared}; its price is not known.]]"),
        N_("[[by_rate?It is the fastest of {compared}; its price is not known.]]"),
        N_("[[by_size?It is the smallest of {compared} that is fast enough.]]"),
        N_(
            "No [[spot?spot ]]price of these machines is known, so this one makes the most of each "
            "accelerator and may not cost least."
        ),
    ),
    Code.BESIDE: (
        N_("The same work costs {cost} as much on {machine}, {speed} as fast; --target {target} accepts that."),
        N_(
            "{which} {machine}[[ with {fastest_rate}]]: {speed} as fast[[; the same work costs {cost} as "
            "much]][[!cost?; its price is not known]]."
        ),
        N_("{machine} gives it with a probability of {chance}[[, where the same work costs {cost} as much]]."),
    ),
    Code.BASELINE: (
        N_(
            "{answer_usd} an hour ({answer_instance}) instead of {baseline_usd}[[!named? ({instance})]] for "
            "{baseline}: {dearer}, at {at_rate}."
        ),
        N_(
            "[[baseline_usd?Against {baseline}: no saving, {answer_usd} an hour for either "
            "({answer_instance}), at {at_rate}.]]"
        ),
        N_("Against {baseline}: at {at_rate}. The saving is not known, because one of the two prices is not known."),
        N_("{instance} cannot be compared for this job: its rate there is not known."),
    ),
    # What is sold.
    Code.SMALLEST_SOLD: (
        N_("{vcpus} is the smallest size sold with at least {judged}, which its rate is known of."),
        N_(
            "{memory} is the least that families offer with {vcpus}[[: the job needs {needed_memory}, the "
            "memory that cannot be dropped plus a margin]][[: the least known to be enough is {held}]]."
        ),
        N_("{memory} is the smallest size sold in which the job is known to run at its full rate."),
    ),
    Code.NOT_SOLD: (
        N_("Families offer at most {most} with {vcpus}[[, not {memory}: take a size with more vCPUs]]."),
        N_("Fractions of a vCPU are not sold."),
    ),
    Code.PRICES: (
        N_("Not ranked by cost for lack of a known price: {unknown} of {machines} machines."),
        N_("[[known?Prices are those of spot machines, which the provider may take back at any time.]]"),
        N_("[[spot?No spot price of these machines is known.]]"),
        N_(
            "A price in {currency} is compared with no other currency: say what one is worth in US dollars, such as "
            "`--rate {currency}=0.14`."
        ),
        N_("Its price is of {old_day}, older than a year."),
        N_("[[undated?Nobody knows of which day its price is.]]"),
        N_("{volume} of {disk} cost {whole_usd} a month, {bought_usd} of it for IOPS and MB/s beside the size."),
        N_("Price unknown."),
    ),
    Code.RETIRED: (
        N_(
            "Nobody can rent {retired} any more: [[all?import rates of machines that are sold, which `sizer catalog "
            "list` shows without `retired`]][[!all?measured, but no choice]]."
            "[[ {nearest}]]"
        ),
        N_(
            "Nobody can rent a machine with this GPU[[listed? at a known price]] any more (retired "
            "{year}).[[ {nearest}]]"
        ),
    ),
    # What to know of an instance type.
    Code.OTHER_HARDWARE: (
        N_("Has {gpu_count} GPUs; the job was measured with {used}."),
        N_(
            "[[arm?ARM cores.]][[gpu_count?Has a GPU that the job does not use.]][[unknown_gpu?It is not known whether "
            "its GPU is the one that was measured.]]"
        ),
    ),
    Code.TRANSFERRED: (
        N_("Transferred from {measured_on} to {cpu}, of which one busy thread is {faster} times as fast."),
    ),
    Code.DISK_CAPPED: (
        N_("[[Caps network disks at {cap}; this rate reads and writes {moved}.]]"),
        N_("[[Caps network disks at {cap_ios}; this rate takes {ios}.]]"),
    ),
    Code.FIGURES_UNSURE: (N_("Figures: {confidence}."),),
    # What the runs say against an answer, and what one more would settle.
    Code.ONLY_MEASURED_SIZES: (N_("No axis was measured at three values, so only what was measured is compared."),),
    Code.RATE_CONTRADICTED: (
        N_(
            "In {mistold} of {completed} runs the log [[correct_units?tells another rate than its lines come "
            "at]][[correct_batches?most likely tells a rate of batches]][[correct_counter?most likely has a "
            "line of each of several processes]], so neither samples a second nor what they cost are known: "
            "[[correct_batches?give `batches` in place of `rate` in the pattern]][[correct_counter?let one of "
            "them print, or let the pattern read a counter (`step`), too]][[correct_units?check the unit of "
            "the pattern's groups]].[[!alike? They are not all wrong alike, so another spec may be the "
            "answer.]]"
        ),
    ),
    Code.JOBS_MIXED: (
        N_(
            "Rows of one configuration differ by a factor of up to {ratio}, and in {columns}: they may be "
            "different jobs."
        ),
    ),
    Code.RUNS_APART: (
        N_(
            "[[slower?One rate looks like a slip: with {fewer} instead of {machine} it was {factor} as "
            "fast; check both.]]"
        ),
        N_("One rate looks like a slip: {machine} is {factor} as fast as in proportion to {fewer}; check both."),
        N_(
            "Runs of {machine} are {factor} apart: one of them is a slip, and no answer is reliable until it "
            "is corrected."
        ),
    ),
    Code.RUNS_DOUBTFUL: (N_("In {doubtful} of {completed} runs the rate is {doubts}."),),
    Code.RUNS_FAILED: (N_("{failed} of {runs} runs gave no rate ({outcomes})."),),
    Code.RUNS_STARVED: (
        N_(
            "In {starved} of {completed} runs others had a part of the vCPUs, so the rate is a lower bound: "
            "measure on a quiet host."
        ),
        N_(
            "Others used the CPUs of this host in every run of `{workload}`, so no rate shows what it needs; "
            "measure on a quiet host."
        ),
    ),
    Code.MEASURED_BESIDE_OTHERS: (
        N_(
            "Measured there were {measured_rate} while something else used {cores} cores of the host; {rate} "
            "are what the fitted curve, which rests on all runs, makes of it."
        ),
    ),
    Code.RUN_WOULD_SETTLE: (
        N_("Of all runs, one more with {spec} would tell most."),
        N_("The rate still rises at the most measured; if it no longer does at {larger}, the knee is found."),
        N_("The study's plan has runs that are not made yet."),
    ),
}
