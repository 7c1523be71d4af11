"""Networks of the package `transformers`, made from their configurations alone: random weights, nothing downloaded."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..faults import Unavailable
from ..networks import CLASSES
from .interface import Compute, TransformerForm
from .pytorch_training import placed, steps

os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")
try:
    import transformers
except ImportError as error:
    if error.name != "transformers":
        raise
    raise Unavailable(
        "transformers, which makes this network, is not here: type `pip install 'transformers>=5,<6'`"
    ) from None

BUILDERS: dict[str, Callable[[], Any]] = {
    "vit_b16": lambda: transformers.ViTForImageClassification(transformers.ViTConfig(num_labels=CLASSES)),
    "convnext_tiny": lambda: transformers.ConvNextForImageClassification(
        transformers.ConvNextConfig(num_labels=CLASSES)
    ),
    "bert_base": lambda: transformers.BertForMaskedLM(transformers.BertConfig()),
    # The cache of keys is for writing a text word by word, and would be filled for nothing in each step.
    "gpt2_small": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False)),
}
"""The defaults of these configurations are the networks' own sizes: ViT-B/16 (Dosovitskiy et al. 2020,
arXiv:2010.11929), ConvNeXt-T (Liu et al. 2022, arXiv:2201.03545), BERT-base (Devlin et al. 2018, arXiv:1810.04805) and
GPT-2 (Radford et al. 2019)."""

MASKED = 0.15
REPLACED, RANDOM = 0.8, 0.1
"""Devlin et al. 2018, section 3.1: of the words 15 % are to be told; 80 % of them are masked, 10 % replaced by any
other, and 10 % left as they are."""
IGNORED = -100
"""What cross entropy leaves out by default."""
LEARNING_RATE, WEIGHT_DECAY, CLIP_NORM = 1e-4, 0.01, 1.0
"""Devlin et al. 2018, appendix A.2; the norm is that of BERT's own optimizer and of GPT-3."""


class Scores(nn.Module):  # type: ignore[misc]
    """A network of `transformers` that gives its scores: batch x classes of images, batch x words x vocabulary of
    words."""

    def __init__(self, network: str) -> None:
        super().__init__()
        self.inner = BUILDERS[network]()

    def forward(self, batch: Any) -> Any:
        return self.inner(batch).logits


def training(
    model: Any, form: TransformerForm, vocabulary: int, mixed: Callable[[], Any], scaler: Any, mode: str
) -> Compute:
    """A step of AdamW on the cross entropy, a mean over the words that are told, with gradients clipped by their norm.

    GPT-2 tells each next word, BERT those that are masked. `vocabulary` is the model's own. `mixed` is the context
    that the scores and the loss are computed in.
    """
    device = next(model.parameters()).device
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    loss_of = nn.CrossEntropyLoss(ignore_index=IGNORED)

    def loss_of_batch(batch: tuple[Any, Any]) -> Any:
        words, targets = (torch.as_tensor(part).long() for part in batch)
        if form.masked:
            words, targets = masked(words, vocabulary)
        with mixed():
            scores = model(placed(words, device))
            return loss_of(scores.flatten(0, 1), placed(targets, device).flatten())

    return steps(model, optimizer, loss_of_batch, scaler, mode, CLIP_NORM)


def masked(words: Any, vocabulary: int) -> tuple[Any, Any]:
    """Words with some of them masked, and what they were, IGNORED for those that are not to be told; both batch x
    words. The last word of the vocabulary is the mask: a text has fewer words than that."""
    chosen, kind = torch.rand(words.shape) < MASKED, torch.rand(words.shape)
    chosen[:, 0] |= ~chosen.any(1)
    targets = words.where(chosen, torch.tensor(IGNORED))
    others = torch.randint(vocabulary - 1, words.shape)
    changed = others.where(kind < REPLACED + RANDOM, words)
    changed = torch.tensor(vocabulary - 1).where(kind < REPLACED, changed)
    return changed.where(chosen, words), targets
