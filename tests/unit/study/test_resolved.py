"""A study file, resolved, comes back equal; its schema and its documentation say what may stand in it."""

from __future__ import annotations

import contextlib
import json
import re
import string
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sizer.catalog.catalog import Catalog
from sizer.files.codec import from_json, to_json
from sizer.records.device import BatchRate, Device, DiskRates
from sizer.records.frameworks import Variable
from sizer.records.kinds import KINDS, TRANSFORMERS
from sizer.records.messages import InputError
from sizer.records.study import (
    Deadline,
    DiskTier,
    FrameworkPython,
    Limits,
    Measure,
    Objective,
    Study,
    Workload,
    WorkloadPlan,
)
from sizer.study.json_schema import schema, template
from sizer.study.parse import parse_study
from sizer.study.presets import MEASURE, HostSize, Preset, vcpus_axis
from sizer.study.resolved import to_yaml
from sizer.words.language import in_words
from tests import ROOT

# A Study written out and read again is the same Study.


Value = TypeVar("Value")
ELSEWHERE = HostSize(96, 2**40)

names = st.text(string.ascii_letters + string.digits + "._-", min_size=1, max_size=12).filter(
    lambda text: text[0].isalnum()
)
texts = st.text(st.characters().filter(str.isprintable), min_size=1, max_size=12)
paths = texts.filter(lambda text: "/" not in text and text not in (".", "..")).map(lambda text: f"/{text}")
programs = paths | texts.filter(lambda text: "/" not in text)
"""A path from the study file's folder is whole by the time that it is in a Study."""
frameworks = st.sampled_from(["mxnet", "pytorch", "opencv"])
commands = st.just(()) | st.builds(lambda program, words: (program, *words), programs, st.lists(texts, max_size=2))
variables = st.builds(Variable, st.sampled_from(["HERE", "API_KEY", "_1"]), st.none() | texts)
rates = st.floats(1e-3, 1e9)
operations = st.floats(1, 1e9)
sizes = st.integers(2**20, 2**60)
quarters = st.integers(1, 400).map(lambda count: count / 4)
megabytes = st.integers(1000, 10**12).map(float)
devices = st.one_of(
    st.just(Device()),
    st.integers(0, 99).map(lambda index: Device("cuda", index)),
    st.builds(Device, st.just("emulated"), st.just(0), st.none() | names, rates, texts),
    st.builds(
        lambda device, of: replace(device, batch_rates=tuple(sorted(of, key=lambda rate: rate.batch_size))),
        st.builds(Device, st.just("emulated"), st.just(0), st.none() | names, rates, texts),
        st.lists(
            st.builds(BatchRate, st.integers(1, 2**20), rates, texts), max_size=3, unique_by=lambda e: e.batch_size
        ),
    ),
)
tiers = st.one_of(
    st.builds(DiskTier, names, paths),
    st.builds(
        DiskTier,
        names,
        st.none(),
        st.builds(DiskRates, operations, megabytes, operations, megabytes),
        st.none() | st.sampled_from(["nvme", "ssd", "standard"]),
        st.none() | names,
        st.none() | sizes,
    ),
).filter(lambda tier: tier.name != "host")


