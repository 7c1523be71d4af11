from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import pytest

from workloads.data_sets.public_domain_text import VOCABULARY, make_parts, tokens

Run = Callable[..., Any]


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.JPEG")}


def test_an_image_is_the_same_whatever_the_count_and_the_workers(jpegs: Path, run: Run, tmp_path: Path) -> None:
    """File i depends on the seed and i alone."""
    run("embedded_data", "images", "--count", 5, "--workers", 1, "--out", tmp_path / "few")
    few, many = files_of(tmp_path / "few"), files_of(jpegs)
    assert len(few) == 5
    assert few == {name: many[name] for name in few}


def test_images_are_like_imagenets_and_say_what_they_are_not(jpegs: Path) -> None:
    """Distinct JPEGs of about 500 x 375 and 110 kB, in class folders; count, bytes and seed are in the manifest."""
    files = files_of(jpegs)
    assert len(set(files.values())) == len(files) == 12
    assert 70_000 < sum(map(len, files.values())) / len(files) < 150_000
    for name in files:
        assert name.split("/")[0].startswith("n000000")
        assert max(cv2.imread(str(jpegs / name)).shape) == 500
    manifest = json.loads((jpegs / "embedded.json").read_text())
    assert (manifest["count"], manifest["seed"], manifest["version"]) == (12, 1, 1)
    assert manifest["bytes"] == sum(map(len, files.values()))
    assert "not ImageNet" in manifest["note"]


def test_making_it_again_takes_what_is_there_and_never_another(jpegs: Path, run: Run, tmp_path: Path) -> None:
    """The same arguments find it done; other ones, and a folder that we did not make, are refused and not touched."""
    before = files_of(jpegs)
    assert "is there already" in run("embedded_data", "images", "--count", 12, "--out", jpegs).out
    other = run("embedded_data", "images", "--count", 13, "--out", jpegs)
    assert (other.code, other.err.count("\n")) == (2, 1)
    assert "holds another embedded data set" in other.err
    assert files_of(jpegs) == before
    (tmp_path / "thesis.txt").write_text("precious")
    ended = run("embedded_data", "text", "--out", tmp_path)
    assert (ended.code, (tmp_path / "thesis.txt").read_text()) == (2, "precious")


def test_the_text_has_penntreebanks_form() -> None:
    """About 0.9 M words of 10,000 (with `<eos>`), `<unk>` for the rest."""
    parts = make_parts()
    train = parts["train.txt"].split()
    assert set(parts) == {"train.txt", "valid.txt", "test.txt"}
    assert 850_000 < len(train) < 1_000_000
    assert len(set(" ".join(parts.values()).split())) == VOCABULARY - 1
    assert 0.02 < train.count("<unk>") / len(train) < 0.06


@pytest.mark.parametrize(
    ("sentence", "words"),
    [("i don't know", ["i", "do", "n't", "know"]), ("it's 1609, sir", ["it", "'s", "N", "sir"])],
)
def test_words_are_cut_as_penntreebank_does(sentence: str, words: list[str]) -> None:
    """Contractions are cut, numbers are N, punctuation is dropped."""
    assert tokens(sentence) == words
