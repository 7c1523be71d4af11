"""docs/study.md says what the software does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sizer.records.study import Study
from sizer.study.json_schema import schema
from sizer.study.presets import MEASURE, Preset, vcpus_axis
from tests import ROOT

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
