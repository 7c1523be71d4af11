"""Training of language models: the LSTMs of Zaremba et al. 2014 (arXiv:1409.2329), and transformers, by words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from .backends.data_parallel import Rank
from .backends.interface import (
    FORWARD,
    TRAINING_MODES,
    Backend,
    Epochs,
    Input,
    LanguageModelForm,
    Settings,
    TransformerForm,
)
from .data_sets.data_set import NO_DATA, DataSet
from .faults import run_program
from .network_program import Job, run_network, same_batch
from .options import Options, add_computing_options, add_network_options, program_parser, read_options

VOCABULARY = 10_000
"""PennTreeBank's, and fixed, for the cost of a step depends on it."""
SEQUENCE = 128
"""Words that a transformer takes at once, as in 90 % of the steps that BERT was trained by (appendix A.2)."""
FORMS = {
    "small": LanguageModelForm(2, 200, 35, 0.0, 0.1, 5.0, VOCABULARY),
    "medium": LanguageModelForm(2, 650, 35, 0.5, 0.05, 5.0, VOCABULARY),
}
"""Section 4.1 of the paper, except that small runs 35 steps, as medium does, where the paper's has 20."""
TRANSFORMER_FORMS = {
    "bert_base": TransformerForm("bert_base", SEQUENCE, VOCABULARY, masked=True),
    "gpt2_small": TransformerForm("gpt2_small", SEQUENCE, VOCABULARY, masked=False),
}
BATCH_SIZES = {"small": 20, "medium": 20, "bert_base": 8, "gpt2_small": 8}
"""The paper's 20 of the LSTMs; of transformers as few as fit a small machine."""


def main() -> None:
    """Run the program."""
    run("language_training")


def run(program: str) -> None:
    """Run the program under one of its names."""
    parser = program_parser(program, "Train a language model by the words of a text.", "word", replays=False)
    parser.add_argument("--format", choices=("text",), default="text", help="what --data is")
    add_network_options(parser, BATCH_SIZES, "small", (*TRAINING_MODES, FORWARD))
    add_computing_options(parser)
    options = read_options(parser, sys.argv[1:])
    run_network(program, replace(options, computing=replace(options.computing, channels_last=None)), _job)


@contextmanager
def _job(options: Options, settings: Settings, backend: Backend | None) -> Iterator[Job]:
    assert backend is not None, "no language model has reads to be replayed"
    form = form_of(options.network)
    batches, text = _source(options, settings.rank, form)
    yield Job(
        "word",
        text,
        options.batch_size * form.steps,
        lambda: batches,
        lambda: backend.language_training(form, options.mode),
        {"sequence_length": form.steps},
    )


def form_of(network: str) -> LanguageModelForm | TransformerForm:
    """What a network's batches are made of, and more of what is sizer's own."""
    return FORMS.get(network) or TRANSFORMER_FORMS[network]


def _source(options: Options, rank: Rank, form: LanguageModelForm | TransformerForm) -> tuple[Input, DataSet]:
    """The batches and the data set; of several ranks each reads a stretch of the text of its own.

    The text is read once here for its vocabulary, before any cache state is made.
    """
    if options.data is None:
        import numpy as np

        random = np.random.default_rng(options.seed)
        words = random.integers(0, form.vocabulary, (options.batch_size, form.steps + 1), dtype=np.int32)
        return Epochs(partial(same_batch, (words[:, :-1], words[:, 1:]))), NO_DATA
    from .data_sets import text_words

    path: Path = text_words.find_text(options.data)
    words_read = text_words.read_words(path)
    numbers = text_words.vocabulary(words_read, form.vocabulary)
    size = options.batch_size
    rows = slice(rank.number * size, (rank.number + 1) * size)
    batches = partial(text_words.word_batches, path, numbers, size * rank.count, form.steps, rows)
    return Epochs(batches), DataSet("text", (path,), path.stat().st_size, len(words_read))


if __name__ == "__main__":
    raise SystemExit(run_program("language_training", main))
