"""A family of shapes in words: which they are, whom they serve, what each further one buys, how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sizer.catalog.gpus import read_gpu_name
from sizer.records.family import (
    Family,
    FamilyShape,
    Grid,
    Idle,
    Offer,
    OneDisk,
    PartPrices,
    Shape,
    Step,
    Uncovered,
)
from sizer.words import language
from sizer.words.language import N_, Counted, Sentence, _, _n, either, row
from sizer.words.names import disk_in_words
from sizer.words.verdict import provider_name

LITTLE = 0.0005
"""A share of the cost below which there is no difference to speak of."""
MOST_PENALTIES = 10
"""Workloads that pay more than on their own best shape, said one by one; the JSON has all."""
NEAR = 0.5
"""The share of its price from which on a shape's break-even is worth telling."""
HUGE = 3.0
"""A share above which what is paid reads better as so many times."""
best_of_each = Sentence("the best shape of each")
own_best = Sentence("on its own best, {shape}")
nobody_sells = Sentence(
    "Nobody sells {shape}: up to {offer.break_even:usd} an hour it would be worth a place here (by its parts it costs "
    "{offer.usd_per_hour:usd})."
)
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


def compared(share: float, other: str) -> str:
    """`no more than the best`, `4.2 % more than the best`, `27 times as much as the best`."""
    if share < LITTLE:
        return _("no more than {other}", other=other)
    if share > HUGE:
        return _("{factor:times} as much as {other}", factor=1 + share, other=other)
    return _("{share:small} more than {other}", share=share, other=other)


def headline(family: Family) -> str:
    """How many shapes serve all workloads, and what that costs more than one for each."""
    worst = max(served.penalty for served in family.served)
    if len(family.shapes) == 1 < len(family.served) and family.more < LITTLE:
        return _(
            "One machine for all: {shape}, {usd:usd} an hour. Separate ones would cost no less.",
            shape=shape_name(family.shapes[0].shape),
            usd=family.shapes[0].usd_per_hour,
        )
    return _n(
        "{count} shape serves {workloads:workloads} and costs {more}[[; one workload pays {worst}]].",
        "{count} shapes serve {workloads:workloads} and cost {more}[[; one workload pays {worst}]].",
        len(family.shapes),
        workloads=len(family.served),
        more=compared(family.more, best_of_each()),
        worst=extra(worst),
    )


def shape_line(one: FamilyShape, family: Family) -> str:
    """`4 vCPUs, 8 GiB: $0.17 an hour (aws c7i.xlarge), for train and infer`."""
    return _(
        "{shape}: {usd:usd} an hour ({basis}), for {names}.[[ Idle: {idle}.]]",
        shape=shape_name(one.shape),
        usd=one.usd_per_hour,
        basis=price_basis(one),
        names=served_by(one, family),
        idle=idle_in_words(one.idle),
    )


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


def penalty_lines(family: Family) -> list[str]:
    """What those that pay most pay more than on their own best shape, and how sure it is that this is allowed."""
    return [
        _(
            "{served.workload} pays {more} ({served.within:chance} that it is at most {most:small} more).",
            served=served,
            more=compared(served.penalty, own_best(shape_name(served.own))),
            most=family.max_penalty,
        )
        for served in sorted(family.served, key=lambda served: -served.penalty)[:MOST_PENALTIES]
        if served.penalty >= LITTLE
    ]


def step_line(step: Step, max_penalty: float) -> str:
    """`2 shapes: 12 % more than the best of each; one workload pays 30 % more, over the 10 % allowed.`"""
    return _("{shapes}: {what}.", shapes=shapes_counted(count=step.shapes), what=step_in_words(step, max_penalty))


def step_in_words(step: Step, max_penalty: float) -> str:
    """What so many shapes cost, and where they do not do, why."""
    if step.more is None:
        return _("cannot serve all")
    return _(
        "{more}[[; one workload pays {penalty}]][[, over the {allowed:small} allowed]][[; others may cost {gap:small} "
        "less]]",
        more=compared(step.more, best_of_each()),
        penalty=extra(step.penalty),
        allowed=None if step.kept else max_penalty,
        gap=step.gap,
    )


