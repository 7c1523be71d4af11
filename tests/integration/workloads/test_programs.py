from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests import ROOT
from workloads.backends import mxnet_library
from workloads.data_sets import recordio

Run = Callable[..., Any]

IMAGES = 12
PROGRAMS = (
    "image_training",
    "image_inference",
    "language_training",
    "lstm_training",
    "imagenet_preprocessing",
    "embedded_data",
)
IMAGE = ("--network", "squeezenet", "--batch-size", 4)


def check_order(events: list[dict[str, object]]) -> None:
    kinds = [event["event"] for event in events]
    assert kinds == ["start"] + ["step"] * (len(kinds) - 2) + ["end"]


def bare(program: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a program in an interpreter without any package, from a bare checkout."""
    argv = [sys.executable, "-S", "-E", "-m", f"workloads.{program}", *options]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_needs_only_the_standard_library(program: str) -> None:
    """And without MXNet: exit 69, its path and the command that installs it."""
    ended = bare(program, "--help")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(f"usage: python -m workloads.{program}")
    if program == "image_training":
        ended = bare(program, "--steps", "1")
        assert (ended.returncode, "pip install" in ended.stderr, ended.stderr.count("\n")) == (69, True, 1)


LONG = pytest.mark.long


@pytest.mark.slow
@pytest.mark.parametrize(
    ("framework", "form"),
    [
        ("mxnet", "train.rec"),
        ("pytorch", "train.lmdb"),
        pytest.param("mxnet", "train.lmdb", marks=LONG),
        pytest.param("pytorch", "train.rec", marks=LONG),
    ],
)
def test_training_reads_both_forms(run: Run, records: Path, framework: str, form: str) -> None:
    """Steps of the batch size over several epochs, a data set of the right size, and a printed rate."""
    if framework == "pytorch":
        pytest.importorskip("torch", reason="PyTorch is an extra: pip install .[pytorch]")
    ended = run("image_training", *IMAGE, "--framework", framework, "--data", records / form, "--steps", 4)
    assert ended.code == 0, ended.err
    check_order(ended.events)
    assert (ended.events[0]["dataset_samples"], ended.events[0]["sample_unit"]) == (IMAGES, "image")
    assert ended.events[0]["framework"] == framework
    assert [(step["samples"], step["epoch"]) for step in ended.steps] == [(4, 0), (4, 0), (4, 0), (4, 1)]
    assert "images/s" in ended.out.splitlines()[-1]


@pytest.mark.slow
def test_inference_reports_the_latency_of_a_batch(run: Run) -> None:
    """Every step has a latency, and the closing line its percentiles; nothing is read without --data."""
    ended = run("image_inference", *IMAGE, "--steps", 3)
    assert ended.code == 0, ended.err
    assert (ended.events[0]["dataset_bytes"], ended.events[0]["bytes_per_sample"]) == (0, 0)
    assert all(step["latency"] > 0 for step in ended.steps)
    assert "p99" in ended.out.splitlines()[-1]


@pytest.mark.slow
def test_a_folder_of_jpegs_is_packed_once_and_said(run: Run, jpegs: Path, tmp_path: Path) -> None:
    """The first run packs into --scratch, the second finds it."""
    options = (*IMAGE, "--data", jpegs, "--scratch", tmp_path, "--steps", 1, "--device", "emulated", "--rate", 1e6)
    first, second = run("image_training", *options), run("image_training", *options)
    assert (first.code, second.code) == (0, 0), first.err
    assert "packing 12 images" in first.out
    assert "packing" not in second.out


def test_an_emulated_device_sets_the_rate(run: Run, records: Path) -> None:
    """With input faster than the device, steps follow each other at exactly its pace, however late one is woken.

    Never faster; and as fast in one of three runs: a busy host is slower with the input.
    """
    for _ in range(3):
        ended = run(
            "image_training", *IMAGE, "--data", records, "--format", "recordio", "--device", "emulated", "--rate", 40,
            "--cache", "warm", "--steps", 8,
        )  # fmt: skip
        assert ended.code == 0, ended.err
        assert "emulated" in ended.out.splitlines()[-1]
        times = [step["time"] for step in ended.steps[1:]]
        pace = median(later - earlier for earlier, later in pairwise(times))
        assert times[-1] - times[0] > 0.9 * 6 * 4 / 40
        if pace == pytest.approx(4 / 40, rel=0.05):
            break
    assert pace == pytest.approx(4 / 40, rel=0.05)


@pytest.mark.slow
def test_the_language_model_counts_words(run: Run, text: Path) -> None:
    """A step is batch x 35 words of the user's text, and the next epoch begins with a new reading."""
    ended = run("lstm_training", "--data", text, "--batch-size", 16, "--steps", 11)
    assert ended.code == 0, ended.err
    check_order(ended.events)
    assert ended.events[0]["dataset_samples"] == 400 * 13
    assert {step["samples"] for step in ended.steps} == {560}
    assert ended.steps[-1]["epoch"] == 1


@pytest.mark.parametrize("program", [pytest.param("image_training", marks=pytest.mark.slow), "imagenet_preprocessing"])
def test_a_request_to_stop_ends_in_good_order(run: Run, jpegs: Path, tmp_path: Path, program: str) -> None:
    """SIGTERM: the present step, then `end`, exit 0, and no output of an unfinished pass."""
    options: tuple[object, ...] = (*IMAGE, "--device", "emulated", "--rate", 100)
    if program == "imagenet_preprocessing":
        options = ("--data", jpegs, "--output", tmp_path, "--passes", 0, "--batch-size", 4, "--threads", 2)
    ended = run(program, *options, terminate_after_steps=5)
    assert ended.code == 0, ended.err
    check_order(ended.events)
    assert len(ended.steps) < 5000, "steps are written twice a second, so some follow those that were seen"
    assert list(tmp_path.iterdir()) == []


def test_preprocessing_writes_what_mxnet_reads(records: Path) -> None:
    """Shorter side 256, the aspect kept, labels by class folder, an index that fits."""
    mx = mxnet_library.load()
    reader = mx.recordio.MXIndexedRecordIO(str(records / "train.idx"), str(records / "train.rec"), "r")
    assert len(reader.keys) == IMAGES
    labels = []
    for key in reader.keys:
        header, image = mx.recordio.unpack_img(reader.read_idx(key))
        labels.append(int(header.label))
        assert min(image.shape[:2]) == 256
        assert max(image.shape[:2]) in (320, 341, 384)
    assert sorted(labels) == list(range(IMAGES))
    assert labels != sorted(labels), "im2rec shuffles, and so do we"


@pytest.mark.parametrize("kind", ["no image", "empty"])
def test_a_bad_record_in_the_middle_is_named(run: Run, records: Path, tmp_path: Path, kind: str) -> None:
    """MXNet dies of it by a signal or by an error of its own: exit 2 and the record's number all the same."""
    source = records / "train.rec"
    with source.open("rb") as file:
        offsets = list(recordio.record_offsets(source))
        images = [recordio.image_at(file.fileno(), source, offset, source.stat().st_size) for offset in offsets]
    images[5] = b"" if kind == "empty" else b"This is no image. " * 50
    framed = [recordio.framed(recordio.image_record(0.0, number, image)) for number, image in enumerate(images)]
    (tmp_path / "bad.rec").write_bytes(b"".join(framed))
    ended = run("image_inference", *IMAGE, "--data", tmp_path / "bad.rec", "--steps", 9)
    assert ended.code == 2, ended.err
    assert f"record 6 of {IMAGES}" in ended.err
    assert "bad.rec is no image that can be read" in ended.err
    assert "Traceback" not in ended.err


def test_unreadable_images_are_named_and_skipped(run: Run, jpegs: Path, tmp_path: Path) -> None:
    """One broken file costs one image, not the pass; nothing but broken files is exit 2."""
    folder, broken = tmp_path / "some", tmp_path / "broken"
    shutil.copytree(jpegs / "n00000000", folder / "a")
    (folder / "a" / "bad.jpg").write_text("no image")
    ended = run("imagenet_preprocessing", "--data", folder, "--output", tmp_path / "out")
    assert ended.code == 0
    assert "bad.jpg: not a readable image" in ended.err
    (broken / "a").mkdir(parents=True)
    (broken / "a" / "bad.jpg").write_text("no image")
    ended = run("imagenet_preprocessing", "--data", broken, "--output", tmp_path / "none")
    assert ended.code == 2
    assert "none of the 1 images is readable" in ended.err
    assert list((tmp_path / "none").iterdir()) == []


@pytest.mark.parametrize(
    ("program", "options", "sentence"),
    [
        ("image_training", ("--network", "lenet"), "invalid choice: 'lenet'"),
        ("image_training", ("--data", "/nowhere"), "there is no /nowhere"),
        ("image_training", ("--input", "disk"), "give its path with --data"),
        ("image_training", ("--device", "emulated"), "give --rate"),
        ("lstm_training", ("--framework", "pytorch", "--precision", "fp16"), "fp16 needs a GPU"),
        ("image_inference", ("--network", "vit_b16"), "mxnet has no vit_b16, so give --framework pytorch"),
        ("image_training", ("--network", "fcn5", "--data", "EMPTY"), "fcn5 takes vectors"),
        ("image_training", ("--data", "EMPTY"), "has no JPEG"),
        ("image_training", ("--data", "EMPTY/some.rec"), "is no RecordIO at byte 0"),
        ("image_inference", ("--data", "EMPTY", "--format", "lmdb"), "cannot be read as an LMDB"),
        ("lstm_training", ("--data", "EMPTY"), "holds neither ptb.train.txt"),
        ("imagenet_preprocessing", ("--passes", "-1", "--output", "EMPTY"), "-1 is not at least 0"),
        ("image_training", (*IMAGE, "--framework", "tensorflow"), "no program here runs on tensorflow: use mxnet or"),
        ("image_training", (*IMAGE, "--device", "cuda:63"), "not cuda:63"),
    ],
)
def test_a_wrong_request_is_one_sentence(
    run: Run, tmp_path: Path, program: str, options: tuple[object, ...], sentence: str
) -> None:
    """Exit 2, or 69 (EX_UNAVAILABLE) for a framework or device, with one line on stderr that says what to type."""
    words = [str(word).replace("EMPTY", str(tmp_path)) for word in options]
    if any(word.endswith(".rec") for word in words):
        (tmp_path / "some.rec").write_text("no records at all")
    ended = run(program, *words)
    assert ended.code == (69 if IMAGE[0] in options and IMAGE[1] in options else 2), ended.err
    assert sentence in ended.err.splitlines()[-1]
    assert len(ended.err.splitlines()) == 1 or ended.code == 69


def test_pytorch_refused_memory_of_the_host_says_so(run: Run) -> None:
    """A batch of 600 GB is more than any host gives at once: one sentence, and the event that says whose memory."""
    pytest.importorskip("torch", reason="PyTorch is an extra: pip install .[pytorch]")
    if Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "1":
        pytest.skip("this host gives any program as much memory as it asks for")
    ended = run("image_training", "--framework", "pytorch", "--network", "squeezenet", "--batch-size", 1_000_000)
    assert ended.events == [{"event": "out_of_memory", "where": "host"}]
    assert ended.err.startswith("image_training: there is too little memory for this ([enforce fail")
    assert ended.err.count("\n") == 1


@pytest.mark.slow
def test_a_program_states_the_options_it_ran_with(run: Run) -> None:
    """How images lie in memory is no option of words; MXNet has none."""
    pytest.importorskip("torch", reason="PyTorch is an extra: pip install .[pytorch]")
    options = ("--framework", "pytorch", "--network", "small", "--batch-size", 2, "--precision", "bf16", "--steps", 1)
    ended = run("lstm_training", *options)
    assert ended.code == 0, ended.err
    own = {"freed_memory_kept": True, "denormals_flushed": True, "sequence_length": 35}
    assert ended.events[0]["stated"] == {**own, "precision": "bf16", "compile": False}
    assert ended.events[0]["sample_unit"] == "word"


@pytest.mark.slow
@pytest.mark.parametrize("mode", [pytest.param("train", marks=LONG), "forward"])
def test_a_transformer_counts_the_words_of_a_text(run: Run, text: Path, mode: str) -> None:
    """128 words a sequence; BERT counts those that it is not asked for, too."""
    network = "gpt2_small" if mode == "train" else "bert_base"
    options = ("--framework", "pytorch", "--network", network, "--batch-size", 1, "--mode", mode, "--steps", 1)
    ended = run("language_training", "--data", text, *options)
    assert ended.code == 0, ended.err
    check_order(ended.events)
    assert ended.events[0]["dataset_samples"] == 400 * 13
    assert ended.events[0]["stated"]["sequence_length"] == 128
    assert [step["samples"] for step in ended.steps] == [128]


@pytest.mark.slow
@pytest.mark.parametrize("network", [pytest.param("vit_b16", marks=LONG), "convnext_tiny"])
def test_a_network_of_transformers_reads_images(run: Run, records: Path, network: str) -> None:
    """As those of sizer's own, with the same options."""
    options = ("--framework", "pytorch", "--network", network, "--batch-size", 2, "--steps", 1, "--workers", 0)
    ended = run("image_inference", "--data", records / "train.rec", *options, "--precision", "bf16")
    assert ended.code == 0, ended.err
    stated = ended.events[0]["stated"]
    assert {name: stated[name] for name in ("precision", "channels_last")} == {
        "precision": "bf16",
        "channels_last": True,
    }
    assert ended.steps[0]["samples"] == 2


def test_without_transformers_the_program_says_so(tmp_path: Path) -> None:
    """Exit 69, one line, and the command that installs it."""
    (tmp_path / "transformers.py").write_text("raise ModuleNotFoundError('not here', name='transformers')\n")
    options = ("--framework", "pytorch", "--network", "bert_base", "--batch-size", "1", "--steps", "1")
    ended = subprocess.run(
        [sys.executable, "-m", "workloads.language_training", *options],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 69, ended.stderr
    assert ended.stderr == (
        "language_training: transformers, which makes this network, is not here: type `pip install "
        "'transformers>=5,<6'`\n"
    )
