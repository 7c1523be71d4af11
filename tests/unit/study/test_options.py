"""The `options` of a workload, and what a study file says that would change nothing."""

from __future__ import annotations

from collections.abc import Callable

from sizer.records.frameworks import FrameworkOptions
from sizer.records.study import Study, Workload
from sizer.study.resolved import to_yaml

Parse = Callable[..., Study]


def of(parse: Parse, keys: str, kind: str = "image_training") -> list[Workload]:
    return [workload.workload for workload in parse(f"workloads:\n  - {{kind: {kind}, {keys}}}\n").workloads]


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


def test_a_resolved_file_of_before_is_read(parse: Parse) -> None:
    """A study that was measured with an option that changed nothing goes on."""
    study = parse("workloads:\n  - {kind: image_training, framework: pytorch, options: {workers: 0}}\n")
    text = to_yaml(study).replace("{workers: 0}", "{workers: 0, prefetch: 4, pin_memory: true}")
    assert parse(text).workloads[0].workload.options.prefetch == 4


def test_a_study_that_sizer_wrote_holds_every_default(parse: Parse) -> None:
    """It is read again, and so is one of before, when these were taken."""
    study = parse("workloads: [{kind: image_training, input: synthetic}]\n")
    written = to_yaml(study)
    assert parse(written) == study
    before = written.replace("cache: cold", "cache: warm").replace("format: recordio", "format: lmdb\n  data: /data/x")
    assert (parse(before).workloads[0].workload.cache, parse(before).workloads[0].workload.data) == ("warm", "/data/x")
