"""A family of shapes in words: which they are, whom they serve, what each further one buys, how sure that is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from sizer.model.model import CPU_LABEL
from sizer.records.family import Family, FamilyShape, Grid, Idle, PartPrices, Shape, Step
from sizer.words import language
from sizer.words.language import Counted, Sentence, _, _n, either, row, small_share
from sizer.words.names import accelerators_name, day_of_price, disk_in_words
from sizer.words.verdict import provider_name

LITTLE = 0.0005
"""A share of the cost below which there is no difference to speak of."""
MOST_PENALTIES = 10
"""Workloads that pay more than on their own best shape, said one by one; the JSON has all."""
NEAR = 0.5
"""The share of its price from which on a shape's break-even is worth telling."""
shapes_counted = Counted("{count} shape", "{count} shapes")
asked_again = Sentence(
    "`sizer family {folder} --shapes K` asks for more or fewer, for other studies, weights or prices."
)


def extra(share: float | None) -> str:
    """What is paid beyond: `4.2 % more`, `27 times as much`; empty where it is next to nothing."""
    if share is None or share < LITTLE:
        return ""
    return language.more_or_less(share) if share >= 0.0995 else _("{share:small} more", share=share)


def shape_name(shape: Shape) -> str:
    """`4 vCPUs, 16 GiB, disk aws/gp3, 1 x T4`."""
    size = _("{vcpus:vcpus}[[, {memory:bytes}]]", vcpus=shape.vcpus, memory=shape.memory_bytes)
    disk = "" if shape.disk is None else disk_in_words(shape.disk)
    return row([size, disk, accelerators_name(shape.gpu, shape.gpu_count) if shape.gpu else ""])


def headline(family: Family) -> str:
    """How many shapes serve all workloads, and what that costs more than one for each."""
    if len(family.shapes) == 1 < len(family.served) and family.more < LITTLE:
        shape = shape_name(family.shapes[0].shape)
        return _("One machine for all: {shape}. Separate ones would cost no less.", shape=shape)
    return _n(
        "{count} shape serves {workloads:workloads} and costs {more}, compared with the best shape of each.",
        "{count} shapes serve {workloads:workloads} and cost {more}, compared with the best shape of each.",
        len(family.shapes),
        workloads=len(family.served),
        more=extra(family.more) or _("no more"),
    )


def served_by(one: FamilyShape, family: Family) -> str:
    """The workloads that run on a shape."""
    place = family.shapes.index(one)
    return language.listed([served.workload for served in family.served if served.place == place])


def price_basis(one: FamilyShape, family: Family) -> str:
    """Whose price it is, and up to which the shape is worth offering where nobody does."""
    day = None if one.as_of is None else day_of_price(one.as_of, date.today())
    return _(
        "[[larger?a larger one, ]][[{one.sold}]][[, {day}]][[!one.sold?by its parts]][[disk?, and the disk]]"
        "[[!one.sold_by?; nobody sells it]][[, worth offering up to {usd:usd}]]",
        one=one,
        day=day,
        disk=family.prices is not None and bool(family.prices.disks),
        larger=one.sold is not None and one.sold not in one.sold_by,
        usd=None if one.sold_by else one.break_even,
    )


def idle_in_words(idle: Idle) -> str:
    """`1.5 vCPUs, 3 GiB, 90 MB/s of the disk, 1 accelerator`, without what is little; empty where nothing is."""
    memory, vcpus, gpus = idle.memory_bytes or 0, round(idle.vcpus or 0, 1), round(idle.gpu_count, 1)
    return row(
        [
            language.vcpus_in_words(vcpus) if vcpus else "",
            _("[[{memory:bytes}]]", memory=memory if memory >= 2**26 else None),
            _("[[{rate:transfer} of the disk]]", rate=idle.disk_bytes_per_second),
            accelerators_name(None, 1) if gpus == 1 else _("[[{gpus:g} accelerators]]", gpus=gpus),
        ]
    )


def penalty_lines(family: Family) -> list[str]:
    """What those that pay most pay more than on their own best shape, and how sure it is that this is allowed."""
    return [
        _(
            "{served.workload} pays {more}, compared with its own best, {shape} ({served.within:chance} that it is at "
            "most {most:small} more).",
            served=served,
            more=extra(served.penalty),
            shape=shape_name(served.own),
            most=family.max_penalty,
        )
        for served in sorted(family.served, key=lambda served: -served.penalty)[:MOST_PENALTIES]
        if served.penalty >= LITTLE
    ]


def step_in_words(step: Step, max_penalty: float) -> list[str]:
    """What so many shapes cost, what the workload does that pays most above its own best, and how sure that is."""
    if step.more is None:
        return [_("cannot serve all")]
    allowed = None if step.kept else small_share(max_penalty)
    parts = [
        extra(step.more) or _("no more"),
        _("[[one workload {penalty}]][[, over the {allowed} allowed]]", penalty=extra(step.penalty), allowed=allowed),
        _("[[others may cost {gap:small} less]]", gap=step.gap),
    ]
    return [part for part in parts if part]


