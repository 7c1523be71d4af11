"""A text of PennTreeBank's form as numbers: one sentence a line, words between spaces, `<eos>` at each line's end."""

from __future__ import annotations

from collections import Counter
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


class WordBatches:
    """Consecutive (words, next words) pairs of batch x steps: row b goes on in row b of the next pair.

    Each epoch reads the file again, all at once: a text is small, and the paper's batches come from all parts of it.
    """

    def __init__(self, path: Path, numbers: dict[str, int], batch_size: int, steps: int) -> None:
        self._path = path
        self._numbers = numbers
        self._shape = (batch_size, steps)
        self._streams: Words | None = None
        self._at = 0

    def next_batch(self) -> tuple[Words, Words] | None:
        """The next pair, None at the end of the epoch. Raises InputFault if the text is too short for one pair."""
        if self._streams is None:
            self._streams = self._read()
        _, steps = self._shape
        end = self._at + steps
        if end + 1 > self._streams.shape[1]:
            return None
        pair = self._streams[:, self._at : end], self._streams[:, self._at + 1 : end + 1]
        self._at = end
        return pair

    def restart(self) -> None:
        """Begin the next epoch with nothing read."""
        self._streams, self._at = None, 0

    def close(self) -> None:
        """Holds nothing open."""

    def _read(self) -> Words:
        unknown = self._numbers[UNKNOWN]
        words = read_words(self._path)
        numbers = np.fromiter((self._numbers.get(word, unknown) for word in words), np.int32, len(words))
        return streams(numbers, *self._shape)


def streams(numbers: Words, batch_size: int, steps: int) -> Words:
    """The text cut into `batch_size` rows of one length. Raises InputFault if it is shorter than a step and a word."""
    length = len(numbers) // batch_size
    if length < steps + 1:
        raise InputFault(
            f"{len(numbers)} words are too few for batches of {batch_size} x {steps}: "
            "give --data a longer text, or a smaller --batch-size"
        )
    return numbers[: batch_size * length].reshape(batch_size, length)
