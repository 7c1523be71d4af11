"""CPU or GPU in words: what the work takes and costs on each machine, as lines and as cells of the page."""

from __future__ import annotations

from collections.abc import Iterator

from sizer.records.answer import Answer, Cost, CostRow, CostTable
from sizer.words.language import N_, Sentence, _, answered_rate
from sizer.words.names import Terms, price_an_hour, spec_name, with_instance

costs_title = Sentence(
    "[[both?CPU or GPU]][[!both?What it costs]][[: time and cost of the same work, {baseline} = 1]][[; the job is "
    "{samples:number} {unit:units}]]"
)
_LINE = N_(
    "{machine}: {rate}[[; time {time}]][[ ({row.seconds:time} the job)]][[; on demand {on_demand}]][[; spot "
    "{spot}]][[, with interruptions {expected}]][[; {unpriced}]]"
)
_PRICES = N_(
    "{cost.usd_per_hour:usd} an hour[[, {cost.usd_per_million_samples:usd} a million]][[, {cost.usd_of_job:usd} the "
    "job]]"
)
_EXPECTED = N_("[[{cost.usd_per_million_samples:usd} a million]][[, {cost.usd_of_job:usd} the job]]")
_LEAST = N_(
    "[[spot?At spot prices]][[!spot?Of all]], the work costs the least on {machine}[[: {ratio:times_over} of the "
    "baseline's cost]][[ in {time:times_over} of its time]]."
)
_NO_FASTER = N_("{more:vcpus} are no faster than {fewer:vcpus}: they take {time:share} of the time.")
_SLOWER = N_("{gpu} is slower than {cpu}.")
_INTERRUPTED = N_(
    "Interruptions make the work on spot machines {share:small} longer: what was done since the last checkpoint is "
    "done again."
)


def is_asked(answer: Answer) -> bool:
    """Whether the table says more than the machines that were compared do."""
    costs, base = answer.costs, answer.baseline
    if costs is None or not any(row.on_demand or row.spot for row in costs.rows):
        return False
    named = (base is not None and base.named) or any(row.published for row in costs.rows)
    return costs.has_both or named or costs.samples is not None or costs.spot_time is not None


def costs_lines(answer: Answer, terms: Terms) -> Iterator[str]:
    """The table for a terminal, and what follows from it; nothing where nobody asked."""
    costs = answer.costs
    if costs is None or not is_asked(answer):
        return
    yield _("{title}:", title=title_of(costs, terms))
    for row in costs.rows:
        on_demand, spot = (_with_ratio(cost) for cost in (row.on_demand, row.spot))
        line = _(
            _LINE,
            row=row,
            machine=machine_of(row, terms),
            rate=rate_of(row, terms),
            time=ratio_in_words(row.time_ratio),
            on_demand=on_demand,
            spot=spot,
            expected=expected_in_words(row.spot_expected),
            unpriced="" if on_demand or spot or row.retired else price_an_hour(None, foreign=row.foreign),
        )
        yield f"  {line}"
    yield from costs_sentences(costs, terms)


def title_of(costs: CostTable, terms: Terms) -> str:
    """What the table is about, and what its ratios are to."""
    base = "" if costs.baseline is None else machine_of(costs.baseline, terms)
    return costs_title(both=costs.has_both, baseline=base, samples=costs.samples, unit=terms.unit)


def machine_of(row: CostRow, terms: Terms) -> str:
    """`8 vCPUs, 7.2 GiB (gcp n1-highcpu-8)`."""
    return with_instance(machine_in_words(row, terms), row.instance_type)


def machine_in_words(row: CostRow, terms: Terms) -> str:
    """Its size and accelerators; of one of which the table says nothing, that it has none."""
    return spec_name(row.spec, terms) or _("no accelerator")


def rate_of(row: CostRow, terms: Terms) -> str:
    """Its rate, and whether that is a published or an extrapolated one."""
    rate = answered_rate(row.throughput, terms.unit)[0]
    return _(
        "{rate}[[row.published? (by published rates)]][[row.extrapolated? (extrapolated)]][[ (retired {year})]]",
        rate=rate,
        row=row,
        year="" if row.retired is None else str(row.retired),
    )


def ratio_in_words(ratio: float | None) -> str:
    """`0.81`; empty where it is not known."""
    return _("[[{ratio:times_over}]]", ratio=ratio)


def prices_in_words(cost: Cost | None) -> str:
    """`$0.283 an hour, $0.0091 a million, $9.10 the job`; empty where it is not known."""
    return "" if cost is None else _(_PRICES, cost=cost)


def expected_in_words(cost: Cost | None) -> str:
    """`$0.00205 a million, $0.00246 the job`: what the work is expected to cost where spot machines are taken back."""
    return "" if cost is None else _(_EXPECTED, cost=cost)


def _with_ratio(cost: Cost | None) -> str:
    """`0.81 ($0.283 an hour, $0.0091 a million)`."""
    return "" if cost is None else with_instance(ratio_in_words(cost.ratio), prices_in_words(cost))


def costs_sentences(costs: CostTable, terms: Terms) -> Iterator[str]:
    """Where the work costs the least, which size is no faster than a smaller one, which GPU is slower than a CPU."""
    for spot, row in ((False, costs.cheapest), (True, costs.cheapest_spot)):
        cost = None if row is None else row.spot if spot else row.on_demand
        if row is not None and cost is not None:
            ratio, time = (None, None) if row.is_baseline and not spot else (cost.ratio, row.time_ratio)
            yield _(_LEAST, spot=spot, machine=machine_of(row, terms), ratio=ratio, time=time)
    if costs.no_faster is not None:
        best, larger = costs.no_faster
        time = best.throughput.value / larger.throughput.value
        yield _(_NO_FASTER, more=larger.spec.vcpus, fewer=best.spec.vcpus, time=time)
    for gpu, cpu in costs.slow_accelerators:
        yield _(_SLOWER, gpu=machine_of(gpu, terms), cpu=machine_of(cpu, terms))
    if costs.spot_time is not None:
        yield _(_INTERRUPTED, share=costs.spot_time - 1)
