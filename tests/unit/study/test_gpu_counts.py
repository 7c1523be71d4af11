"""The number of accelerators as an axis of a study file."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.records.errors import InputError
from sizer.records.study import Limits, RunSpec, Study
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.study.resolved import to_yaml
from sizer.words.language import in_words

Parse = Callable[..., Study]
EMULATED = "workloads:\n  - {kind: image_training, network: resnet50, device: {emulate: {gpu: P100}}}\n"
ON_CPU = "workloads:\n  - {kind: image_training, framework: pytorch, network: alexnet}\n"
INFER = "workloads:\n  - {kind: image_inference, framework: mxnet, network: resnet50, device: 'cuda:0'}\n"


def test_it_is_an_axis_of_an_accelerator(parse: Parse) -> None:
    """What several lose to each other is the catalogue's, with its source."""
    (plan,) = parse(f"{EMULATED}axes: {{gpu_count: [1, 2, 4]}}\n").workloads
    assert plan.gpu_count == (1, 2, 4)
    assert plan.workload.computes_on.scaling_loss == 0.08
    assert plan.workload.computes_on.scaling_source == "a benchmark"


def test_the_loss_of_the_file_comes_first(parse: Parse) -> None:
    """No catalogue is asked for it."""
    text = EMULATED.replace("gpu: P100", "samples_per_second: 100, scaling_loss: 0.1")
    device = parse(f"{text}axes: {{gpu_count: 2}}\n").workloads[0].workload.computes_on
    assert (device.scaling_loss, device.scaling_source) == (0.1, "given in the study file")
    assert device.speed_up(2) == pytest.approx(1.81, abs=0.01)


def test_one_accelerator_needs_no_loss(parse: Parse) -> None:
    """Nor does a study without the axis."""
    assert parse(EMULATED).workloads[0].workload.computes_on.scaling_loss is None
    assert parse(f"{EMULATED}axes: {{gpu_count: 1}}\n").workloads[0].workload.computes_on.scaling_loss is None


def test_the_axis_of_a_study_is_none_of_a_workload_on_the_cpu(parse: Parse) -> None:
    """Preprocessing in the same study is measured as ever."""
    text = f"{EMULATED}  - {{kind: imagenet_preprocessing}}\naxes: {{gpu_count: [1, 2]}}\n"
    assert [plan.gpu_count for plan in parse(text).workloads] == [(1, 2), ()]


def test_several_gpus_train_together_or_are_counted_singly(parse: Parse) -> None:
    """PyTorch trains on several; a workload that infers has an axis of its own."""
    train = INFER.replace("inference", "training").replace("mxnet", "pytorch")
    infer = INFER.removeprefix("workloads:\n").replace("}", ", axes: {gpu_count: 1}}")
    plans = parse(f"{train}{infer}axes: {{gpu_count: [1, 2]}}\n").workloads
    assert [plan.gpu_count for plan in plans] == [(1, 2), (1,)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "workloads:\n  - kind: image_training\n    axes: {gpu_count: [1, 2]}\n",
            "line 3: `gpu_count` counts accelerators",
        ),
        (
            EMULATED.replace("gpu: P100", "samples_per_second: 100") + "axes: {gpu_count: 2}\n",
            "write it into `emulate`, such as scaling_loss: 0.05",
        ),
        (
            "workloads:\n  - {kind: command, command: [train], device: 'cuda:0', axes: {gpu_count: [1, 2]}}\n",
            "write {gpu_count} among its words or in `env`",
        ),
        (f"{ON_CPU}axes: {{vcpus: [1], gpu_count: [1, 2]}}\n", "line 3: `gpu_count` counts accelerators, and every"),
        (f"{INFER}axes: {{gpu_count: [1, 2]}}\n", "line 3: GPUs that only infer do not work together; give workload"),
        (
            f"{INFER.replace('inference', 'training')}axes: {{gpu_count: 2}}\n",
            "line 3: mxnet does not train on several GPUs here; write `framework: pytorch`",
        ),
        (f"{EMULATED}axes: {{gpu_count: 0}}\n", "from 1 to 1024"),
        (f"{EMULATED}axes: {{gpu_count: 1.5}}\n", "a number of accelerators from 1 to 1024"),
    ],
)
def test_what_is_wrong_is_said_at_its_line(text: str, said: str, parse: Parse) -> None:
    """And what to write."""
    with pytest.raises(InputError) as error:
        parse(text)
    assert said in in_words(error.value)


def test_a_resolved_study_is_the_same(parse: Parse) -> None:
    """It needs neither host nor catalogue."""
    study = parse(f"{EMULATED}axes: {{vcpus: [1], gpu_count: [1, 2]}}\n")
    assert parse_study(to_yaml(study), "study.yaml", None, HostSize(1, 2**30), None) == study


def test_runs_of_one_accelerator_are_those_of_before(parse: Parse) -> None:
    """An axis that is added to a finished study measures what is new alone."""
    before = parse(EMULATED)
    after = parse(f"{EMULATED}axes: {{gpu_count: [1, 2]}}\n")

    def spec(study: Study, gpu_count: int) -> RunSpec:
        return RunSpec(study.workloads[0].workload, 32, Limits(1.0), study.measure, gpu_count=gpu_count)

    assert spec(before, 0).id == spec(after, 1).id == spec(after, 0).id
    assert spec(after, 2).id != spec(after, 1).id
