"""What the cheapest, the balanced and the fastest choice would be, of what the answer was chosen from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sizer.catalog import Catalog
from sizer.model import WorkloadModel, predict
from sizer.recommend.comparison import compare
from sizer.recommend.field import ScoredCandidate
from sizer.recommend.instances import cheapest
from sizer.recommend.measured_binding import binding
from sizer.recommend.measured_choice import MeasuredChoice, of_million
from sizer.recommend.prices import usd_per_million
from sizer.recommend.scoring import rounded
from sizer.records import Bottleneck, Objective, Option

PREFERENCES = ("cheapest", "balanced", "fastest")


def options(
    model: WorkloadModel, objective: Objective, catalog: Catalog, choose: Callable[[Objective], ScoredCandidate]
) -> tuple[Option, ...]:
    """Along a curve: what `choose` takes by each preference. `balanced` and `fastest` may be the cheapest, too."""
    return _merged([_option(model, each, catalog, choose(replace(objective, prefer=each))) for each in PREFERENCES])


def measured_options(choice: MeasuredChoice) -> tuple[Option, ...]:
    """Of machines that were measured; nothing where a rate is asked for, for then no preference counts."""
    if choice.objective.rate is not None:
        return ()
    found = []
    for each in PREFERENCES:
        comparison = compare(choice.machines, replace(choice.objective, prefer=each))
        if comparison.chosen is not None:
            machine = comparison.chosen.machine
            found.append(
                Option(
                    preferences=(each,),
                    spec=machine.spec,
                    throughput=machine.throughput,
                    probability=rounded(comparison.probability),
                    bottleneck=binding(choice, machine).bottleneck,
                    instance_type=machine.name,
                    usd_per_hour=machine.usd_per_hour,
                    usd_per_million_samples=of_million(machine, choice),
                )
            )
    return _merged(found)


def _option(model: WorkloadModel, preference: str, catalog: Catalog, taken: ScoredCandidate) -> Option:
    spec, configuration = taken.candidate.spec, taken.candidate.configuration
    prediction = predict(model, configuration)
    instance = cheapest(model, spec, configuration.batch_size, catalog)
    usd = instance.usd_per_hour if instance is not None else None
    bottleneck = prediction.bottleneck
    return Option(
        preferences=(preference,),
        spec=spec,
        throughput=prediction.throughput,
        probability=rounded(taken.score.probability),
        bottleneck=bottleneck if bottleneck is not Bottleneck.AMBIGUOUS else None,
        instance_type=instance.name if instance is not None else None,
        usd_per_hour=usd,
        usd_per_million_samples=usd_per_million(usd, prediction.throughput.value, model.sample_unit),
    )


def _merged(found: Sequence[Option]) -> tuple[Option, ...]:
    """Each spec once, with every preference that takes it; machines of one size may have other names."""
    merged: dict[object, Option] = {}
    for each in found:
        key = each.spec, each.instance_type, each.throughput
        before = merged.get(key)
        merged[key] = each if before is None else replace(before, preferences=before.preferences + each.preferences)
    return tuple(merged.values())