def how_sure(family: Family) -> str:
    """By the draws of all rates."""
    return _(
        "How sure, at these prices: {family.within:chance} that no workload pays over {family.max_penalty:small} more "
        "than on its own best shape, {family.same:chance} that no other shape in the place of one of these saves 1 %. "
        "By the expected rates [[!family.gap?no other choice costs less (proven)]][[others may cost up to "
        "{family.gap:small} less]].",
        family=family,
    )


def prices_in_words(prices: PartPrices) -> str:
    """What the parts cost, and how well that tells prices of instance types."""
    parts = [
        _("{usd:usd} a vCPU", usd=prices.vcpu),
        _("{usd:usd} a GiB", usd=prices.gib),
        *(_("{usd:usd} one {gpu}", usd=usd, gpu=gpu) for gpu, usd in prices.gpus.items()),
    ]
    disks = [_("{usd:usd} for {disk:disk}", usd=usd, disk=disk) for disk, usd in prices.disks.items()]
    return _(
        "[[prices.spot?Spot prices]][[!prices.spot?Prices]]: [[of an instance type of {provider} where it sells the "
        "shape, else ]]{parts:and} an hour[[provider?, fitted to {prices.types:number} types (oldest price: {day}), "
        "which these miss by {prices.residual:small} in the median, by over {prices.residual_90:small} in one of ten]]."
        "[[ On top of that: {disks:and} an hour.]]",
        provider=prices.provider and provider_name(prices.provider),
        parts=parts,
        prices=prices,
        day=day_of_price(prices.as_of, date.today()),
        disks=disks,
    )


def grid_in_words(grid: Grid) -> str:
    """What can be built."""
    return _(
        "What can be built: {vcpus:or} vCPUs with {ratios:or} GiB for each[[, {disks}]], {gpus:or}.",
        vcpus=[f"{vcpus:g}" for vcpus in grid.vcpus],
        ratios=[f"{ratio:g}" for ratio in grid.ratios],
        disks=either([disk_in_words(disk) for disk in grid.disks if disk is not None]),
        gpus=[accelerators_name(gpu or CPU_LABEL, count) for gpu, count in grid.gpus],
    )


def beside_lines(family: Family) -> Iterator[str]:
    """What stands beside the shapes: one disk tier for all, a shape to offer, whose memory is not known or not all of
    it, whom no shape serves, prices and what can be built."""
    disk, offer = family.one_disk, family.offer
    if disk is not None:
        yield _(
            "One disk tier for all[[!served?: none serves all workloads]][[served?, {disk.disk}: {more}]][[, {penalty} "
            "for one workload]][[, over the {allowed} allowed]].",
            disk=disk,
            served=disk.more is not None,
            more=extra(disk.more) or _("no more"),
            penalty=extra(disk.penalty),
            allowed=None if disk.kept or disk.more is None else small_share(family.max_penalty),
        )
    if offer is not None and offer.break_even >= NEAR * offer.usd_per_hour:
        yield _(
            "Nobody sells {shape}: up to {offer.break_even:usd} an hour it would be worth a place here (by its parts "
            "it costs {offer.usd_per_hour:usd}).",
            shape=shape_name(offer.shape),
            offer=offer,
        )
    emulated = [served.workload for served in family.served if served.emulated]
    if emulated:
        yield _(
            "The memory of {names:some} is that of the input pipeline alone: the accelerator was emulated.",
            names=emulated,
        )
    sizes = [served.workload for served in family.served if not served.vcpus_known]
    if sizes:
        yield _(
            "How many vCPUs are needed is not known of {names:some}: those of the cheapest machine with as many "
            "accelerators count; a column `vcpus` would tell.",
            names=sizes,
        )
    unknown = [served.workload for served in family.served if not served.memory_known]
    if unknown:
        yield _(
            "What memory is needed is not known of {names:some}: what they had counts, or the least that can be built; "
            "a column `peak_anonymous_gib`, or `memory_floor: true` in the study file, would tell.",
            names=unknown,
        )
    if family.not_served:
        yield _(
            "Not served, as they have no answer, or no shape with a price holds them: {names:some}.",
            names=family.not_served,
        )
    if family.unpriced:
        yield _(
            "No shape has {gpus:or}, as no price is known: a line such as gpu,{gpu},1.50 in a file for --prices would "
            "give it.",
            gpus=family.unpriced,
            gpu=family.unpriced[0],
        )
    if family.prices is not None and family.grid is not None:
        yield prices_in_words(family.prices)
        yield grid_in_words(family.grid)


def family_lines(family: Family) -> Iterator[str]:
    """All that the terminal says."""
    yield headline(family)
    for one in family.shapes:
        yield "  " + _(
            "{shape}: {usd:usd} an hour ({basis}), for {names}.[[ Idle: {idle}.]]",
            shape=shape_name(one.shape),
            usd=one.usd_per_hour,
            basis=price_basis(one, family),
            names=served_by(one, family),
            idle=idle_in_words(one.idle),
        )
    for line in penalty_lines(family):
        yield f"  {line}"
    for step in family.curve:
        words = language.clauses(step_in_words(step, family.max_penalty))
        yield "  " + _("{shapes}: {what}.", shapes=shapes_counted(count=step.shapes), what=words)
    yield how_sure(family)
    yield from beside_lines(family)
