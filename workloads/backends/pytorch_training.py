"""What every training in PyTorch does of a step, and that of the word-level LSTM language model of Zaremba et al. 2014
(arXiv:1409.2329)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from .interface import FORWARD, FORWARD_BACKWARD, Compute, LanguageModelForm


def placed(array: Any, device: Any) -> Any:
    """The tensor on the device.

    A copy to a GPU waits for all that was handed to it before, unless it is asked for from memory that is not paged.
    """
    if device.type != "cuda":
        return array.to(device)
    return array.pin_memory().to(device, non_blocking=True)


def steps(
    model: Any, optimizer: Any, loss_of: Callable[[Any], Any], scaler: Any, mode: str, clip_norm: float | None = None
) -> Compute:
    """A step of the optimizer on the loss of a batch, with gradients clipped by their norm; returns the loss.

    `forward_backward` ends with the gradients, `forward` with the loss. `scaler` scales the loss for fp16, whose small
    gradients would become 0, and does nothing else.
    """
    model.train(mode != FORWARD)

    def compute(batch: Any) -> Any:
        if mode == FORWARD:
            with torch.no_grad():
                return loss_of(batch)
        optimizer.zero_grad()
        loss = loss_of(batch)
        scaler.scale(loss).backward()
        if mode == FORWARD_BACKWARD:
            return loss
        if clip_norm is not None:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
        scaler.step(optimizer)
        scaler.update()
        return loss

    return compute


class LanguageModel(nn.Module):  # type: ignore[misc]
    """Embedding, LSTM and a projection onto the vocabulary; dropout on what goes in, between layers and comes out."""

    def __init__(self, form: LanguageModelForm) -> None:
        super().__init__()
        self.words_in = nn.Embedding(form.vocabulary, form.hidden)
        self.recurrent = nn.LSTM(form.hidden, form.hidden, form.layers, dropout=form.dropout)
        self.words_out = nn.Linear(form.hidden, form.vocabulary)
        self.dropout = nn.Dropout(form.dropout)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -form.initial_range, form.initial_range)

    def forward(self, words: Any, state: Any) -> tuple[Any, Any]:
        output, state = self.recurrent(self.dropout(self.words_in(words)), state)
        return self.words_out(self.dropout(output)), state


def training(
    model: Any, form: LanguageModelForm, batch_size: int, mixed: Callable[[], Any], scaler: Any, mode: str
) -> Compute:
    """A step of truncated back-propagation: state carried over, gradients clipped by their norm, SGD of rate 1.

    `mixed` is the context that the scores and the loss are computed in.
    """
    device = next(model.parameters()).device
    loss_of = nn.CrossEntropyLoss(reduction="sum")
    state = tuple(torch.zeros(form.layers, batch_size, form.hidden, device=device) for _ in range(2))

    def loss_of_batch(batch: tuple[Any, Any]) -> Any:
        nonlocal state
        words, following = (placed(torch.from_numpy(np.ascontiguousarray(part.T, np.int64)), device) for part in batch)
        with mixed():
            scores, carried = model(words, state)
            # The paper's loss: summed over the words of a sequence, averaged over the batch.
            loss = loss_of(scores.flatten(0, 1), following.flatten()) / batch_size
        state = tuple(part.detach() for part in carried)
        return loss

    return steps(model, torch.optim.SGD(model.parameters(), lr=1.0), loss_of_batch, scaler, mode, form.clip_norm)
