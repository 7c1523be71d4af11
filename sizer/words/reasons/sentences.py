"""The sentences of each reason: of several the first is said whose fields are all there, so the fullest comes first.

A field is what `FIELDS` makes of a figure; a condition is a figure that the reason has, or `by_cost` where `by` is
`cost`.
"""

from __future__ import annotations

from sizer.records.prediction import ReasonCode as Code
from sizer.words.language import Templates

SENTENCES: Templates[Code, str | tuple[str, ...]] = {
    # Why there is no model, or no prediction.
    Code.NOT_FITTED: "`{workload}` has no model.",
    Code.NO_RUN_COMPLETED: (
        "What {numbers} accelerators make is not known: no run with as many completed ({outcomes}).",
        "Not enough data: no run of `{workload}` completed ({outcomes}).",
        "Not enough data: all stored runs of `{workload}` isolate one stage.",
    ),
    Code.TOO_FEW_VALUES: (
        "Not enough data: `{workload}` was measured with `{axis}` {values} alone, and three values are needed.",
        "The rows of `{workload}` differ in nothing that the model predicts; they are compared as they are.",
    ),
    Code.NOT_MEASURED: (
        "`{workload}` computes on the CPU, with {instructions_measured}; {there} computes with "
        "{instructions}, so its rate there cannot be told from here.",
        "[[shared?The vCPUs of {there} are a share of a core, or burst for as long as credits last: what `{workload}` "
        "gets there all the time is not known.]]",
        "How fast the CPU of {there} is[[ ({cpu})]] was not published, so the rate of `{workload}` there is not known.",
        "`{workload}` was not measured on [[{gpu}, only on {gpus_measured}]][[{disk}, only on {disks_measured}]].",
    ),
    Code.NOT_IN_TABLE: "The table has no `{column}` for `{workload}`, so other sizes cannot be predicted.",
    Code.NOT_RECORDED: (
        "The data set size of `{workload}` was not recorded, so it cannot be compared with {data}. Say how "
        "many times as large it is with --data-factor.",
        "[[column?The data set size of `{workload}` was not recorded, so it is not known how much of a "
        "larger one the page cache would hold. Measure it with its data, or import it with "
        "`dataset_gib`.]][[!column?The disk reads of `{workload}` were not measured, so another disk "
        "cannot be predicted from its rates.]]",
    ),
    Code.MIXED_PROGRAMS: "The runs of `{workload}` are of several programs: {programs}.",
    Code.RELATIVE_HAS_NO_TIME: "The table's rates are only relative to one another, so no time and no "
    "rate can be asked of them; leave out --samples, --within and --at-least, or import rates in "
    "samples per second.",
    Code.FACTOR_NOT_POSITIVE: "A speed-up or a factor must be above 0, for example 2.",
    Code.NO_GPU_TO_SPEED_UP: "`{workload}` was measured without a GPU, so there is none to speed up.",
    Code.STEP_NOT_SEPARATE: "`{workload}` computes its step on the CPU that also decodes, and no run "
    "separates the two.",
    # How the rate goes with a size.
    Code.BEST_MEASURED: "Its best measured rate is {rate}[[ ({where})]].",
    Code.STOPS_SCALING: (
        "It is fastest at about {fastest_at} and slower with more.",
        "More than {fewest}, the fewest measured, do not make it faster.",
        "It stops scaling at about {vcpus}.",
    ),
    Code.RISES: "The rate still rises at [[{vcpus}]][[{gpus}]][[a batch of {batch}]][[{memory} of "
    "memory]], the most measured[[: twice as much should gain {gain}]].",
    Code.GAIN_UNKNOWN: (
        "Nothing was measured between {fewer} and {vcpus}, where the rate may stop rising: fewer may be enough.",
        "It is not clear whether more than [[{vcpus}]][[{gpus}]][[{memory} of memory]], the most measured, "
        "would make it faster[[: twice as much should change the rate by {change}]][[; the probability of "
        "more than {worth} is {chance}]].",
    ),
    Code.SIZE_OPEN: "{vcpus} is [[most?the most measured]][[!most?the smallest size that is probably "
    "enough]]; it is not known whether it is the right size.",
    Code.BEYOND: (
        "{vcpus} would take {time} (extrapolated).",
        "{larger} would give about {rate} (extrapolated[[!busy?, by the curve alone]]).[[ About {busy} "
        "vCPUs ({busy_low} to {busy_high}) keep the {accelerator} busy.]]",
    ),
    Code.FEWER_NOT_MEASURED: "Fewer than {vcpus} were not measured.",
    Code.NOT_VARIED: "[[{vcpus}]][[{memory} of memory]] is what was measured, not what is needed: no "
    "other size was measured.",
    Code.COUNTS_NOT_TOGETHER: "What {numbers} accelerators make is not compared: all else was not [[as "
    "with {others}]][[!others?alike]].",
    # How it does against what is asked for.
    Code.GIVES: (
        "[[With {vcpus} it]][[!vcpus?It]] reaches {share} of the best rate in the measured range ({rate}[[ "
        "with {best}]]).",
        "Reaches {share} of the best rate[[, {bound}]].",
        "Reaches {of_target} of the target[[, {bound}]].",
        "[[same_price?At the same price the answer is surer to be fast enough]][[!same_price?The same work "
        "costs {cost} as much there, but the answer is surer to be fast enough]]: its probability is "
        "{surer_chance}, and {chance} here.",
        "Gives {rate}; the probability that it reaches {needed} is {chance}.",
        "The probability that it reaches the target is {chance}.",
        "[[by_cost_and_time?Gives {rate}; price times time is {cost} as much there.]]",
        "Gives {rate}[[, {speed} as fast]][[ for {saving} less an hour]][[; the same work costs {cost} as much "
        "there]].",
    ),
    Code.JOB_TAKES: (
        "{samples} take {time} at the steady rate, plus the time to start. The probability of finishing "
        "within {within} is {chance}.[[doubtful? These runs are in doubt, and with them that "
        "probability.]]",
        "Takes {time}, in time[[, {bound}]]; the job costs {dearer}.",
        "Takes {time} and is in time with a probability of {chance}[[; {bound}]].",
        "Takes {time}, too late[[, {bound}]].",
        "In time.",
    ),
    Code.JOB_COSTS: (
        "The job costs about {usd}[[ on {instance}]], by its hourly price and the expected time.",
        "The cost of the job is not known: no instance type of the catalogue that fits has a price.",
    ),
    Code.LATENCY: (
        "99 of 100 batches take at most {latency} there; the probability that a new run keeps "
        "{most_latency} is {chance}.",
        "Its p99 latency is {latency}, and {most_latency} is asked for.",
        "[[most_latency?Its p99 latency was not measured.]]",
        "No run tells a p99 latency: inference that sizer runs does, and a table with a column `latency_p99_ms`.",
    ),
    Code.NONE_ENOUGH: (
        "[[there?No instance type of a size that was measured]][[!there?Nothing that was measured]] finishes "
        "{samples} within {within} with a probability of {sure}. The "
        "fastest, {machine}, takes {time}; the probability that it is in time is {chance}.[[ There it is "
        "{bound}.]][[ {enough} would be enough there.]]",
        "No configuration measured gives {needed} within a p99 latency of {most_latency}; {machine} gives "
        "{rate} and takes {latency}.",
        "No configuration measured keeps a p99 latency of {most_latency}; the least is {latency}, with {machine}.",
        "[[there?No instance type of a size that was measured]][[!there?No machine measured]] gives {needed}; the "
        "likeliest, {machine}, gives {rate}.[[ There it is {bound}.]][[ {enough} would be enough there.]]",
    ),
    Code.WOULD_HELP: (
        "[[bottleneck_cpu?More vCPUs do not help there; a cheaper decoder would.]]",
        "[[bottleneck_serial?More vCPUs do not help there; the part that uses one core must become faster.]]",
        "[[bottleneck_disk_bandwidth?A disk with more MB/s would help.]]",
        "[[bottleneck_disk_iops?A disk with more IOPS, or larger reads, would help.]]",
        "[[bottleneck_disk_write?A disk that writes faster would help.]]",
        "[[bottleneck_accelerator?A faster accelerator, or more of them, would help.]]",
        "[[bottleneck_memory?More memory would help.]]",
        "[[bottleneck?More vCPUs do not help there; another disk or a larger batch would tell what does.]]",
        "Whether more vCPUs would help was not measured.",
    ),
    Code.CHOICE_CLOSE: (
        "[[event_reaches_target?The probability that it keeps {share} of the best rate is {chance}.]]",
        "[[event_none_faster?Others are close: the probability that none is {little} faster is {chance}.]]",
        "[[event_none_better?Others are close: none has {little} less cost × time with a probability of {chance}.]]",
        "Others are close: the probability that none is {little} cheaper is {chance}.",
    ),
    # What holds it back.
    Code.BOUND_BY: (
        "There it is {bound} (shares: {shares}[[; accounting: {accounted}]]).[[ The GPU computes for {computes} of the "
        "time and waits for the thread that starts its work: a faster GPU would not help; a larger batch, or fewer and "
        "larger kernels, would.]]"
    ),
    Code.BOTTLENECK_UNKNOWN: (
        "There is no clear bottleneck there: the model says {shares}, accounting says {accounted}.",
        "The bottleneck there is not known[[one_size?: one vCPU value cannot tell a serial part from what "
        "others took]][[; the model's best guess from these runs is {shares}]].",
    ),
    Code.NEXT_LIMIT: (
        "The smallest upgrade that moves the bottleneck is {spec}: {gain} faster, then {bound}.",
        "Without that limit it would be {gain} faster, up to the next one ({next}).",
    ),
    Code.HELD_BACK: (
        "With synthetic input the same accelerators gave {rate}, {speed} as fast: the input holds them back.",
        "With synthetic input each of {gpus} keeps {share} of its rate beside {fewer}: the exchange "
        "between them, or their host, holds them back.",
    ),
    Code.OTHER_INPUT: "All rows are with {input} input, so with data from a disk the job may be slower.",
    Code.OTHER_DISK: (
        "It loses {loss} by its disk, more than the {most_loss} that a disk may cost.",
        "Compared with {disk}, a faster disk gains {gain}: {other}[[ gives {then} instead of {now}]].",
        "No measured disk is faster than {disk} for this job; {other} [[loses {loss}]][[!loss?is as fast]].",
        "The disk takes {share} of the time on the [[only?only]][[!only?fastest]] tier measured; a faster one may pay.",
    ),
    Code.EMULATED: (
        "The {disk} is emulated: limited to its IOPS and MB/s, without its latency and its bursts.",
        "Each step waits for as long as the {accelerator} takes: {told}.",
        "Each step waits for as long as the {accelerator} takes[[ ({beside})]].",
    ),
    # How much memory.
    Code.OUT_OF_MEMORY: (
        "What {numbers} accelerators make is not compared: they run out of memory where the others were.",
        "Runs out of memory.",
    ),
    Code.MEMORY_FLOOR: (
        "{clause}.",
        "The memory floor is between {low} and {high}[[: with {caps_killed} it ran out of memory, with "
        "{caps_held} it completed]].[[pipeline_alone? That is the input pipeline alone; the framework of a "
        "real GPU needs more.]]",
        "It completed with every memory cap that was tried, the smallest {high}; the memory floor may be lower.",
        "It ran out of memory with every memory cap measured ({caps_killed}), so the memory floor is above "
        "the largest.",
        "The runs needed {memory} of memory that cannot be dropped.[[pipeline_alone? That is the input "
        "pipeline alone; the framework of a real GPU needs more.]]",
    ),
    Code.FEW_MEMORY_CAPS: (
        "Between {low} and {high} of memory its rate differs by {apart}[[ ({rate_low} and {rate_high} with "
        "{vcpus})]]. That [[clear?is more than]][[!clear?may be]] chance. Two sizes are no curve: "
        "[[predicted?what less than {low} does to the rate is not known]][[!predicted?no rate between or "
        "beyond them is predicted]].[[ Runs with {more} would tell more.]]",
        "It completed in {memory} alone, so what another size does to its rate is not known. Runs with "
        "{more} would tell more.",
        "It ran in {memory}, the only memory cap measured; what less or more would do is not known.",
    ),
    Code.LESS_MEMORY: (
        "{memory} rather than {untried}, because no rate was measured below {rated}.",
        "{memory} rather than {untried}, because no cap below {held} is known to be enough.",
        "Less than {memory} is enough, but may be slower.",
        "Between {low} and {high} of memory only completion was tried, not the rate.",
        "Whether {untried} is enough was not measured.",
    ),
    # Which of the machines that were measured, and what it costs there, on the next and on the fastest.
    Code.BEST_OF_MACHINES: (
        "[[only_priced?A million {units} cost {usd} on {where}, the only machine with a known price.]]",
        "[[by_cost?The work costs the least on {where}, of {compared}.]][[by_cost_and_time?On {where} "
        "price times time is the least of {compared}.]][[nearly?It costs least of those within 1 % of the "
        "fastest of {compared}.]][[fastest?It is the fastest of {compared}.]][[ A million {units} cost "
        "{usd} there.]]",
    ),
    Code.ONLY_MACHINE: "It is the only [[input?machine measured with {input} "
    "input]][[!input?configuration measured]]: whether another costs less or is faster is not known.",
    Code.UNPRICED: (
        "[[by_currency?By prices in {currency} the work costs the least on {where}, of {compared}.]] To "
        "compare with prices in US dollars, say what one is worth: `--rate {currency}=0.14`.",
        "[[by_disk?It is the cheapest disk that costs the job at most 2 % of its rate.]]",
        "[[nearly?It is the smallest of those within 1 % of the fastest of {compared}; its price is not known.]]",
        "[[by_rate?It is the fastest of {compared}; its price is not known.]]",
        "[[by_size?It is the smallest of {compared} that is fast enough.]]",
        "No [[spot?spot ]]price of these machines is known, so this one makes the most of each accelerator "
        "and may not cost least.",
    ),
    Code.BESIDE: (
        "The same work costs {cost} as much on {machine}, {speed} as fast; --target {target} accepts that.",
        "{which} {machine}[[ with {fastest_rate}]]: {speed} as fast[[; the same work costs {cost} as "
        "much]][[!cost?; its price is not known]].",
        "{machine} gives it with a probability of {chance}[[, where the same work costs {cost} as much]].",
    ),
    Code.BASELINE: (
        "{answer_usd} an hour ({answer_instance}) instead of {baseline_usd}[[!named? ({instance})]] for "
        "{baseline}: {dearer}, at {at_rate}.",
        "[[baseline_usd?Against {baseline}: no saving, {answer_usd} an hour for either "
        "({answer_instance}), at {at_rate}.]]",
        "Against {baseline}: at {at_rate}. The saving is not known, because one of the two prices is not known.",
        "{instance} cannot be compared for this job: its rate there is not known.",
    ),
    # What is sold.
    Code.SMALLEST_SOLD: (
        "{vcpus} is the smallest size sold with at least {judged}, which its rate is known of.",
        "{memory} is the least that families offer with {vcpus}[[: the job needs {needed_memory}, the "
        "memory that cannot be dropped plus a margin]][[: the least known to be enough is {held}]].",
        "{memory} is the smallest size sold in which the job is known to run at its full rate.",
    ),
    Code.NOT_SOLD: (
        "{there} has {vcpus}[[ and {memory}]], less than asked for.",
        "Families offer at most {most} with {vcpus}[[, not {memory}: take a size with more vCPUs]].",
        "Fractions of a vCPU are not sold.",
    ),
    Code.PRICES: (
        "Not ranked by cost for lack of a known price: {unknown} of {machines} machines.",
        "[[known?Prices are those of spot machines, which the provider may take back at any time.]]",
        "[[spot?No spot price of these machines is known.]]",
        "A price in {currency} is compared with no other currency: say what one is worth in US dollars, "
        "such as `--rate {currency}=0.14`.",
        "Its price is of {old_day}, older than a year.",
        "[[undated?Nobody knows of which day its price is.]]",
        "[[unnamed?Which accelerator this is was not told, so no machine with it is offered.]]",
        "{volume} of {disk} cost {whole_usd} a month, {bought_usd} of it for IOPS and MB/s beside the size.",
        "Price unknown.",
    ),
    Code.RETIRED: (
        "Nobody can rent {retired} any more: [[all?import rates of machines that are sold, which `sizer "
        "catalog list` shows without `retired`]][[!all?measured, but no choice]].[[ {nearest}]]",
        "Nobody can rent a machine with this GPU[[listed? at a known price]] any more (retired {year}).[[ {nearest}]]",
    ),
    # What to know of an instance type.
    Code.OTHER_HARDWARE: (
        "Has {gpu_count} GPUs; the job was measured with {used}.",
        "[[arm?ARM cores.]][[gpu_count?Has a GPU that the job does not use.]][[unknown_gpu?It is not known "
        "whether its GPU is the one that was measured.]]",
    ),
    Code.TRANSFERRED: "Transferred from {measured_on} to {cpu}, of which one busy thread is {faster} times as "
    "fast.[[ By its rate on {measured_on}, {vcpus} would be chosen.]]",
    Code.DISK_CAPPED: (
        "[[Caps network disks at {cap}; this rate reads and writes {moved}.]]",
        "[[Caps network disks at {cap_ios}; this rate takes {ios}.]]",
    ),
    Code.FIGURES_UNSURE: "Figures: {confidence}.",
    # What the runs say against an answer, and what one more would settle.
    Code.ONLY_MEASURED_SIZES: "No axis was measured at three values, so only what was measured is compared.",
    Code.RATE_CONTRADICTED: "In {mistold} of {completed} runs the log [[correct_units?tells another "
    "rate than its lines come at]][[correct_batches?most likely tells a rate of "
    "batches]][[correct_counter?most likely has a line of each of several processes]], so neither "
    "samples a second nor what they cost are known: [[correct_batches?give `batches` in place of "
    "`rate` in the pattern]][[correct_counter?let one of them print, or let the pattern read a counter "
    "(`step`), too]][[correct_units?check the unit of the pattern's groups]].[[!alike? They are not "
    "all wrong alike, so another spec may be the answer.]]",
    Code.JOBS_MIXED: "Rows of one configuration differ by a factor of up to {ratio}, and in {columns}: "
    "they may be different jobs.",
    Code.RUNS_APART: (
        "[[slower?One rate looks like a slip: with {fewer} instead of {machine} it was {factor} as fast; check both.]]",
        "One rate looks like a slip: {machine} is {factor} as fast as in proportion to {fewer}; check both.",
        "Runs of {machine} are {factor} apart: one of them is a slip, and no answer is reliable until it is corrected.",
    ),
    Code.RUNS_DOUBTFUL: "In {doubtful} of {completed} runs the rate is {doubts}.",
    Code.RUNS_FAILED: "{failed} of {runs} runs gave no rate ({outcomes}).",
    Code.RUNS_STARVED: (
        "In {starved} of {completed} runs others had a part of the vCPUs, so the rate is a lower bound: "
        "measure on a quiet host.",
        "Others used the CPUs of this host in every run of `{workload}`, so no rate shows what it needs; "
        "measure on a quiet host.",
    ),
    Code.MEASURED_BESIDE_OTHERS: "Measured there were {measured_rate} while something else used {cores} "
    "cores of the host; {rate} are what the fitted curve, which rests on all runs, makes of it.",
    Code.RUN_WOULD_SETTLE: (
        "Of all runs, one more with {spec} would tell most.",
        "The rate still rises at the most measured; if it no longer does at {larger}, the knee is found.",
        "The study's plan has runs that are not made yet.",
    ),
}
