"""What every training in PyTorch does of a step, whatever it trains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from .interface import FORWARD, FORWARD_BACKWARD, Compute


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
