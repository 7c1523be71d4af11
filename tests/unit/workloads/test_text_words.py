from __future__ import annotations

from pathlib import Path

import pytest

from workloads.data_sets.text_words import WordBatches, find_text, read_words, vocabulary
from workloads.faults import InputFault


def test_an_epoch_covers_the_text_once(tmp_path: Path) -> None:
    """Pairs follow each other without gap or overlap, then None, and restart begins again."""
    text = tmp_path / "train.txt"
    text.write_text("a b c d e f g h i j\n")
    numbers = vocabulary(read_words(text), 12)
    batches = WordBatches(text, numbers, batch_size=1, steps=4)
    epochs = []
    for _ in range(2):
        pairs = []
        while (pair := batches.next_batch()) is not None:
            pairs.append((pair[0].tolist()[0], pair[1].tolist()[0]))
        epochs.append(pairs)
        batches.restart()
    (first, first_next), (second, second_next) = epochs[0]
    assert first_next == [*first[1:], second[0]]
    assert second_next[:3] == second[1:]
    assert epochs[0] == epochs[1]


def test_the_vocabulary_keeps_the_commonest_and_unknown() -> None:
    """`<unk>` is a word even where the text has none."""
    assert set(vocabulary(list("aaabbcd"), 3)) == {"a", "b", "<unk>"}
    assert set(vocabulary(["<unk>", "<unk>", "a", "a", "b"], 2)) == {"<unk>", "a"}


@pytest.mark.parametrize(("content", "reason"), [(b"\xff\xfe", "no UTF-8"), (b"\n\n", "no words"), (b"", "no words")])
def test_what_is_no_text_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    """Binary and empty files are refused in one sentence."""
    (tmp_path / "train.txt").write_bytes(content)
    with pytest.raises(InputFault, match=reason):
        read_words(tmp_path / "train.txt")


def test_a_folder_without_a_text_is_named(tmp_path: Path) -> None:
    """The sentence says which names were looked for."""
    with pytest.raises(InputFault, match=r"ptb\.train\.txt nor train\.txt"):
        find_text(tmp_path)
