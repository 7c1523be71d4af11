"""A text of PennTreeBank's form as numbers: one sentence a line, words between spaces, `<eos>` at each line's end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np

from ..faults import InputFault

TRAIN_NAMES = ("ptb.train.txt", "train.txt")
END, UNKNOWN = "<eos>", "<unk>"

Words = np.ndarray[Any, np.dtype[np.int32]]


def find_text(path: Path) -> Path:
    """The training text: `path` itself, or that of a folder. Raises InputFault if there is none."""
    if path.is_file():
        return path
    for name in TRAIN_NAMES:
        if (path / name).is_file():
            return path / name
    raise InputFault(f"{path} holds neither {' nor '.join(TRAIN_NAMES)}: give --data a text or the folder of one")


def read_words(path: Path) -> list[str]:
    """All words of the text. Raises InputFault if it is no text or has no word."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputFault(
            f"{path} is no UTF-8 text (byte {error.start}): give --data a text of words and spaces"
        ) from None
    words = text.replace("\n", f" {END} ").split()
    if set(words) <= {END}:
        raise InputFault(f"{path} has no words: give --data a text of words and spaces")
    return words


def vocabulary(words: list[str], size: int) -> dict[str, int]:
    """The `size` commonest words by rank; `<unk>`, which represents all others, is always among them."""
    common = [word for word, _ in Counter(words).most_common(size)]
    if UNKNOWN not in common:
        common[size - 1 :] = [UNKNOWN]
    return {word: number for number, word in enumerate(common)}


def word_batches(
    path: Path, numbers: dict[str, int], batch_size: int, steps: int, rows: slice = slice(None)
) -> Generator[tuple[Words, Words], None, None]:
    """Consecutive (words, next words) pairs of batch x steps of an epoch, or these rows of them: row b goes on in row b
    of the next pair.

    The file is read again, all at once: a text is small, and the paper's batches come from all parts of it. Raises
    InputFault if the text is too short for one pair.
    """
    words = read_words(path)
    read = np.fromiter((numbers.get(word, numbers[UNKNOWN]) for word in words), np.int32, len(words))
    text = streams(read, batch_size, steps)[rows]
    for at in range(0, text.shape[1] - steps, steps):
        yield text[:, at : at + steps], text[:, at + 1 : at + steps + 1]


def streams(numbers: Words, batch_size: int, steps: int) -> Words:
    """The text cut into `batch_size` rows of one length. Raises InputFault if it is shorter than a step and a word."""
    length = len(numbers) // batch_size
    if length < steps + 1:
        raise InputFault(
            f"{len(numbers)} words are too few for batches of {batch_size} x {steps}: "
            "give --data a longer text, or a smaller --batch-size"
        )
    return numbers[: batch_size * length].reshape(batch_size, length)
