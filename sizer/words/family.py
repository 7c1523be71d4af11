"""A family of shapes in words: which they are, whom they serve, what each further one buys, how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sizer.records.family import Family, FamilyShape, Idle, PartPrices, Rule, Served, Shape, Simpler, Step
from sizer.records.units import format_usd
from sizer.words import language
from sizer.words.language import N_, Counted, Sentence, _, _n, either, listed, row
from sizer.words.names import disk_in_words
from sizer.words.verdict import provider_name

LITTLE = 0.0005
"""A share of the cost below which there is no difference to speak of."""
shapes_counted = Counted("{count} shape", "{count} shapes")


def extra(share: float | None) -> str:
    """What is paid beyond: `4.2 % more`, `27 times as much`; empty where it is next to nothing."""
    if share is None or share < LITTLE:
        return ""
    return language.more_or_less(share) if share >= 0.0995 else _("{share:small} more", share=share)


def shape_name(shape: Shape) -> str:
    """`4 vCPUs, 16 GiB, disk aws/gp3, 1 x T4`."""
    disk = None if shape.disk is None else disk_in_words(shape.disk)
    gpus = accelerators(shape.gpu, shape.gpu_count) if shape.gpu_count else None
    memory = shape.memory_bytes or None
    return row([_("{vcpus:vcpus}[[, {memory:bytes}]]", vcpus=shape.vcpus, memory=memory), disk or "", gpus or ""])


def accelerators(gpu: str | None, count: int) -> str:
    """`2 x T4`, `no accelerator`."""
    return _("no accelerator") if gpu is None else f"{count} x {gpu}"


def headline(family: Family) -> str:
    """How many shapes serve all workloads, and what that costs more than one for each."""
    worst = max(served.penalty for served in family.served)
    if len(family.shapes) == 1 and family.more < LITTLE:
        return _(
            "One machine for all: {shape}, {usd:usd} an hour. Separate ones would cost no less.",
            shape=shape_name(family.shapes[0].shape),
            usd=family.shapes[0].usd_per_hour,
        )
    return _n(
        "{count} shape serves {workloads:workloads} and cost [[{more} than]][[!more?no more than]] the "
        "best shape of each[[; one workload pays {worst}]].",
        "{count} shapes serve {workloads:workloads} and cost [[{more} than]][[!more?no more than]] the "
        "best shape of each[[; one workload pays {worst}]].",
        len(family.shapes),
        workloads=len(family.served),
        more=extra(family.more),
        worst=extra(worst),
    )


def shape_line(one: FamilyShape, family: Family) -> str:
    """`4 vCPUs, 8 GiB: $0.17 an hour (aws c7i.xlarge), for train and infer`."""
    return _(
        "{shape}: {usd} an hour ({basis}), for {names}.[[ Idle: {idle}.]]",
        shape=shape_name(one.shape),
        usd=price(one),
        basis=price_basis(one),
        names=served_by(one, family),
        idle=idle_in_words(one.idle),
    )


def price(one: FamilyShape) -> str:
    return format_usd(one.usd_per_hour)


def served_by(one: FamilyShape, family: Family) -> str:
    """The workloads that run on a shape."""
    place = family.shapes.index(one)
    return language.listed([served.workload for served in family.served if served.place == place])


def price_basis(one: FamilyShape) -> str:
    """Whose price it is, and up to which the shape is worth offering where nobody does."""
    larger = one.sold is not None and one.sold not in one.sold_by
    return _(
        "[[{one.sold}]][[larger?, which is larger]][[!one.sold?by its parts]][[one.shape.disk?, with its disk]]"
        "[[!one.sold_by?; nobody sells it]][[, worth offering up to {usd:usd}]]",
        one=one,
        larger=larger,
        usd=None if one.sold_by else one.break_even,
    )


def idle_in_words(idle: Idle) -> str:
    """`1.5 vCPUs, 3 GiB, 90 MB/s of the disk, 1 accelerator`, without what is little; empty where nothing is."""
    return row(
        [
            _("[[{vcpus:.2g} vCPUs]]", vcpus=idle.vcpus if idle.vcpus >= 0.05 else None),
            _("[[{memory:bytes}]]", memory=idle.memory_bytes if (idle.memory_bytes or 0) >= 2**26 else None),
            _("[[{rate:transfer} of the disk]]", rate=idle.disk_bytes_per_second),
            _("[[{gpus:.2g} accelerators]]", gpus=idle.gpu_count if idle.gpu_count >= 0.05 else None),
        ]
    )


def served_line(served: Served, family: Family) -> str:
    """What a workload pays more than on its own best shape, and how sure it is that this is allowed."""
    return _(
        "{served.workload} pays {more} than on {own} ({served.within:chance} that it is at most {most:small}).",
        served=served,
        more=extra(served.penalty),
        own=shape_name(served.own),
        most=family.max_penalty,
    )


def penalty_lines(family: Family) -> list[str]:
    """Of each workload that pays more than on its own best shape."""
    return [served_line(served, family) for served in family.served if served.penalty >= LITTLE]


def step_line(step: Step, max_penalty: float) -> str:
    """`2 shapes: 12 % more than the best of each, 30 % more for one workload`."""
    counted = shapes_counted(count=step.shapes)
    if step.more is None:
        return _("{shapes}: {why}.", shapes=counted, why=not_within(step, max_penalty))
    return _(
        "{shapes}: [[{more}]][[!more?no more]] than the best of each[[, {penalty} for one workload]][[; others may "
        "cost {gap:small} less]].",
        shapes=counted,
        more=extra(step.more),
        penalty=extra(step.penalty),
        gap=step.gap,
    )


def not_within(step: Step, max_penalty: float) -> str:
    """Why so few shapes do not do."""
    return _(
        "[[penalty?not within {allowed:small}: one workload would pay {penalty}]][[!penalty?cannot serve all]]",
        allowed=max_penalty,
        penalty=extra(step.penalty),
    )


def how_sure(family: Family) -> str:
    """By the draws of all rates."""
    return _(
        "How sure: {within:chance} that no workload pays over {most:small} more than on its own best shape, "
        "{same:chance} that no other shape in the place of one of these saves 1 %.[[proven? By the expected rates no "
        "other {shapes} cost less (proven).]]",
        within=family.within,
        same=family.same,
        most=family.max_penalty,
        proven=not family.gap,
        shapes=shapes_counted(count=len(family.shapes)),
    )


_SIMPLER: Mapping[Rule, tuple[str, str]] = {
    Rule.DISK: (
        N_("One disk tier for all, {value}: [[{more}]][[!more?costs no more]][[, {penalty} for one workload]]."),
        N_("No one disk tier serves all workloads."),
    ),
    Rule.RATIO: (
        N_("{value} GiB for each vCPU for all: [[{more}]][[!more?costs no more]][[, {penalty} for one workload]]."),
        N_("No one number of GiB for each vCPU serves all workloads."),
    ),
}


def simpler_line(simpler: Simpler) -> str:
    """What it costs that all shapes have one disk tier, or one ratio."""
    some, none = _SIMPLER[simpler.rule]
    if simpler.more is None:
        return _(none)
    return _(some, value=simpler.value, more=extra(simpler.more), penalty=extra(simpler.penalty))


def offer_line(family: Family) -> str:
    """At which price a shape that nobody sells would be worth a place; empty where there is none."""
    offer = family.offer
    if offer is None:
        return ""
    return _(
        "Nobody sells {shape}: up to {offer.break_even:usd} an hour it would be worth a place here (by its parts it "
        "costs {offer.usd_per_hour:usd}).",
        offer=offer,
        shape=shape_name(offer.shape),
    )


def prices_in_words(prices: PartPrices) -> str:
    """What the parts cost, and how well that tells prices of instance types."""
    parts = listed(
        [
            _("{usd:usd} a vCPU", usd=prices.vcpu),
            _("{usd:usd} a GiB", usd=prices.gib),
        ]
    )
    if prices.provider is None:
        return _("Prices of the file given: {parts} an hour.", parts=parts)
    return _(
        "Prices: of an instance type of {provider} where it sells the shape, else {parts} an hour and so on, fitted to "
        "{types:number} types, which these miss by {prices.residual:small} in the median and "
        "{prices.residual_90:small} in one of ten.",
        provider=provider_name(prices.provider),
        parts=parts,
        types=prices.types,
        prices=prices,
    )


def grid_in_words(family: Family) -> str:
    """What can be built."""
    grid = family.grid
    assert grid is not None, "a family is of what can be built"
    disks = [disk_in_words(disk) for disk in grid.disks if disk is not None]
    return _(
        "What can be built: {vcpus} vCPUs with {ratios} GiB for each[[, {disks}]], {gpus}.",
        vcpus=row(f"{vcpus:g}" for vcpus in grid.vcpus),
        ratios=either([f"{ratio:g}" for ratio in grid.ratios]),
        disks=either(disks),
        gpus=either([accelerators(gpu, count) for gpu, count in grid.gpus]),
    )


def emulated_line(family: Family) -> str:
    """Whose memory is that of the input pipeline alone; empty where it is of none."""
    names = [served.workload for served in family.served if served.emulated]
    return _(
        "[[The memory of {names:some} is that of the input pipeline alone: the accelerator was emulated.]]", names=names
    )


def not_served_line(family: Family) -> str:
    """The workloads without an answer; empty where all have one."""
    return _(
        "[[Not served, as there is no answer for them: {names:some}.]]", names=[n.workload for n in family.not_served]
    )


def beside_lines(family: Family) -> Iterator[str]:
    """What stands beside the shapes."""
    lines = (*map(simpler_line, family.simpler), offer_line(family), emulated_line(family), not_served_line(family))
    yield from filter(None, lines)
    if family.prices is not None:
        yield prices_in_words(family.prices)
    yield grid_in_words(family)


asked_again = Sentence(
    "`sizer family {folder} --shapes K` asks for more or fewer, for other studies, weights or prices."
)


def family_lines(family: Family) -> Iterator[str]:
    """All that the terminal says."""
    yield headline(family)
    for shape in family.shapes:
        yield f"  {shape_line(shape, family)}"
    for line in penalty_lines(family):
        yield f"  {line}"
    for step in family.curve:
        yield f"  {step_line(step, family.max_penalty)}"
    yield how_sure(family)
    yield from beside_lines(family)
