"""Which framework a workload runs on, and in which interpreter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.records.errors import InputError
from sizer.records.study import FrameworkPython, Study
from sizer.study.document import Document
from sizer.study.resolved import to_yaml
from sizer.study.workloads import _check_network

Parse = Callable[..., Study]
WORKLOADS = "workloads: [{kind: image_training}]\n"


def test_paths_are_taken_from_the_files_folder(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` is the home folder, and a bare name is left to be found in PATH."""
    monkeypatch.setenv("HOME", "/home/me")
    text = "frameworks:\n  pytorch: {python: ../torch/bin/python}\n  mxnet:\n    python: ~/mx/bin/python\n"
    study = parse(text + "  opencv: {python: python3.11}\n" + WORKLOADS, where="/data/studies/s.yaml")
    assert study.frameworks == (
        FrameworkPython("pytorch", "/data/torch/bin/python"),
        FrameworkPython("mxnet", "/home/me/mx/bin/python"),
        FrameworkPython("opencv", "python3.11"),
    )
    assert [(each.file, each.line) for each in study.frameworks] == [
        ("/data/studies/s.yaml", line) for line in (2, 4, 5)
    ]
    assert study.python("pytorch") == study.frameworks[0]
    assert study.python("tensorflow") is None
    assert parse(WORKLOADS).frameworks == ()


def test_a_stored_study_keeps_them(parse: Parse, tmp_path: Path) -> None:
    """Also one whose interpreter is gone: what is stored can be read anywhere."""
    study = parse(f"frameworks: {{pytorch: {{python: {tmp_path}/gone}}}}\n" + WORKLOADS)
    assert parse(to_yaml(study), where="/elsewhere/study.yaml").frameworks == study.frameworks
    assert "frameworks" not in to_yaml(parse(WORKLOADS))


@pytest.mark.parametrize(
    ("frameworks", "said"),
    [
        ("{pytorch: /opt/torch/bin/python}", "`pytorch` in `frameworks` must be a mapping like {python: /opt/torch"),
        ("{pytorch: {}}", "`pytorch` needs `python`, the path of a Python interpreter, or its name in PATH."),
        (
            "{pytorch: {python: 3}}",
            "`python` in `pytorch` must be the path of a Python interpreter, or its name in PATH",
        ),
        ("{pytorch: {python: x, version: 2}}", "`version` is not a key of `pytorch`"),
        ("{tensorflow: {python: x}}", "`tensorflow` is not a key of `frameworks`; use mxnet, pytorch or opencv"),
        ("[pytorch]", "`frameworks` must be a mapping from frameworks to the interpreter that each is installed in"),
    ],
)
def test_another_form_is_one_sentence(parse: Parse, frameworks: str, said: str) -> None:
    """With file and line."""
    with pytest.raises(InputError) as error:
        parse(f"frameworks: {frameworks}\n" + WORKLOADS)
    assert str(error.value).startswith(f"study.yaml line 1: {said}")


def test_frameworks_networks_and_batch_sizes_are_crossed(parse: Parse) -> None:
    """Each framework and network is a workload with every batch size; without a name, their kind begins it."""
    many = "framework: [mxnet, pytorch], network: [alexnet, vgg16], batch_size: [8, 16, 32]"
    study = parse(f"workloads: [{{kind: image_training, {many}}}]\n")
    assert [plan.workload.name for plan in study.workloads] == [
        f"image_training-{framework}-{network}"
        for framework in ("mxnet", "pytorch")
        for network in ("alexnet", "vgg16")
    ]
    assert {plan.batch_size for plan in study.workloads} == {(8, 16, 32)}
    (both, other) = parse("workloads: [{kind: lstm_training, framework: [mxnet, pytorch]}]\n").workloads
    assert both.batch_size == other.batch_size == (20,)
    assert (both.workload.framework, other.workload.framework) == ("mxnet", "pytorch")


def test_a_transformer_has_a_batch_size_of_its_own(parse: Parse) -> None:
    """Beside an LSTM, under both names of the kind; what the study says goes before, and a command's is its own."""
    for kind in ("language_training", "lstm_training"):
        text = f"workloads: [{{kind: {kind}, framework: pytorch, network: [small, bert_base, gpt2_small]}}]\n"
        assert [plan.batch_size for plan in parse(text).workloads] == [(20,), (8,), (8,)]
        assert {plan.batch_size for plan in parse(text + "axes: {batch_size: [4, 2]}\n").workloads} == {(4, 2)}
    (mine,) = parse("workloads: [{kind: command, command: [a], framework: jax, network: gpt2_small}]\n").workloads
    assert mine.batch_size == (1,)


def test_a_network_that_a_framework_lacks_is_refused() -> None:
    """The sentence says which has it; a command may call its own network as it likes."""
    document = Document("s.yaml", lines={("workloads", 0, "network"): 4})
    key = ("workloads", 0, "network")
    with pytest.raises(InputError) as error:
        _check_network(document, key, "image_training", "mxnet", "vit_b16")
    assert str(error.value) == (
        "s.yaml line 4: mxnet has no vit_b16, which is in pytorch alone; ask for it in a workload of its own with "
        "`framework: pytorch`."
    )
    _check_network(document, key, "image_training", "pytorch", "vit_b16")
    _check_network(document, key, "image_training", "mxnet", "resnet50")
    _check_network(document, key, "command", "jax", "vit_b16")
