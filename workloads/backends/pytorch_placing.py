"""Arrays on their way to a device, without waiting for what it still does."""

from __future__ import annotations

from typing import Any


def placed(array: Any, device: Any) -> Any:
    """The tensor on the device.

    A copy to a GPU waits for all that was handed to it before, unless it is asked for from memory that is not paged.
    """
    if device.type != "cuda":
        return array.to(device)
    return array.pin_memory().to(device, non_blocking=True)
