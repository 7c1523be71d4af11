"""What the PyTorch backend sets for the whole process before it computes."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

PROGRAM = """
import torch
from workloads.backends import Settings, open_backend
before = bool((torch.tensor([1e-30]) * 1e-12).any())
backend = open_backend("pytorch", Settings("cpu", 2, 0, 8))
numbers = torch.full((1 << 20,), 1e-30)
print(before, bool((numbers * 1e-12).any()), backend.stated["denormals_flushed"], backend.stated["freed_memory_kept"])
"""


def test_numbers_too_small_to_matter_take_no_longer_than_others() -> None:
    """They become 0 in every thread, and the run says so."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "True", "True"]
