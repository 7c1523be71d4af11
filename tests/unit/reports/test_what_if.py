"""The data of the what-if section: which controls there are, what they set, and that nothing in it breaks out."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sizer.api.predicting import predict_at
from sizer.bundled.reports import what_if
from sizer.bundled.reports.subject import Material, subjects
from sizer.bundled.reports.what_if import SUPPOSED, Control, controls, tier_rates
from sizer.catalog.catalog import Catalog
from sizer.model.model import WhatIf, WorkloadModel
from sizer.model.prediction import filled
from sizer.records.configuration import Configuration
from sizer.records.device import DiskRates
from sizer.records.prediction import Refused
from sizer.records.units import GIB
from tests import ROOT
from tests.reported_study import HOSTILE

CATALOG = Catalog.load()


def begun(model: WorkloadModel) -> Configuration:
    found = filled(model, {})
    return (
        found if found.gpu_count or not model.measured.gpus else replace(found, gpu_count=model.measured.gpus[0].count)
    )


def named(model: WorkloadModel) -> dict[str, Control]:
    return {control.name: control for control in controls(model, begun(model), CATALOG)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("rising", ["vcpus"]),
        ("accelerator and disks", ["vcpus", "gpu_speedup", "disk", "disk_mbps", "disk_iops", "decode_speedup"]),
        ("step apart", ["vcpus", "decode_speedup"]),
        ("batches on the CPU", ["vcpus", "batch_size"]),
        ("several accelerators", ["gpu_count", "gpu_speedup", "decode_speedup"]),
        ("kinds of accelerator", ["vcpus", "gpu", "gpu_speedup", "decode_speedup"]),
        ("page cache", ["vcpus", "memory_gib", "disk", "disk_mbps", "disk_iops", "data_factor"]),
        ("reads miss", ["vcpus", "memory_gib", "disk"]),
        ("memory alone", ["memory_gib"]),
        ("disks that saturate", ["gpu_count", "gpu_speedup", "disk", "decode_speedup"]),
        ("whole machines", ["vcpus", "memory_gib", "gpu", "gpu_count", "gpu_speedup", "batch_size", "decode_speedup"]),
    ],
)
def test_controls_follow_from_what_the_model_can_answer(
    models: dict[str, WorkloadModel], name: str, shown: list[str]
) -> None:
    """No memory where it was not varied, no accelerator on a job of the CPU, no other disk where reads are unknown."""
    assert list(named(models[name])) == shown


@pytest.mark.slow
def test_every_stop_has_an_answer(models: dict[str, WorkloadModel]) -> None:
    """Each one moved from where it begins: none of them is refused."""
    asked = 0
    for name, model in models.items():
        if model.posterior is None:
            continue
        start = begun(model)
        for control in controls(model, start, CATALOG):
            if name == "with and without" and control.name == "gpu_speedup":
                continue  # it begins without an accelerator, which another list chooses
            for value in control.stops:
                predict_at(model, *_asked(start, control, value))
                asked += 1
    assert asked > 500


@pytest.mark.slow
def test_what_several_controls_set_is_refused_for_what_the_page_knows(models: dict[str, WorkloadModel]) -> None:
    """Whatever they are moved to, model.js gives the only reasons that there can be."""
    random = np.random.default_rng(20261126)
    refused = Counter[str]()
    for model in (model for model in models.values() if model.posterior is not None):
        for _ in range(40):
            place, what_if = begun(model), WhatIf()
            for control in controls(model, place, CATALOG):
                if control.name not in ("disk_mbps", "disk_iops"):
                    place, change = _asked(place, control, control.stops[random.integers(len(control.stops))])
                    changed = {name: value for name, value in vars(change).items() if value != getattr(WhatIf(), name)}
                    what_if = replace(what_if, **changed)
            try:
                predict_at(model, place, what_if)
            except Refused as error:
                refused[error.refusal.reason.code.value] += 1
    assert set(refused) <= codes_of_the_page()
    assert refused


def codes_of_the_page() -> set[str]:
    script = (ROOT / "reports" / "templates" / "model.js").read_text()
    return set(re.findall(r'refused: "(\w+)"', script))


def _asked(start: Configuration, control: Control, value: Any) -> tuple[Configuration, WhatIf]:
    if control.name == "disk":
        rates = tier_rates(CATALOG).get(value) or (DiskRates(1000, 1e8) if value == SUPPOSED else None)
        return replace(start, disk=value), WhatIf(disk_rates=rates)
    if control.name in ("disk_mbps", "disk_iops"):
        return replace(start, disk=SUPPOSED), WhatIf(disk_rates=DiskRates(**{control.sets: value}))
    if control.name == "decode_speedup":
        return start, WhatIf(decode_factor=1 / value)
    if control.sets in ("gpu_speedup", "data_bytes_factor"):
        return start, WhatIf(**{control.sets: value})
    return replace(start, **{control.sets: value}), WhatIf()


def test_a_slider_marks_what_was_measured(models: dict[str, WorkloadModel]) -> None:
    """With stops between and beyond it where three values are known, and none where there are two."""
    three, two = named(models["rising"])["vcpus"], named(models["two vCPU values"])["vcpus"]
    assert [three.stops[index] for index in three.measured] == [1, 2, 4]
    assert list(three.stops) == [1, 2, 3, 4, 6, 8, 12, 16]
    assert three.labels[three.start] == "4 vCPUs"
    assert list(two.stops) == [1, 2]
    memory = named(models["memory floor"])["memory_gib"]
    assert memory.stops[0] == GIB // 2
    assert 0 not in memory.measured
    assert memory.scale == GIB


def shown(material: Material) -> dict[str, Any]:
    found = what_if.contents(material, subjects(material))
    assert found is not None
    return found


def inside(element: object) -> str:
    """What the element of data holds."""
    begin, _, rest = str(element).partition(">")
    assert begin == '<script type="application/json" id="what-if-data"'
    return rest.removesuffix("</script>")


def data(material: Material) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(inside(shown(material)["data"]))
    return found


def test_each_workload_begins_where_there_is_an_answer(material: Material) -> None:
    """At the answer, with the stops of its controls there."""
    assert material.model is not None
    for workload in data(material)["workloads"]:
        start = Configuration(**workload["start"])
        assert predict_at(material.model.workload(workload["name"]), start).throughput.value > 0
        for control in workload["controls"]:
            if control["sets"] in workload["start"]:
                assert control["stops"][control["start"]] == workload["start"][control["sets"]]


def test_no_name_ends_the_element_that_holds_the_data(material: Material) -> None:
    """Nor opens a comment; what is read back is the name."""
    hostile = f"</script><!--{HOSTILE}\u2028"
    runs = tuple(
        replace(run, spec=replace(run.spec, workload=replace(run.spec.workload, name=hostile)))
        for run in material.runs[:14]
    )
    assert material.model is not None
    model = replace(material.model, workloads=(replace(material.model.workloads[0], name=hostile),))
    changed = replace(material, runs=runs, model=model)
    text = inside(shown(changed)["data"])
    assert not set("<>&\u2028\u2029") & set(text)
    assert [each["name"] for each in json.loads(text)["workloads"]] == [hostile]


def test_a_study_without_a_model_has_no_such_section(material: Material) -> None:
    """There is nothing to compute with."""
    assert what_if.contents(replace(material, model=None), subjects(replace(material, model=None))) is None


def test_the_cheapest_machine_is_that_of_the_catalogue(material: Material) -> None:
    """The first of the list that holds a size is the cheapest of all that do; none is there for nothing."""
    found = data(material)["machines"]
    for machines in found.values():
        prices = [price for *_, price, _ in machines["priced"]]
        assert prices == sorted(prices)
    cpus = found["cpu"]["priced"]
    assert len(cpus) > 2
    for vcpus, gib in ((2, 4), (3, 20), (16, 64), (96, 100)):
        held = next(price for cores, mebibytes, _, price, _ in cpus if cores >= vcpus and mebibytes >= 1024 * gib)
        known = [
            each.usd_per_hour
            for each in CATALOG.offered
            if each.gpu is None
            and each.usd_per_hour is not None
            and each.as_of
            and each.vcpus >= vcpus
            and each.memory_bytes >= gib * GIB
            and not each.is_arm
        ]
        assert held == min(known)


def test_each_refusal_of_the_page_has_its_sentence(material: Material) -> None:
    """Every code that model.js can give."""
    said = data(material)["workloads"][0]["refusals"]
    assert codes_of_the_page() == {"not_fitted", "no_gpu_to_speed_up", "too_few_values"} <= set(said)
    assert all(sentence.endswith(".") for sentence in said.values())
