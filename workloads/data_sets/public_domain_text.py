"""A text of PennTreeBank's form from works in the public domain: one sentence a line, 10,000 words, `<unk>` and `N`."""

from __future__ import annotations

import lzma
import re
from collections import Counter
from pathlib import Path

from ..faults import Fault

SOURCE = Path(__file__).parents[1] / "text" / "shakespeare.txt.xz"
VOCABULARY = 10_000
"""Distinct words, `<unk>` and `N` and PennTreeBank's implied `<eos>` among them."""
SHARES = {"train.txt": 0.84, "valid.txt": 0.08, "test.txt": 0.08}
"""Parts of the text; PennTreeBank's are 929,589, 73,760 and 82,430 words."""
STRETCH = 400
"""Sentences of one play that are cut into the parts."""
UNKNOWN, NUMBER = "<unk>", "N"

SENTENCE_END = re.compile(r"[.?!]+|\n\s*\n")
TOKEN = re.compile(r"[a-z]+(?=n't)|n't|'[a-z]+|[a-z]+|\d+")
"""Words, contractions cut as PennTreeBank does (do n't, he 's), and numbers; punctuation is dropped."""


def make_parts() -> dict[str, str]:
    """The text of each part by its file name."""
    try:
        source = lzma.decompress(SOURCE.read_bytes()).decode("ascii")
    except (OSError, lzma.LZMAError):
        raise Fault(f"the text {SOURCE} is missing or damaged: install the package again") from None
    sentences = [words for words in map(tokens, SENTENCE_END.split(source.lower())) if words]
    common = common_words(sentences)
    lines = [" ".join(word if word in common else UNKNOWN for word in words) for words in sentences]
    return split(lines)


def tokens(sentence: str) -> list[str]:
    """The words of a lower-case sentence."""
    return [NUMBER if word.isdigit() else word for word in TOKEN.findall(sentence)]


def common_words(sentences: list[list[str]]) -> frozenset[str]:
    """The words that stay; with `<unk>` and `<eos>` they are VOCABULARY. Equally common ones go by the alphabet."""
    counts = Counter(word for words in sentences for word in words)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return frozenset(ranked[: VOCABULARY - 2])


def split(lines: list[str]) -> dict[str, str]:
    """Parts by line, stretch by stretch, so that each has words of every play."""
    parts: dict[str, list[str]] = {name: [] for name in SHARES}
    for begin in range(0, len(lines), STRETCH):
        at = begin
        for name, share in SHARES.items():
            end = min(at + round(share * STRETCH), begin + STRETCH)
            parts[name] += lines[at:end]
            at = end
    return {name: "".join(f" {line} \n" for line in part) for name, part in parts.items()}
