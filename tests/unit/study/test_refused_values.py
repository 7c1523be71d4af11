"""Values of a study file that the schema lets through and the study does not: the line is named, and what to write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from sizer.records.errors import InputError
from sizer.records.study import Study
from sizer.study import commands, document
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.words.language import in_words

Parse = Callable[..., Study]
ONE = "workloads:\n  - {kind: image_training, network: resnet50}\n"


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as error:
        call()
    return in_words(error.value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (f"{ONE}axes:\n  vcpus: [1]\n  batch_size: []\n", ["line", "`batch_size`"]),
        (f"{ONE}axes: {{vcpus: [1]}}\naround:\n  memory: 0GiB\n", ["line 5", "0GiB"]),
        (f"{ONE}axes: {{vcpus: [1]}}\naround:\n  memory: lots\n", ["line 5", "lots"]),
    ],
)
def test_a_value_is_refused_at_its_line(text: str, parts: list[str], parse: Parse) -> None:
    """What is wrong is quoted where it stands."""
    said = refused(lambda: parse(text))
    assert said.startswith("study.yaml")
    for part in parts:
        assert part in said


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        (
            "workloads:\n  - {kind: image_training, network: resnet50, device: {emulate: {gpu: P100}}}\n",
            "the catalogue has no rate for P100; write its samples_per_second.",
        ),
        (
            f"{ONE}axes: {{disk: [cloud]}}\ndisks: {{cloud: {{emulate: alibaba/cloud_ssd, size: 500GiB}}}}\n",
            "the catalogue has no figures for alibaba/cloud_ssd; write its read_mbps.",
        ),
    ],
)
def test_without_a_catalogue_figures_have_to_be_written(text: str, ending: str) -> None:
    """A study that is read where no catalogue is at hand says which figure it needs."""
    said = refused(lambda: parse_study(text, "study.yaml", None, HostSize(4, 2**34), None))
    assert "line 2" in said or "line 4" in said
    assert said.endswith(ending)


@pytest.mark.parametrize("error", [OverflowError, RecursionError])
def test_a_pattern_that_python_cannot_hold_is_refused(
    error: type[Exception], parse: Parse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line of the pattern is named."""

    def compiled(_pattern: str) -> None:
        raise error

    monkeypatch.setattr(commands, "compiled", compiled)
    said = refused(lambda: parse("workloads:\n  - kind: command\n    command: a\n    pattern: 'x'\n"))
    assert said.startswith("study.yaml line 4: `pattern` is too large for a regular expression")


def test_a_character_that_yaml_refuses_is_named_by_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of YAML finds some that are not looked for before it."""

    def compose(text: str, **_options: object) -> None:
        raise yaml.reader.ReaderError("study.yaml", text.index("!"), ord("!"), "unicode", "not allowed")

    monkeypatch.setattr("sizer.study.document.yaml.compose", compose)
    said = refused(lambda: document._compose("a: 1\nb: !\n", "study.yaml"))
    assert "study.yaml" in said
    assert "line 2" in said


def test_a_folder_whose_name_cannot_be_printed_gives_no_paths(tmp_path: Path) -> None:
    """A relative path would put that name into every line of the report."""
    said = refused(lambda: document.Document(f"{tmp_path}/a\x07b/study.yaml").locate("images"))
    assert said.endswith("move it, or write absolute paths.")
    assert document.Document(f"{tmp_path}/a/study.yaml").locate("images") == f"{tmp_path}/a/images"
