"""How many samples a batch has: what its loader names, and arrays only where nobody names a size and all agree."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from sizer_hook import BATCH_SIZE_VARIABLE, given_size, named_size, samples_of


def array(*shape: int) -> Any:
    return SimpleNamespace(shape=shape)


PICTURE = {"image": array(3, 64, 64), "camera": array(3, 3)}

NAMED = [
    ([array(32, 10), array(32)], 32),
    # YOLO: what is on the pictures, which is more than there are, comes first.
    ({"cls": array(39, 1), "bboxes": array(39, 4), "img": array(8, 3, 64, 64)}, 8),
    # One picture at a time: its colour channels are no samples.
    (PICTURE, 1),
    (array(3, 64, 64), 1),
    # Detection: lists of pictures of different sizes, of mappings, and as mmengine collates.
    (((array(3, 300, 400), array(3, 200, 100)), ({"boxes": array(4, 4)}, {"boxes": array(1, 4)})), 2),
    ([PICTURE, PICTURE], 2),
    ({"inputs": [array(3, 8, 8)] * 4, "data_samples": [object()] * 4}, 4),
    # Text with time first, and no arrays at all.
    ([array(35, 20), array(35, 20)], 20),
    (["a line", "another", "a third"], 3),
    (SimpleNamespace(num_graphs=12), 12),
    (SimpleNamespace(data=(array(16, 3, 28, 28),), label=(array(16),)), 16),
    ("nothing", 4),
]

NAMELESS = [
    ([array(32, 10), array(32)], 32),
    ({"input_ids": array(16, 128), "attention_mask": array(16, 128), "labels": array(16)}, 16),
    ([array(8, 3, 64, 64), array(8), array()], 8),
    (SimpleNamespace(num_graphs=12, x=array(700, 5), y=array(12)), 12),
    (SimpleNamespace(data=[array(32, 3)], label=[array(32)]), 32),
    # One array agrees with nobody; those of boxes not with the pictures; those of one sample agree by chance.
    (array(32, 10), None),
    ({"cls": array(39, 1), "bboxes": array(39, 4), "img": array(8, 3, 64, 64)}, None),
    (PICTURE, None),
    ({"image": array(480, 640, 3), "depth": array(480, 640)}, None),
    ([PICTURE, PICTURE], None),
    ({"inputs": [array(3, 8, 8)] * 4, "data_samples": [object()] * 4}, None),
    (["a line", "another"], None),
    (array(), None),
    (None, None),
]


@pytest.mark.parametrize(("batch", "size"), NAMED)
def test_the_size_that_a_loader_names_is_believed_before_any_array(batch: Any, size: int) -> None:
    assert samples_of(batch, size)(batch, size) == size


@pytest.mark.parametrize(("batch", "samples"), NAMELESS)
def test_without_a_size_all_arrays_must_agree(batch: Any, samples: int | None) -> None:
    """Where they do not, or may be those of one sample, nothing is known."""
    assert samples_of(batch, None)(batch, None) == samples


def test_a_size_is_found_behind_what_a_sampler_is_wrapped_in() -> None:
    """ultralytics wraps a batch sampler to repeat it, accelerate to share it; gluon's keeps its size for itself."""
    own = SimpleNamespace(batch_size=8, sampler=SimpleNamespace())
    assert named_size(own) == 8
    assert named_size(SimpleNamespace(sampler=own)) == 8
    assert named_size(SimpleNamespace(batch_sampler=SimpleNamespace(sampler=own))) == 8
    assert named_size(SimpleNamespace(batch_size=None, sampler=own)) == 8
    assert named_size(SimpleNamespace(_batch_size=4)) == 4
    assert named_size(SimpleNamespace(batch_size=0)) is None
    endless = SimpleNamespace()
    endless.sampler = endless
    assert named_size(endless) is None


@pytest.mark.parametrize(("said", "size"), [("64", 64), ("", None), ("many", None)])
def test_the_size_that_the_study_gives_counts_next(monkeypatch: pytest.MonkeyPatch, said: str, size: int) -> None:
    monkeypatch.setenv(BATCH_SIZE_VARIABLE, said)
    assert given_size() == size
