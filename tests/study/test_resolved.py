"""A Study written out and read again is the same Study."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.catalog import Catalog
from sizer.records import Device, DiskRates, DiskTier, Limits, Measure, Objective, Study, Workload, WorkloadPlan
from sizer.study import Facts, parse_study, template, to_yaml
from sizer.study.kinds import KINDS

Value = TypeVar("Value")
ELSEWHERE = Facts(96, 2**40)

names = st.text(string.ascii_letters + string.digits + "._-", min_size=1, max_size=12).filter(
    lambda text: text[0].isalnum()
)
texts = st.text(st.characters().filter(str.isprintable), min_size=1, max_size=12)
paths = texts.filter(lambda text: "/" not in text and text not in (".", "..")).map(lambda text: f"/{text}")
programs = paths | texts.filter(lambda text: "/" not in text)
"""A path from the study file's folder is whole by the time that it stands in a Study."""
rates = st.floats(1e-3, 1e9)
sizes = st.integers(2**20, 2**60)
quarters = st.integers(1, 400).map(lambda count: count / 4)
megabytes = st.integers(1, 10**12).map(float)
devices = st.one_of(
    st.just(Device()),
    st.integers(0, 99).map(lambda index: Device("cuda", index)),
    st.builds(Device, st.just("emulated"), st.just(0), st.none() | names, rates, texts),
)
tiers = st.one_of(
    st.builds(DiskTier, names, paths),
    st.builds(
        DiskTier,
        names,
        st.none(),
        st.builds(DiskRates, rates, megabytes, rates, megabytes),
        st.none() | st.sampled_from(["nvme", "ssd", "standard"]),
        st.none() | names,
        st.none() | sizes,
    ),
).filter(lambda tier: tier.name != "host")


@st.composite
def plans(draw: st.DrawFn, disks: list[str]) -> WorkloadPlan:
    """Any workload that a study file can ask for."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    name, defaults = draw(names), KINDS[kind]
    if kind == "command":
        workload = Workload(
            name,
            kind,
            draw(names),
            draw(st.none() | names),
            draw(st.none() | paths),
            device=Device(),
            command=(draw(programs), *draw(st.lists(texts, max_size=3))),
            pattern=draw(st.none() | st.sampled_from(["caffe", r"(?P<rate>[\d.]+) im/s"])),
            sample_unit=draw(st.none() | names),
        )
    else:
        device = Device() if kind == "imagenet_preprocessing" else draw(devices)
        workload = Workload(
            name, kind, defaults.framework, defaults.network, draw(st.none() | paths), defaults.format, device=device
        )
    return WorkloadPlan(
        workload,
        draw(_axis(st.integers(1, 2**20), 1)),
        draw(_axis(quarters)),
        draw(_axis(sizes)),
        draw(_axis(st.sampled_from(disks))) if disks else (),
        draw(st.booleans()),
    )


def _axis(values: st.SearchStrategy[Value], least: int = 0) -> st.SearchStrategy[tuple[Value, ...]]:
    return st.lists(values, min_size=least, max_size=3, unique=True).map(tuple)


@st.composite
def studies(draw: st.DrawFn) -> Study:
    """Any study that a file can describe."""
    disks = draw(st.lists(tiers, max_size=3, unique_by=lambda tier: tier.name))
    named = [tier.name for tier in disks]
    disk = st.none() | (st.sampled_from(named) if named else st.none())
    return Study(
        draw(names),
        tuple(draw(st.lists(plans(named), min_size=1, max_size=3, unique_by=lambda plan: plan.workload.name))),
        tuple(disks),
        draw(st.none() | st.builds(Limits, st.none() | quarters, st.none() | sizes, disk)),
        draw(
            st.builds(
                Measure,
                st.integers(1, 1000),
                st.floats(1e-3, 86400),
                st.floats(1e-6, 0.999),
                st.integers(0, 2**32 - 1),
                st.none() | st.floats(1e-3, 604800),
            )
        ),
        draw(st.builds(Objective, st.sampled_from(["cheapest", "fastest", "balanced"]), st.floats(1e-6, 1))),
    )


@given(studies(), st.sampled_from([None, "quick", "full"]))
def test_a_resolved_study_comes_back_equal(study: Study, preset: str | None) -> None:
    """On another host, with a preset and without a catalogue: nothing is left to fill in."""
    assert parse_study(to_yaml(study), "/x/study.yaml", preset, ELSEWHERE, None) == study


def test_the_template_is_valid_and_comes_back_equal() -> None:
    """`sizer init` writes a file that runs as it is."""
    study = parse_study(template(), "study.yaml", None, Facts(2, 2**30), None)
    assert [plan.workload.name for plan in study.workloads] == ["train"]
    assert parse_study(to_yaml(study), "study.yaml", "full", ELSEWHERE, None) == study


def test_the_templates_examples_are_valid() -> None:
    """With every example taken in, it is still a study file, and names what the catalogue has."""
    study = parse_study(template().replace("#?", ""), "study.yaml", None, Facts(2, 2**30), Catalog.load())
    assert [plan.workload.name for plan in study.workloads] == ["train", "language", "prepare", "mine"]
    assert len(study.disks) == 3
    assert study.around is not None


def test_a_resolved_study_reads_as_a_person_would_write_it(parse: Callable[..., Study]) -> None:
    """Sizes keep their units and whole numbers have no point."""
    text = to_yaml(parse("workloads: [{kind: image_training}]\naxes: {vcpus: [0.5, 1], memory: [2GiB, 500MB]}\n"))
    assert "vcpus: [0.5, 1]" in text
    assert "memory: [2GiB, 500MB]" in text
    assert "measure: {repeats: 3, seconds: 30, precision: 0.02, seed: 1}" in text


@pytest.mark.parametrize("disk", ["alibaba/cloud_ssd", "aws/gp3", "gcp/pd-balanced"])
def test_a_tier_of_the_catalogue_comes_back_without_it(disk: str) -> None:
    """A saved study keeps the figures it was measured with."""
    text = f"workloads: [{{kind: image_training}}]\ndisks: {{d: {{emulate: {disk}, size: 333GiB}}}}\n"
    study = parse_study(text, "study.yaml", None, ELSEWHERE, Catalog.load())
    assert study.disks[0].catalog_name == disk
    assert parse_study(to_yaml(study), "study.yaml", None, ELSEWHERE, None) == study
