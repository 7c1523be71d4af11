"""The `options` of a workload, and what a study file says that would change nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.records.frameworks import FrameworkOptions
from sizer.records.study import Study, Workload
from sizer.study.resolved import to_yaml

Parse = Callable[..., Study]


def of(parse: Parse, keys: str, kind: str = "image_training") -> list[Workload]:
    return [each.workload for each in parse(f"workloads:\n  - {{kind: {kind}, {keys}}}\n").workloads]


def test_what_is_given_is_read_and_the_rest_left_to_the_program(parse: Parse) -> None:
    """Precision is the workload's own, as that of an imported table is."""
    (workload,) = of(parse, "framework: pytorch, options: {precision: bf16, workers: 0, decoder: pillow}")
    assert workload.options == FrameworkOptions(workers=0, decoder="pillow")
    assert workload.precision == "bf16"
    (plain,) = of(parse, "framework: pytorch")
    assert (plain.options, plain.precision) == (FrameworkOptions(), None)


def test_a_framework_without_an_option_takes_what_it_does_anyway(parse: Parse) -> None:
    """So one mapping serves both; nothing of it is passed to the one that lacks it."""
    both = of(parse, "framework: [mxnet, pytorch], options: {compile: false, channels_last: false, precision: fp32}")
    assert [each.options for each in both] == [FrameworkOptions(), FrameworkOptions(False, False)]
    assert [each.precision for each in both] == ["fp32", "fp32"]


def test_preprocessing_takes_a_decoder(parse: Parse) -> None:
    """And is written down and read again with it."""
    (workload,) = of(parse, "options: {decoder: pillow}", "imagenet_preprocessing")
    assert workload.options == FrameworkOptions(decoder="pillow")
    study = parse("workloads:\n  - {kind: imagenet_preprocessing, options: {decoder: opencv}}\n")
    assert parse(to_yaml(study)).workloads == study.workloads


@pytest.mark.parametrize("device", ["'cuda:0'", "{emulate: {samples_per_second: 100}}"])
def test_fp16_is_for_accelerators(parse: Parse, device: str) -> None:
    """Real ones and emulated ones."""
    (workload,) = of(parse, f"framework: pytorch, device: {device}, options: {{precision: fp16}}")
    assert workload.precision == "fp16"


def test_fcn5_runs_on_synthetic_vectors(parse: Parse) -> None:
    """In both frameworks."""
    assert [each.network for each in of(parse, "framework: [mxnet, pytorch], network: fcn5, input: synthetic")] == [
        "fcn5",
        "fcn5",
    ]


def test_options_come_back_from_the_resolved_file(parse: Parse) -> None:
    """And tell runs apart, while a workload without them keeps the ids that its runs have."""
    text = "workloads:\n  - {kind: image_training, framework: pytorch, options: {compile: true, precision: bf16}}\n"
    study = parse(text)
    assert parse(to_yaml(study)) == study


@pytest.mark.parametrize(
    "keys",
    [
        "options: {workers: 0}",
        "options: {workers: 2, prefetch: 4, decoder: pillow}",
        "device: 'cuda:0', options: {pin_memory: true}",
        "input: synthetic, options: {precision: bf16, compile: true, channels_last: false}",
        "options: {pin_memory: false}",
        "device: {emulate: {samples_per_second: 9}}, options: {channels_last: false, workers: 1, decoder: pillow}",
        "input: synthetic, network: [fcn5, alexnet], options: {channels_last: true}",
    ],
)
def test_what_has_an_effect_or_is_so_anyway_is_taken(parse: Parse, keys: str) -> None:
    """Only an option that would change nothing is refused."""
    assert of(parse, f"framework: pytorch, {keys}")


def test_a_resolved_file_of_before_is_read(parse: Parse) -> None:
    """A study that was measured with an option that changed nothing goes on."""
    study = parse("workloads:\n  - {kind: image_training, framework: pytorch, options: {workers: 0}}\n")
    text = to_yaml(study).replace("{workers: 0}", "{workers: 0, prefetch: 4, pin_memory: true}")
    assert parse(text).workloads[0].workload.options.prefetch == 4


@pytest.mark.parametrize(
    "keys",
    [
        "input: synthetic",
        "input: synthetic, cache: cold, isolate: false",
        "input: cached, cache: warm",
        "input: cached, format: lmdb",
        "data: /data/train.rec, format: recordio, cache: natural",
    ],
)
def test_what_is_so_anyway_or_has_an_effect_is_taken(parse: Parse, keys: str) -> None:
    """Also where the whole study isolates stages: that is not said of this workload."""
    assert parse(f"isolate: true\nworkloads: [{{kind: image_training, {keys}}}]\n")


def test_a_study_that_sizer_wrote_holds_every_default(parse: Parse) -> None:
    """It is read again, and so is one of before, when these were taken."""
    study = parse("workloads: [{kind: image_training, input: synthetic}]\n")
    written = to_yaml(study)
    assert parse(written) == study
    before = written.replace("cache: cold", "cache: warm").replace("format: recordio", "format: lmdb\n  data: /data/x")
    assert (parse(before).workloads[0].workload.cache, parse(before).workloads[0].workload.data) == ("warm", "/data/x")
