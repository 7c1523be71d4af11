"""The published schema, and what a person reads when a file does not keep to it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sizer.records.errors import InputError
from sizer.records.kinds import KINDS
from sizer.records.study import Study
from sizer.study.json_schema import schema
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize

IMPORTED = "workloads:\n  - kind: imported\n"
TRAIN = "workloads:\n  - kind: image_training\n"
COMMAND = "workloads:\n  - kind: command\n    command: [a]\n"

SENTENCES = [
    (TRAIN + "axes:\n  memroy: [1GiB]\n", "line 4: `memroy` is not a key of `axes`; did you mean `memory`?"),
    (TRAIN + "axis: {}\n", "line 3: `axis` is not a key of the study file; did you mean `axes`?"),
    (TRAIN + "zzz: {}\n", "line 3: `zzz` is not a key of the study file; use name, workloads,"),
    (TRAIN + "    nework: resnet50\n", "line 3: `nework` is not a key of a workload; did you mean `network`?"),
    (
        TRAIN + "measure:\n  second: 3\n  repeats: 0\n",
        "line 4: `second` is not a key of `measure`; did you mean `seconds`?",
    ),
    (
        TRAIN + "measure:\n  probe: false\n",
        "line 4: `probe` is not a key of `measure`; it no longer exists: remove it, and give more `repeats`",
    ),
    (TRAIN + "disks:\n  a: {emulat: x}\n", "line 4: `emulat` is not a key of disk `a`; did you mean `emulate`?"),
    ("- a\n", "line 1: the study file must be a mapping that has at least `workloads`, not a list"),
    ("workloads\n", "line 1: the study file must be a mapping that has at least `workloads`, not `workloads`"),
    ("name: a\n", "line 1: the study file needs `workloads`, a list of workloads, each with its `kind`"),
    ("workloads:\n", "line 1: `workloads` must be a list of workloads, each with its `kind`, not nothing"),
    ("workloads: []\n", "line 1: `workloads` must be a list of workloads, each with its `kind`, not an empty list"),
    ("workloads: [train]\n", "line 1: a workload must be a mapping that has at least `kind`, not `train`"),
    ("workloads:\n  - name: a\n", "line 2: a workload needs `kind`, the program that is measured: image_training,"),
    ("workloads:\n  - kind: image_trainin\n", "line 2: `kind` in a workload must be `image_training` (one of"),
    (TRAIN + "    network: resnet5\n", "line 3: `network` in a workload must be `resnet50` (one of alexnet,"),
    (TRAIN + "    network:\n      - alexnet\n      - foo\n", "line 5: a value of `network` must be one of alexnet,"),
    (TRAIN + "    network: 5\n", "line 3: `network` in a workload must be the name of a network, or a list"),
    (TRAIN + "    network: []\n", "line 3: `network` in a workload must be the name of a network, or a list"),
    (TRAIN + "    framework: mxnett\n", "line 3: `framework` in a workload must be `mxnet` (one of mxnet, pytorch or"),
    (TRAIN + "    batch_size: 0\n", "line 3: `batch_size` in a workload must be a whole number from 1"),
    (TRAIN + "    batch_size: [8, 2.5]\n", "line 3: a value of `batch_size` must be a whole number from 1, like 32"),
    (TRAIN + "    batch_size: yes\n", "line 3: `batch_size` in a workload must be a whole number from 1"),
    (TRAIN + "    device: gpu\n", "line 3: `device` in a workload must be cpu, cuda:0, {emulate: {gpu: P100}} or"),
    (TRAIN + "    device: {emulate: {gup: P100}}\n", "line 3: `gup` is not a key of `emulate`; did you mean `gpu`?"),
    (
        TRAIN + "    device: {emulate: {samples_per_second: 0}}\n",
        "line 3: `samples_per_second` in `emulate` must be a number",
    ),
    (
        TRAIN + "    format: text\n",
        "line 3: `format` in a workload must be one of recordio, lmdb or folder, not `text`",
    ),
    (
        TRAIN + "    gpu_count: [1, 2]\n",
        "line 3: `gpu_count` is not a key of a workload; write `axes: {gpu_count: ...}`.",
    ),
    (TRAIN + "    embedded_images: 9\n", "line 3: `embedded_images` is not a key of a workload; it belongs at the top"),
    (TRAIN + "    command: a\n", "line 3: `command` belongs to a workload of kind command only"),
    (TRAIN + "    name: a/b\n", "line 3: `name` in a workload must be a name of letters of any script, digits"),
    (TRAIN + '    name: "a\\n"\n', "line 3: `name` in a workload must be printable text of up to 100 characters"),
    (IMPORTED + "    name: ' a'\n", "line 3: `name` in a workload must be printable text of up to 100 characters"),
    (TRAIN + "axes: {vcpus: 0.3}\n", "line 3: `vcpus` in `axes` must be a positive multiple of 0.25"),
    (TRAIN + "axes: {vcpus: [1, 0]}\n", "line 3: a value of `vcpus` must be a positive multiple of 0.25"),
    (TRAIN + "axes: {vcpus: true}\n", "line 3: `vcpus` in `axes` must be a positive multiple of 0.25"),
    (TRAIN + "axes: {memory: 8}\n", "line 3: `memory` in `axes` must be a size with its unit"),
    (TRAIN + "axes: {memory: [1GB, 8G]}\n", "line 3: a value of `memory` must be a size with its unit, like 500MB"),
    (TRAIN + "disks:\n  a b: /x\n", "line 4: `a b` must be the name of a disk in `disks`"),
    (TRAIN + "disks:\n  a:\n", "line 4: `a` in `disks` must be a folder on a real mount"),
    (TRAIN + "disks:\n  a: {emulate: alibaba/x}\n", "line 4: disk `a` needs `size`, a size with its unit"),
    (TRAIN + "disks:\n  a: {emulate: {read_iops: 1}}\n", "line 4: `emulate` needs `read_mbps`, reads in MB (10^6)"),
    (
        TRAIN + "disks:\n  a: {emulate: {class: fast, read_mbps: 1}}\n",
        "line 4: `class` in `emulate` must be one of nvme,",
    ),
    (
        TRAIN + "measure: {repeats: 0}\n",
        "line 3: `repeats` in `measure` must be how many times each configuration is run",
    ),
    (TRAIN + "measure: {seed: 1.5}\n", "line 3: `seed` in `measure` must be a whole number from 0"),
    (TRAIN + "measure: {precision: 2}\n", "line 3: `precision` in `measure` must be the relative half-width"),
    (TRAIN + "objective: {prefer: cheap}\n", "line 3: `prefer` in `objective` must be `cheapest` (one of cheapest,"),
    (TRAIN + "objective: {target: 95}\n", "line 3: `target` in `objective` must be the share of the best throughput"),
    (COMMAND + "    device: {emulate: {gpu: P100}}\n", "line 4: `device` in a workload must be cpu or cuda:0, because"),
    (COMMAND + "    format: folder\n", "line 4: `format` does not belong to a workload of kind command"),
    ("workloads:\n  - kind: command\n", "line 2: a workload needs `command`, a line or a list of words"),
    (
        "workloads:\n  - kind: imagenet_preprocessing\n    network: resnet50\n",
        "line 3: `network` does not belong to a workload of kind imagenet_preprocessing",
    ),
    (
        "workloads:\n  - kind: imagenet_preprocessing\n    device: cuda:0\n",
        "line 3: `device` in a workload must be `cpu`, not `cuda:0`",
    ),
    (
        "workloads:\n  - kind: lstm_training\n    network: smal\n",
        "line 3: `network` in a workload must be `small` (one of",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), SENTENCES)
def test_one_sentence_with_file_line_key_and_what_to_type(
    parse: Callable[..., Study], text: str, sentence: str
) -> None:
    """Each way to break the schema is reported at its line, with the nearest known name or what should be there."""
    with pytest.raises(InputError) as caught:
        parse(text)
    assert str(caught.value).startswith(f"study.yaml {sentence}")
    assert "\n" not in str(caught.value)


def test_the_first_of_several_mistakes_is_told(parse: Callable[..., Study]) -> None:
    """Mistakes are reported from top to bottom, one at a time."""
    with pytest.raises(InputError, match="line 2: "):
        parse("workloads:\n  - kind: nothing\naxes: {vcpus: 0.3}\nzzz: 1\n")


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
        return [found for index, item in enumerate(part) for found in _parts(item, f"{where}/{index}")]
    if not isinstance(part, dict):
        return []
    found = [(where, part)] if isinstance(part.get("type"), (str, list)) else []
    return found + [each for name, value in part.items() if name != "if" for each in _parts(value, f"{where}/{name}")]


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


def test_the_schema_names_every_kind() -> None:
    """A kind that has an entry of its own can be asked for in a study file."""
    kinds = schema()["$defs"]["workload"]["properties"]["kind"]["enum"]
    assert kinds == list(KINDS)