@st.composite
def plans(draw: st.DrawFn, disks: list[str]) -> WorkloadPlan:
    """Any workload that a study file can ask for."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    name, defaults, several = draw(names), KINDS[kind], [Device()]
    if kind == "command":
        workload = Workload(
            name,
            kind,
            draw(names),
            draw(st.none() | names),
            draw(st.none() | paths),
            device=Device(),
            command=(draw(programs), *draw(st.lists(texts, max_size=3))),
            env=tuple(draw(st.lists(variables, max_size=3, unique_by=lambda variable: variable.name))),
            pass_env=tuple(draw(st.lists(st.sampled_from(["HF_HOME", "NCCL_*", "*"]), max_size=2, unique=True))),
            cwd=draw(st.none() | paths),
            setup=draw(commands),
            before=draw(commands),
            pattern=draw(st.none() | st.sampled_from(["caffe", r"(?P<rate>[\d.]+) im/s"])),
            meter=draw(st.sampled_from(["auto", "hook", "log"])),
            sample_unit=draw(st.none() | names),
        )
    else:
        if kind != "imagenet_preprocessing":
            several = draw(st.lists(devices, min_size=1, max_size=3, unique_by=lambda device: device.label))
        device = several[0]
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
        devices=tuple(several) if len(several) > 1 else (),
    )


def _axis(values: st.SearchStrategy[Value], least: int = 0) -> st.SearchStrategy[tuple[Value, ...]]:
    return st.lists(values, min_size=least, max_size=3, unique=True).map(tuple)


AMOUNTS = st.floats(1e-3, 1e9)
objectives = st.builds(
    lambda asked, latency, spot: replace(asked, latency_p99=latency, spot=spot),
    st.builds(Objective, st.sampled_from(["cheapest", "fastest", "balanced"]), st.floats(0.01, 1))
    | st.builds(Objective, deadline=st.builds(Deadline, AMOUNTS, AMOUNTS))
    | st.builds(Objective, at_least=AMOUNTS),
    st.none() | st.floats(1e-6, 3600),
    st.booleans(),
)


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
                st.floats(0.01, 86400),
                st.floats(1e-4, 0.999),
                st.integers(0, 2**32 - 1),
                st.none() | st.floats(0.01, 604800),
            )
        ),
        draw(objectives),
        frameworks=tuple(
            draw(
                st.lists(st.builds(FrameworkPython, frameworks, programs), max_size=2, unique_by=lambda e: e.framework)
            )
        ),
    )


NUMBERS = st.sampled_from(
    [
        *(0, 5e-324, 1e-70, 1e-60, 1e-30, 4e-7, 1e-6, 1e-4, 0.001, 0.0010004, 0.01, 0.1 + 0.2, 1, 1.0, 1.5, 20.0),
        *(86400, 123456.7890123, 999999999.9999999, 1e9, 1e15, 1e18, 2**63, 10**30),
    ]
) | st.floats(allow_nan=False)
SIZES = st.sampled_from(["0.00000001B", "0.5B", "1B", "1.3333KiB", "1.5MiB", "1.23456789GiB", "2GB", "1000000.333TB"])
"""What a person, or a program of theirs, may write into a study file: most of it makes no sense."""


@pytest.mark.slow
@given(studies(), st.sampled_from([None, "quick", "full"]))
def test_a_resolved_study_comes_back_equal(study: Study, preset: str | None) -> None:
    """On another host, with a preset and without a catalogue: nothing is left to fill in."""
    assert parse_study(to_yaml(study), "/x/study.yaml", preset, ELSEWHERE, None) == study


def _given(**keys: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries({}, optional=keys)


@given(
    measure=_given(seconds=NUMBERS, precision=NUMBERS, timeout=NUMBERS, seed=NUMBERS, repeats=NUMBERS),
    objective=_given(target=NUMBERS),
    rates=_given(read_iops=NUMBERS, read_mbps=NUMBERS, write_iops=NUMBERS, write_mbps=NUMBERS),
    device=_given(samples_per_second=NUMBERS),
    axes=_given(vcpus=NUMBERS, memory=SIZES, batch_size=NUMBERS),
    top=_given(embedded_images=NUMBERS),
    part=st.sampled_from(["measure", "objective", "disks", "device", "axes", "top"]),
)
def test_what_is_accepted_is_accepted_again_and_so_are_its_runs(
    measure: dict[str, object],
    objective: dict[str, object],
    rates: dict[str, object],
    device: dict[str, object],
    axes: dict[str, object],
    top: dict[str, object],
    part: str,
) -> None:
    """Whatever numbers a file holds, its resolved form means the same, and no run is left out for what it was given."""
    workload: dict[str, object] = {"kind": "image_training"}
    data: dict[str, object] = {"workloads": [workload]}
    # One part at a time: a file with a mistake anywhere is refused as a whole.
    if part == "device" and device:
        workload["device"] = {"emulate": device}
    disks = {"d": {"emulate": {"read_mbps": 40, **rates}}}
    given_parts = {"measure": measure, "objective": objective, "disks": disks, "axes": axes}
    data |= top if part == "top" else {part: given_parts[part]} if part in given_parts else {}
    try:
        study = parse_study(yaml.safe_dump(data), "/x/study.yaml", None, ELSEWHERE, None)
    except InputError:
        return
    assert parse_study(to_yaml(study), "/x/study.yaml", "full", HostSize(2, 2**30), None) == study
    assert from_json(Study, json.loads(json.dumps(to_json(study), allow_nan=False)), "study") == study


def test_every_gpu_of_the_catalogue_comes_back_without_it() -> None:
    """A published rate, its GPU and its source are all that a resolved study needs of it."""
    catalog = Catalog.load()
    pairs = {(rate.mode, rate.network, rate.gpu) for rate in catalog.accelerators if rate.mode in ("train", "infer")}
    for mode, network, gpu in sorted(pairs):
        kind = {"train": "image_training", "infer": "image_inference"}[mode]
        framework = "pytorch" if network in TRANSFORMERS else "mxnet"
        job = f"kind: {kind}, framework: {framework}, network: {network}"
        text = f"workloads: [{{{job}, device: {{emulate: {{gpu: {gpu}}}}}}}]\n"
        try:
            study = parse_study(text, "study.yaml", None, ELSEWHERE, catalog)
        except InputError as error:
            # A network that is no image network of ours, or a rate of several GPUs alone.
            assert "must be" in str(error) or "o rate to " in str(error)  # noqa: PT017
            continue
        assert parse_study(to_yaml(study), "study.yaml", None, ELSEWHERE, None) == study


def test_the_templates_examples_are_valid() -> None:
    """With every example taken in, it is still a study file, and names what the catalogue has."""
    study = parse_study(template().replace("#?", ""), "study.yaml", None, HostSize(2, 2**30), Catalog.load())
    assert [plan.workload.name for plan in study.workloads] == ["train", "language", "prepare", "mine"]
    assert len(study.disks) == 3
    assert study.around is not None


def test_a_resolved_study_reads_as_a_person_would_write_it(parse: Callable[..., Study]) -> None:
    """Sizes keep their units and whole numbers have no point."""
    text = to_yaml(parse("workloads: [{kind: image_training}]\naxes: {vcpus: [0.5, 1], memory: [2GiB, 500MB]}\n"))
    assert "vcpus: [0.5, 1]" in text
    assert "memory: [2GiB, 500MB]" in text
    assert "measure: {repeats: 3, seconds: 30, precision: 0.02, seed: 1}" in text


@pytest.mark.parametrize("keys", ["isolate: true", "isolate: false", ""])
def test_whether_stages_are_isolated_comes_back_under_any_preset(parse: Callable[..., Study], keys: str) -> None:
    """Also where `full` would isolate them: the study folder holds what was asked for then."""
    study = parse(f"workloads:\n  - kind: image_training\n    {keys}\n")
    assert parse(to_yaml(study), "full") == study


# What is read of study files, and that it is written and read again alike.


CASES = yaml.safe_load(Path(__file__).with_name("read.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["study"][:60])
def test_a_study_is_read_and_written_again(parse: Callable[..., Study], case: dict[str, Any]) -> None:
    study = parse(case["study"], case.get("preset"))
    for path, value in case["is"].items():
        value_read = reduce(
            lambda part, name: part[int(name)] if name.isdigit() else getattr(part, name), path.split("."), study
        )
        assert (list(value_read) if isinstance(value_read, tuple) else value_read) == value, path
    assert parse(to_yaml(study), case.get("preset")) == study


def test_a_time_is_written_as_people_say_it(parse: Callable[..., Study]) -> None:
    study = parse("workloads: [{kind: image_training}]")
    for seconds, spelt in ((21600.0, "6h"), (5400.0, "90m"), (90.5, "90.5s")):
        asked = replace(study, objective=Objective(deadline=Deadline(1e6, seconds)))
        assert f"within: {spelt}}}" in to_yaml(asked)


# Each way to write a study file wrong is one sentence with its line, the key and what to write.


REFUSED_CASES = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", REFUSED_CASES, ids=[case["says"][:60] for case in REFUSED_CASES])
def test_it_is_refused_in_one_sentence(parse: Callable[..., Study], case: dict[str, str]) -> None:
    """Of several mistakes the first is said, and never a value of `env`."""
    with pytest.raises(InputError) as refused:
        parse(case["study"])
    sentence = in_words(refused.value)
    assert sentence.startswith(f"study.yaml {case['says']}")
    assert "\n" not in sentence
    assert "hush" not in sentence


# The published schema, and what a person reads when a file does not keep to it.


def test_the_schema_is_a_valid_one() -> None:
    """What `sizer schema` prints is JSON Schema of draft 2020-12."""
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema())


def test_every_value_of_the_schema_is_described() -> None:
    """Messages are made of descriptions, so each part that can complain has one."""
    assert [where for where, part in _parts(schema(), "") if "type" in part and "description" not in part] == []


def _parts(part: Any, where: str) -> list[tuple[str, dict[str, Any]]]:
    """Every subschema with its place, but conditions, which never complain."""
    if isinstance(part, list):
        return [form for index, item in enumerate(part) for form in _parts(item, f"{where}/{index}")]
    if not isinstance(part, dict):
        return []
    forms = [(where, part)] if isinstance(part.get("type"), (str, list)) else []
    return forms + [form for name, value in part.items() if name != "if" for form in _parts(value, f"{where}/{name}")]


WORDS = st.sampled_from(
    [
        *schema()["properties"],
        *schema()["$defs"]["workload"]["properties"],
        "emulate",
        "gpu",
        "vcpus",
        "memory",
        "command",
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["image_training", "command", "resnet50", "1GiB", "cpu", "cuda:1", "disk"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(WORDS, VALUES, max_size=5), st.lists(st.dictionaries(WORDS, VALUES, max_size=5), max_size=2))
def test_any_yaml_is_a_study_or_one_sentence(data: dict[str, Any], workloads: list[dict[str, Any]]) -> None:
    """Whatever the file says, nothing but InputError is raised."""
    workloads = [{"kind": "image_training", **workload} for workload in workloads]
    text = yaml.safe_dump({**data, "workloads": workloads}, allow_unicode=True)
    with contextlib.suppress(InputError):
        parse_study(text, "study.yaml", "quick", HostSize(2, 2**30), None)


# docs/study.md says what the software does.


TEXT = (ROOT / "docs" / "study.md").read_text("utf-8")


def test_its_examples_are_valid(parse: Callable[..., Study]) -> None:
    """Each block can be copied into a file and run."""
    blocks = re.findall(r"```yaml\n(.*?)```", TEXT, flags=re.DOTALL)
    assert len(blocks) == 2
    names = [[plan.workload.name for plan in parse(block).workloads] for block in blocks]
    assert names[1] == ["train-resnet50", "train-vgg16", "mine", "each-batch"]


def test_it_names_every_key() -> None:
    """A key that is added to the schema is documented."""
    assert [name for name in sorted(_keys(schema())) if not re.search(rf"\b{name}\b", TEXT)] == []


def _keys(part: Any) -> set[str]:
    if isinstance(part, list):
        return {key for item in part for key in _keys(item)}
    if not isinstance(part, dict):
        return set()
    properties = part.get("properties", {})
    return set(properties) | {key for value in part.values() for key in _keys(value)}


def test_its_table_of_presets_is_true() -> None:
    """The figures are those of the software."""
    for preset in Preset:
        measure = MEASURE[preset]
        axis = ", ".join(f"{value:g}" for value in vcpus_axis(preset, 8))
        figures = f"{measure.repeats} | {measure.seconds:g} | {measure.precision:.0%} | {axis}".replace("%", " %")
        assert f"| `{preset.value}` | {figures} |" in TEXT


def test_a_study_that_sizer_wrote_holds_every_default(parse: Callable[..., Study]) -> None:
    """It is read again, and so is one of before, when these were taken."""
    study = parse("workloads: [{kind: image_training, input: synthetic}]\n")
    written = to_yaml(study)
    assert parse(written) == study
    before = written.replace("cache: cold", "cache: warm").replace("format: recordio", "format: lmdb\n  data: /data/x")
    assert (parse(before).workloads[0].workload.cache, parse(before).workloads[0].workload.data) == ("warm", "/data/x")