def how_sure(family: Family) -> str:
    """By the draws of all rates."""
    return _(
        "How sure: {within:chance} that no workload pays over {most:small} more than on its own best shape, "
        "{same:chance} that no other shape in the place of one of these saves 1 %.[[proven? By the expected rates no "
        "other choice costs less (proven).]][[gap? By the expected rates others may cost up to {gap:small} less.]]",
        within=family.within,
        same=family.same,
        most=family.max_penalty,
        proven=not family.gap,
        gap=family.gap,
    )


def one_disk_line(one: OneDisk | None) -> str:
    """What it costs that all shapes have one disk tier; empty where there is one alone."""
    if one is None:
        return ""
    if one.more is None:
        return _("No one disk tier serves all workloads.")
    return _(
        "One disk tier for all, {one.disk}: [[{more}]][[!more?costs no more]][[, {penalty} for one workload]].",
        one=one,
        more=extra(one.more),
        penalty=extra(one.penalty),
    )


def offer_line(offer: Offer | None) -> str:
    """At which price a shape that nobody sells would be worth a place; empty where there is none."""
    if offer is None or offer.break_even < NEAR * offer.usd_per_hour:
        return ""
    return nobody_sells(shape_name(offer.shape), offer=offer)


def prices_in_words(prices: PartPrices, grid: Grid) -> str:
    """What the parts cost, and how well that tells prices of instance types."""
    gpus = {gpu: prices.gpus.get(read_gpu_name(gpu).key) for gpu in [kind.gpu for kind in grid.gpus] if gpu is not None}
    parts = language.listed(
        [
            _("{usd:usd} a vCPU", usd=prices.vcpu),
            _("{usd:usd} a GiB", usd=prices.gib),
            *(_("{usd:usd} one {gpu}", usd=usd, gpu=gpu) for gpu, usd in gpus.items() if usd is not None),
        ]
    )
    if prices.provider is None:
        return _("Prices of the file given: {parts} an hour.", parts=parts)
    return _(
        "Prices: of an instance type of {provider} where it sells the shape, else {parts} an hour, fitted to "
        "{prices.types:number} types, which these miss by {prices.residual:small} in the median and "
        "{prices.residual_90:small} in one of ten.",
        provider=provider_name(prices.provider),
        parts=parts,
        prices=prices,
    )


def grid_in_words(grid: Grid) -> str:
    """What can be built."""
    disks = [disk_in_words(disk) for disk in grid.disks if disk is not None]
    return _(
        "What can be built: {vcpus} vCPUs with {ratios} GiB for each[[, {disks}]], {gpus}.",
        vcpus=either([f"{vcpus:g}" for vcpus in grid.vcpus]),
        ratios=either([f"{ratio:g}" for ratio in grid.ratios]),
        disks=either(disks),
        gpus=either([accelerators(kind.gpu, kind.count) for kind in grid.gpus]),
    )


_MEMORY = (
    N_("[[The memory of {names:some} is that of the input pipeline alone: the accelerator was emulated.]]"),
    N_(
        "[[What memory is needed is not known of {names:some}: what they had counts, or the least that can be built; a "
        "column `peak_anonymous_gib`, or `memory_floor: true` in the study file, would tell.]]"
    ),
)
_NOT_SERVED: Mapping[Uncovered, str] = {
    Uncovered.NO_ANSWER: N_("[[Not served, as no answer for them has a known number of vCPUs: {names:some}.]]"),
    Uncovered.NO_PRICE: N_("[[Not served, as their accelerator has no price: {names:some}.]]"),
    Uncovered.NO_SHAPE: N_("[[Not served, as no shape that can be built holds them: {names:some}.]]"),
}


def workload_lines(family: Family) -> Iterator[str]:
    """Whose memory is not known, or not all of it; whom no shape serves, and why."""
    emulated = [served.workload for served in family.served if served.emulated]
    unknown = [served.workload for served in family.served if not served.memory_known]
    for template, names in zip(_MEMORY, (emulated, unknown), strict=True):
        yield _(template, names=names)
    for why, template in _NOT_SERVED.items():
        yield _(template, names=[one.workload for one in family.not_served if one.why is why])


def beside_lines(family: Family) -> Iterator[str]:
    """What stands beside the shapes."""
    yield from filter(None, (one_disk_line(family.one_disk), offer_line(family.offer), *workload_lines(family)))
    if family.prices is not None and family.grid is not None:
        yield prices_in_words(family.prices, family.grid)
        yield grid_in_words(family.grid)


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
