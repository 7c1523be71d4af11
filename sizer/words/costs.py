"""CPU or GPU in words: what the work takes and costs on each machine, as lines and as cells of the page."""

from __future__ import annotations

from collections.abc import Iterator

from sizer.records.answer import Answer, Cost, CostRow, CostTable
from sizer.records.device import EMULATED_LABEL
from sizer.records.units import format_usd
from sizer.words.language import N_, Sentence, _, aligned, answered_rate
from sizer.words.names import Terms, price_an_hour, spec_name, with_instance

costs_title = Sentence(
    "[[both?CPU or GPU]][[!both?What it costs]][[: time and cost of the same work, {baseline} = 1]][[; the job is "
    "{samples:number} {unit:units}]]"
)
_JOB = N_(
    "the job: {row.seconds:time}[[; {row.on_demand.usd_of_job:usd} on demand]][[; {row.spot.usd_of_job:usd} spot]][[, "
    "{row.spot_expected.usd_of_job:usd} with interruptions]]"
)
_PRICES = N_(
    "{cost.usd_per_hour:usd} an hour[[, {cost.usd_per_million_samples:usd} a million]][[, {cost.usd_of_job:usd} the "
    "job]]"
)
_EXPECTED = N_("[[{cost.usd_per_million_samples:usd} a million]][[, {cost.usd_of_job:usd} the job]]")
_LEAST = N_(
    "[[spot?At spot prices]][[!spot?Of all]][[gone? that can be rented]], the work costs the least on "
    "{machine}[[: {ratio:times_over} of the baseline's cost]][[ in {time:times_over} of its time]]."
)
_NO_FASTER = N_("{more} is no faster than {fewer}: it takes {time:share} of the time.")
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
    emulated = {row.spec.gpu for row in costs.rows if (row.spec.gpu or "").startswith(EMULATED_LABEL)}
    return costs.has_both or len(emulated) > 1 or named or costs.samples is not None or costs.spot_time is not None


def costs_lines(answer: Answer, terms: Terms) -> Iterator[str]:
    """The table for a terminal, and what follows from it; nothing where nobody asked."""
    costs = answer.costs
    if costs is None or not is_asked(answer):
        return
    yield _("{title}:", title=title_of(costs, terms))
    names = (_("machine"), _("rate"), _("time"), _("cost"), _("an hour"), _("a million"))
    rows = [names, *(cells for row in costs.rows for cells in _row_cells(row, terms))]
    yield from (f"  {line}" for line in aligned(rows))
    yield from costs_sentences(costs, terms)


def _row_cells(row: CostRow, terms: Terms) -> Iterator[tuple[str, ...]]:
    """A row of the table on demand, one at spot prices, one with interruptions, and what is said of it beside."""
    rate, time = answered_rate(row.throughput, terms.unit)[0], ratio_in_words(row.time_ratio)
    yield machine_of(row, terms), rate, time, *_cost_cells(row.on_demand)
    if row.spot is not None:
        yield "  " + _("spot"), "", "", *_cost_cells(row.spot)
    if row.spot_expected is not None:
        yield "  " + _("spot, with interruptions"), "", "", "", "", _usd(row.spot_expected.usd_per_million_samples)
    remarks = [
        "" if row.on_demand or row.spot or row.retired else price_an_hour(None, foreign=row.foreign),
        _("by published rates") if row.published else "",
        _("extrapolated") if row.extrapolated else "",
        "" if row.retired is None else _("retired {year}", year=str(row.retired)),
        "" if row.seconds is None else _(_JOB, row=row),
    ]
    yield from ((f"  {remark}",) for remark in remarks if remark)


def _cost_cells(cost: Cost | None) -> tuple[str, str, str]:
    """Its ratio, and USD an hour and of a million samples; empty where it is not known."""
    if cost is None:
        return "", "", ""
    return ratio_in_words(cost.ratio), _usd(cost.usd_per_hour), _usd(cost.usd_per_million_samples)


def _usd(amount: float | None) -> str:
    return "" if amount is None else format_usd(amount)


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


def costs_sentences(costs: CostTable, terms: Terms) -> Iterator[str]:
    """Where the work costs the least, which size is no faster than a smaller one, which GPU is slower than a CPU."""
    for spot, row in ((False, costs.cheapest), (True, costs.cheapest_spot)):
        cost = None if row is None else row.spot if spot else row.on_demand
        if row is not None and cost is not None:
            ratio, time = (None, None) if row.is_baseline and not spot else (cost.ratio, row.time_ratio)
            gone = not spot and any(one.retired for one in costs.rows)
            yield _(_LEAST, spot=spot, gone=gone, machine=machine_of(row, terms), ratio=ratio, time=time)
    if costs.no_faster is not None:
        best, larger = costs.no_faster
        time = best.throughput.value / larger.throughput.value
        yield _(_NO_FASTER, more=machine_of(larger, terms), fewer=machine_of(best, terms), time=time)
    for gpu, cpu in costs.slow_accelerators:
        yield _(_SLOWER, gpu=machine_of(gpu, terms), cpu=machine_of(cpu, terms))
    if costs.spot_time is not None:
        yield _(_INTERRUPTED, share=costs.spot_time - 1)
