"""What if: the model as data, so that the page computes what `sizer predict` says of other configurations.

The equation stands in `templates/model.js`; sentences are made here, with placeholders for what is computed there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, astuple, replace
from typing import Any

from sizer.catalog.catalog import Catalog
from sizer.model.filling import filled
from sizer.model.model import WorkloadModel
from sizer.model.plain_data import CONSTANTS, PLACE, as_data
from sizer.model.prediction import predict_several
from sizer.recommend.quality import rates_mistold
from sizer.recommend.rentable_machines import is_computed_by_cpu, rentable
from sizer.recommend.sizes import memory_varied
from sizer.records.configuration import Configuration
from sizer.records.device import Device
from sizer.records.prediction import Refusal
from sizer.words.answers import machine_rented
from sizer.words.model import (
    what_if_bottlenecks,
    what_if_doubt,
    what_if_labels,
    what_if_refusals,
    what_if_sentences,
    what_if_unfit,
)
from sizer.words.verdict import BadgeKind, badge

from .. import results
from ..embedded import embedded
from ..figures.binding import HUES
from ..material import Material
from ..subject import Subject
from .controls import ENOUGH, Control, controls, tier_rates

MEMORY = 1 << 20
"""Bytes in which the sizes of instance types are written."""


def contents(material: Material, found: Sequence[Subject]) -> dict[str, Any] | None:
    """The data of all workloads that have a model; None where none has."""
    asked = [subject for subject in found if subject.model is not None and subject.model.posterior is not None]
    if not asked:
        return None
    objective = material.recommendation.objective if material.recommendation else material.study.objective
    catalog = Catalog.load().at_spot_prices() if objective.spot else Catalog.load()
    machines: dict[str, Any] = {}
    workloads = [
        _workload(subject, subject.model, catalog, machines, objective.spot) for subject in asked if subject.model
    ]
    data = {
        "constants": CONSTANTS,
        "place": PLACE,
        "labels": what_if_labels(),
        "unfit": what_if_unfit(),
        "hues": {bottleneck.value: hue for bottleneck, hue in HUES.items()},
        "tiers": {name: astuple(rates) for name, rates in tier_rates(catalog).items()},
        "machines": machines,
        "workloads": workloads,
    }
    return {
        "data": embedded("what-if-data", data),
        "names": [subject.name for subject in asked],
        "badges": [badge(kind) for kind in (BadgeKind.FITTED, BadgeKind.PREDICTED, BadgeKind.EXTRAPOLATED)],
    }


def _workload(
    subject: Subject, model: WorkloadModel, catalog: Catalog, machines: dict[str, Any], spot: bool
) -> dict[str, Any]:
    start = _start(subject, model)
    answer = subject.answer
    return {
        "name": subject.name,
        "model": as_data(model),
        "start": asdict(start),
        "told": _told(model, start),
        "is_answer": answer is not None and answer.spec is not None,
        "rate": answer.throughput.value if answer is not None and answer.throughput is not None else None,
        "controls": [_control(each) for each in controls(model, start, catalog)],
        "sentences": what_if_sentences(subject.unit),
        "bottlenecks": what_if_bottlenecks(subject.device),
        "refusals": what_if_refusals(model.measured.memory_bytes, model.refused, subject.terms),
        "memory_varied": memory_varied(model.measured),
        "kinds": _kinds(model, catalog, machines),
        "own_prices": _own_prices(subject, spot),
        "doubt": what_if_doubt(rates_mistold(subject.runs), subject.terms),
    }


def _start(subject: Subject, model: WorkloadModel) -> Configuration:
    """The answer where there is one, else the largest that was measured.

    A size that is sold is not always one that was measured; where two of an axis were, only these have an answer.
    """
    spec, measured = subject.answer.spec if subject.answer is not None else None, model.measured
    given = {} if spec is None else {name: value for name, value in asdict(spec).items() if value and name != "nodes"}
    if not any(gpus.count for gpus in measured.gpus):
        given.pop("gpu_count", None)  # a table may name a kind of accelerator and not how many
    found = filled(model, given)
    if measured.gpus and not found.gpu_count:
        found = replace(found, gpu_count=measured.gpus[0].count)
    axes = {"vcpus": measured.vcpus, "memory_bytes": measured.memory_bytes, "batch_size": measured.batch_size}
    for axis, known in axes.items():
        value = getattr(found, axis)
        if known and len(known) < ENOUGH and value is not None and value not in known:
            nearest: dict[str, Any] = {axis: max((each for each in known if each <= value), default=known[0])}
            found = replace(found, **nearest)
    return found


def _told(model: WorkloadModel, start: Configuration) -> dict[str, Any] | None:
    """What all draws say where the sliders begin: the answer beside them is the same figure."""
    (found,) = predict_several(model, [start])
    if isinstance(found, Refusal):
        return None
    return {
        "throughput": asdict(found.throughput),
        "bottleneck": found.bottleneck.value,
        "shares": found.shares,
    }


def _control(control: Control) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, range) else value for name, value in asdict(control).items()}


def _kinds(model: WorkloadModel, catalog: Catalog, machines: dict[str, Any]) -> list[list[Any]]:
    """For each kind of accelerator of the runs: its label, the key of the machines that have it, whether it needs one.

    The key is None where no catalogue can know the kind.
    """
    device, found = model.facts.device, []
    for gpu, count in dict.fromkeys((gpus.gpu, gpus.count) for gpus in model.measured.gpus) or [(None, 0)]:
        cpu = is_computed_by_cpu(gpu, count, device)
        found.append(
            [gpu, _machines(None if cpu else gpu, Device("cpu") if cpu else device, catalog, machines), not cpu]
        )
    return found


def _machines(gpu: str | None, device: Device, catalog: Catalog, machines: dict[str, Any]) -> str | None:
    """The key of the machines with this kind, which are written once for all workloads that use it."""
    key = gpu or device.gpu or device.kind
    found = rentable(gpu, device, catalog)
    if found is None:
        return None
    machines[key] = {
        "priced": [[i.vcpus, i.memory_bytes / MEMORY, i.gpu_count, i.usd_per_hour, i.name] for i in found.priced],
        "unpriced": [[i.vcpus, i.memory_bytes / MEMORY, i.gpu_count] for i in found.unpriced],
    }
    return key


def _own_prices(subject: Subject, spot: bool) -> list[list[Any]]:
    """Where a table says what its machines cost: the configuration, the price of an hour, the machine's name."""
    found: dict[Configuration, tuple[float, str]] = {}
    for result in results.by_configuration(subject.runs):
        machine = result.machine
        usd = None if machine is None else machine.usd_per_hour_spot if spot else machine.usd_per_hour
        if machine is not None and usd is not None:
            cheapest = found.get(result.configuration)
            if cheapest is None or usd * machine.nodes < cheapest[0]:
                found[result.configuration] = usd * machine.nodes, machine_rented(machine)
    return [[list(astuple(place)), usd, name] for place, (usd, name) in found.items()]
